package mongotest_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A client logs in with an access key of AWS.
func ExampleAWS() {
	rs, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.AWS(mongotest.AWSIdentity{
		ARN: "arn:aws:iam::123456789012:user/ada", AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "a secret",
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rs.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetAuth(options.Credential{
		AuthMechanism: "MONGODB-AWS", Username: "AKIAIOSFODNN7EXAMPLE", Password: "a secret",
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Disconnect(context.Background())
	fmt.Println(client.Database("app").CreateCollection(context.Background(), "c"))
	// Output: <nil>
}

// A client logs in with an access token, which the test itself accepts.
func ExampleOIDC() {
	rs, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.OIDC(mongotest.IdentityProvider{
		Accept: func(token string) (mongotest.TokenOwner, error) {
			if token != "ada's token" {
				return mongotest.TokenOwner{}, errors.New("an unknown token")
			}
			return mongotest.TokenOwner{Name: "ada"}, nil
		},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rs.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetAuth(options.Credential{
		AuthMechanism: "MONGODB-OIDC",
		OIDCMachineCallback: func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
			return &options.OIDCCredential{AccessToken: "ada's token"}, nil
		},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Disconnect(context.Background())
	fmt.Println(client.Database("app").CreateCollection(context.Background(), "c"))
	// Output: <nil>
}
