package mongo_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/telemetry"
)

// A tracer is told of each operation and of each message that is sent for it. Here the reply to the first one is lost.
func ExampleConfig_tracer() {
	ctx := context.Background()
	rs, err := mongotest.RunReplicaSet(3)
	check(err)
	defer rs.Close()
	client, err := mongo.Open(rs.URI(), mongo.Config{Tracer: &telemetry.Tracer{
		OperationEnded: func(_ context.Context, o *telemetry.Operation, err error) {
			fmt.Printf("%s %s.%s: %v\n", o.Name, o.Namespace, o.Collection, err)
		},
		AttemptEnded: func(_ context.Context, a *telemetry.Attempt, r *telemetry.Result) {
			if a.Operation != nil { // else the client does something for itself
				fmt.Printf("  attempt %d: answered: %t\n", a.Number, r.Reply != nil)
			}
		},
	}})
	check(err)
	defer client.Disconnect(ctx)

	rs.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	_, err = client.Database("shop").Collection("orders").InsertOne(ctx, bson.D{{Key: "total", Value: 12}})
	check(err)
	// Output:
	//   attempt 0: answered: false
	//   attempt 1: answered: true
	// insert shop.orders: <nil>
}
