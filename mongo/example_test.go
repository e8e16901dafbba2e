package mongo_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The reply to an update is lost. The client retries, and the counter is incremented once, because the server
// recognises the retried write by its transaction number.
func Example() {
	ctx := context.Background()
	rs, err := mongotest.RunReplicaSet(3)
	check(err)
	defer rs.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()))
	check(err)
	defer client.Disconnect(ctx)
	counters := client.Database("app").Collection("counters")

	lost := false
	rs.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseReply: true, After: func() { lost = true }}))
	day := bson.D{{Key: "_id", Value: "2016-06-28"}}
	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	_, err = counters.UpdateOne(ctx, day, increment, options.UpdateOne().SetUpsert(true))
	check(err)
	var counter struct{ N int }
	check(counters.FindOne(ctx, day).Decode(&counter))
	fmt.Println("reply lost:", lost, "counter:", counter.N)
	// Output: reply lost: true counter: 1
}

// The error contains the attempts, and reports whether the operation may have been applied.
func Example_history() {
	ctx := context.Background()
	rs, err := mongotest.RunReplicaSet(3)
	check(err)
	defer rs.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetRetryWrites(true))
	check(err)
	defer client.Disconnect(ctx)

	rs.Use("update", mongotest.Always(mongotest.Fault{LoseReply: true})) // the reply to the retry too
	_, err = client.Database("app").Collection("counters").UpdateOne(ctx,
		bson.D{}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
	var history *retry.Error
	if errors.As(err, &history) {
		for _, a := range history.Attempts {
			fmt.Println(a.Stage, a.Reason, "then:", a.StopReason)
		}
		fmt.Println("certain:", history.OutcomeKnown())
	}
	// Output:
	// in flight NETWORK_ERROR then: retried
	// in flight NETWORK_ERROR then: attempts used up
	// certain: false
}
