package mongotest_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
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
	long := make(map[string]string)
	for i, v := range values {
		if s, ok := v.(string); ok && len(s) > 1000 && strings.Count(s, s[:1]) == len(s) {
			mark := fmt.Sprintf("long text %d", i)
			values, long[mark] = slices.Clone(values), s
			values[i] = mark
		}
	}
	var doc bson.D
	if err := bson.UnmarshalExtJSON(fmt.Appendf(nil, text, values...), false, &doc); err != nil {
		panic(err)
	}
	if len(long) > 0 {
		return longTexts(doc, long).(bson.D)
	}
	return doc
}

// longTexts puts long texts in place of their marks: the parser reads a text of millions of equal letters one by one.
func longTexts(v any, long map[string]string) any {
	switch v := v.(type) {
	case string:
		return cmp.Or(long[v], v)
	case bson.D:
		for i := range v {
			v[i].Value = longTexts(v[i].Value, long)
		}
	case bson.A:
		for i := range v {
			v[i] = longTexts(v[i], long)
		}
	}
	return v
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
