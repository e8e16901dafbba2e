package mongotest_test

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A server with users lets nobody in without the right password.
func ExampleUser() {
	rs, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "ada", Password: "s3cret"}))
	if err != nil {
		panic(err)
	}
	defer rs.Close()
	for _, password := range []string{"s3cret", "guess"} {
		client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).
			SetAuth(options.Credential{Username: "ada", Password: password}))
		if err != nil {
			panic(err)
		}
		_, err = client.Database("test").Collection("c").InsertOne(ctx, bson.D{})
		fmt.Println(password, err == nil)
		_ = client.Disconnect(ctx)
	}

	// Output:
	// s3cret true
	// guess false
}
