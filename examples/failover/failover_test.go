// Package failover is a test of an application's code through a failover and a lost reply. It runs on a fake clock, so that it takes no time.
package failover

import (
	"context"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// pay is the code under test: it takes money from an account.
func pay(ctx context.Context, accounts *mongo.Collection, amount int) error {
	_, err := accounts.UpdateOne(ctx, bson.D{{Key: "_id", Value: "alice"}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "balance", Value: -amount}}}})
	return err
}

func TestAPaymentIsMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
		client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Disconnect(context.Background())
		accounts := client.Database("bank").Collection("accounts")
		if _, err := accounts.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "alice"}, {Key: "balance", Value: 100}}); err != nil {
			t.Fatal(err)
		}

		rs.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseReply: true})) // the server applies it, and the client hears nothing
		if err := pay(t.Context(), accounts, 10); err != nil {
			t.Fatal(err)
		}
		rs.Kill(rs.Primary())
		if err := pay(t.Context(), accounts, 20); err != nil {
			t.Fatal(err)
		}
		rs.CheckDocuments(t, "bank.accounts", bson.D{{Key: "_id", Value: "alice"}, {Key: "balance", Value: 70}})
	})
}
