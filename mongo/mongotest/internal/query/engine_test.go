package query_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/spectest"
)

// engine is a collection of a real server: run executes a command on the given documents and returns the answer as text,
// as that of memory does.
type engine struct{ c *mongo.Collection }

// reference returns a collection of the real server that HOLDFAST_MONGODB_URI names.
func reference(t *testing.T) engine {
	t.Helper()
	uri := spectest.Server(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	db := client.Database(fmt.Sprintf("query_%d_%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "_")))
	t.Cleanup(func() {
		_ = db.Drop(context.Background())
		_ = client.Disconnect(context.Background())
	})
	return engine{db.Collection("c")}
}

// run repeats once what failed without an answer: the server may have restarted.
func (e engine) run(t testing.TB, docs []bson.Raw, command bson.Raw) string {
	t.Helper()
	answer, err := e.attempt(t.Context(), docs, command)
	if err != nil {
		answer, err = e.attempt(t.Context(), docs, command)
	}
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return answer
}

func (e engine) attempt(ctx context.Context, docs []bson.Raw, command bson.Raw) (string, error) {
	if _, err := e.c.DeleteMany(ctx, bson.D{}); err != nil {
		return "", err
	}
	if len(docs) > 0 {
		if _, err := e.c.InsertMany(ctx, docs); err != nil {
			return "", err
		}
	}
	reply, err := e.c.Database().RunCommand(ctx, command).Raw()
	var refused mongo.CommandError
	var write mongo.WriteException
	switch {
	case errors.As(err, &refused) && refused.Code != 0:
		text := strings.Replace(refused.Message, e.c.Database().Name()+".c", "<namespace>", 1)
		return fmt.Sprintf("%d: %s", refused.Code, text), nil
	case errors.As(err, &write):
		return fmt.Sprintf("%d: %s", write.WriteErrors[0].Code, write.WriteErrors[0].Message), nil
	case err != nil:
		return "", err
	}
	return e.answer(ctx, reply)
}

func (e engine) answer(ctx context.Context, reply bson.Raw) (string, error) {
	if batch, err := reply.LookupErr("cursor", "firstBatch"); err == nil {
		return text(batch.Array()), nil
	}
	var after []bson.Raw
	cursor, err := e.c.Find(ctx, bson.D{})
	if err == nil {
		err = cursor.All(ctx, &after)
	}
	if err != nil {
		return "", err
	}
	if v, err := reply.LookupErr("value"); err == nil {
		return short(v.String()) + " => " + join(after), nil
	}
	id := ""
	if v, err := reply.LookupErr("upserted", "0", "_id"); err == nil {
		id = short(v.String())
	}
	return outcome(reply.Lookup("n").AsInt64(), reply.Lookup("nModified").AsInt64(), id, after), nil
}

// outcome is the answer to an update.
func outcome(n, modified int64, upserted string, after []bson.Raw) string {
	return fmt.Sprintf("%d %d %s => %s", n, modified, upserted, join(after))
}

func text(array bson.RawArray) string {
	values, _ := array.Values()
	docs := make([]bson.Raw, len(values))
	for i, v := range values {
		docs[i] = v.Document()
	}
	return join(docs)
}

func join(docs []bson.Raw) string {
	if len(docs) == 0 {
		return "nothing"
	}
	parts := make([]string, len(docs))
	for i, d := range docs {
		parts[i] = short(d.String())
	}
	return strings.Join(parts, " ")
}
