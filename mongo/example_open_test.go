package mongo_test

import (
	"context"
	"fmt"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// Two limits that the official options lack: on the time of each attempt, and on the retries of all operations together.
func ExampleConfig() {
	ctx := context.Background()
	set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	check(err)
	defer set.Close()
	budget, err := retry.NewBudget(retry.BudgetOptions{Burst: 10, Ratio: 0.1})
	check(err)
	client, err := mongo.Open(set.URI(), mongo.Config{Budget: budget, AttemptTimeout: 10 * time.Second},
		options.Client().SetDialer(set.Dialer()))
	check(err)
	defer client.Disconnect(ctx)

	set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	_, err = client.Database("app").Collection("orders").InsertOne(ctx, bson.D{})
	fmt.Printf("%v, %.1f retries left\n", err, budget.Tokens())
	// Output: <nil>, 9.1 retries left
}

// records is a Resolver: it answers from a table instead of DNS.
type records map[string][]*net.SRV

func (r records) LookupSRV(_ context.Context, _, _, name string) (string, []*net.SRV, error) {
	return "", r[name], nil
}

func (r records) LookupTXT(context.Context, string) ([]string, error) {
	return []string{"replicaSet=rs0"}, nil
}

// The servers of a mongodb+srv connection string come from a resolver, for example of a network with names of its own.
func ExampleResolver() {
	ctx := context.Background()
	set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	check(err)
	defer set.Close()
	found := records{"rs0.mongotest": {{Target: "m0.rs0.mongotest.", Port: 27017}}}
	client, err := mongo.Open("mongodb+srv://rs0.mongotest/?tls=false", mongo.Config{Resolver: found},
		options.Client().SetDialer(set.Dialer()))
	check(err)
	defer client.Disconnect(ctx)

	fmt.Println(client.Ping(ctx, nil))
	// Output: <nil>
}
