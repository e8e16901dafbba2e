package mongotest_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A client refuses a server whose certificate was revoked.
func ExampleOCSP() {
	rs, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{}))
	if err != nil {
		panic(err)
	}
	defer rs.Close()
	secure, err := rs.ClientTLS()
	if err != nil {
		panic(err)
	}
	for _, answer := range []mongotest.OCSPAnswer{mongotest.OCSPGood, mongotest.OCSPRevoked} {
		rs.OCSPResponder().Answer(answer)
		client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetTLSConfig(secure).
			SetHTTPClient(rs.OCSPResponder().HTTPClient()).SetServerSelectionTimeout(time.Second))
		if err != nil {
			panic(err)
		}
		fmt.Println(client.Ping(context.Background(), nil) == nil)
		_ = client.Disconnect(context.Background())
	}

	// Output:
	// true
	// false
}
