package mongotest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// connect returns the official driver's client of a set; it is disconnected when the test ends.
func connect(t testing.TB, rs *mongotest.Deployment, more ...*options.ClientOptions) *mongo.Client {
	t.Helper()
	opts := []*options.ClientOptions{
		options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetServerSelectionTimeout(20 * time.Second).
			SetHeartbeatInterval(500 * time.Millisecond), // the driver may wait one when it disconnects
	}
	client, err := mongo.Connect(append(opts, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// both runs a test on TCP and in memory.
func both(t *testing.T, test func(t *testing.T, rs *mongotest.Deployment)) {
	t.Helper()
	t.Run("tcp", func(t *testing.T) { test(t, mongotest.RunReplicaSetT(t, 3)) })
	t.Run("memory", func(t *testing.T) { test(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())) })
}

func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// within returns a context that ends before the test's own time does: no machine is so busy that it decides.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// j returns a document written as extended JSON, with values put in where it has verbs.
func j(text string, values ...any) bson.D {
	var doc bson.D
	if err := bson.UnmarshalExtJSON(fmt.Appendf(nil, text, values...), false, &doc); err != nil {
		panic(err)
	}
	return doc
}

// raw returns a document written as extended JSON.
func raw(t testing.TB, text string) bson.Raw {
	t.Helper()
	b, err := bson.Marshal(j("%s", text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
