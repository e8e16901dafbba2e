package operation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// world is a runner with a deployment in memory, inside a synctest bubble, and the commands that it sent.
type world struct {
	*testing.T
	set    *mongotest.Deployment
	runner *Runner
	sent   []bson.Raw
}

// in runs f on a replica set of one member.
func in(t *testing.T, f func(w *world), opts ...mongotest.Option) {
	t.Helper()
	inside(t, func() (*mongotest.Deployment, error) {
		return mongotest.RunReplicaSet(1, append(opts, mongotest.InMemory())...)
	}, f)
}

// inside runs f on a deployment of any kind.
func inside(t *testing.T, run func() (*mongotest.Deployment, error), f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := run()
		if err != nil {
			t.Fatal(err)
		}
		seeds := []string{set.Addr(0)}
		if set.Mongos() > 0 {
			seeds = nil
			for i := range set.Mongos() {
				seeds = append(seeds, set.MongosAddr(i))
			}
		}
		c, err := cluster.New(cluster.Config{Dialer: set.Dialer(), Topology: topology.Config{Seeds: seeds}})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, set: set}
		w.runner, err = NewRunner(Config{
			Cluster: c, RetryReads: true, RetryWrites: true, MaxAdaptiveRetries: 2,
			Monitor: &event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
				w.sent = append(w.sent, e.Command)
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			w.runner.Close(t.Context())
			if err := set.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// command is a Command from documents. It keeps the server's reply.
type command struct {
	write     func(Attempt) bson.D
	sequences []wire.Sequence
	reply     bson.Raw
	cursor    CursorReply
}

func (c *command) AppendTo(b []byte, a Attempt) ([]byte, error) {
	doc, err := bson.Marshal(c.write(a))
	if err != nil {
		return nil, err
	}
	return append(b, doc[4:len(doc)-1]...), nil
}

func (c *command) AppendSequences(b []byte) []byte {
	for _, s := range c.sequences {
		b = wire.AppendSequence(b, string(s.Identifier), s.Documents)
	}
	return b
}

func (c *command) Accept(reply *Reply) error {
	c.reply = slices.Clone(reply.Body)
	if reply.Cursor != nil {
		c.cursor, _ = reply.ReadCursor()
	}
	if reply.WriteErrors != nil || reply.WriteConcernError != nil {
		return errors.New("the write failed: " + c.reply.String())
	}
	return nil
}

// constant is a command that is the same at every attempt.
func constant(pairs ...any) *command {
	return &command{write: func(Attempt) bson.D { return doc(pairs...) }}
}

func doc(pairs ...any) bson.D {
	d := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

// op returns an operation on the primary.
func op(kind Kind, c *command) *Operation {
	return &Operation{
		Name: c.write(Attempt{})[0].Key, Database: "test", Command: c, Kind: kind, Retryable: true,
		Selection: &topology.Selection{ReadPref: readpref.Primary()}, ReadConcern: new(ReadConcern),
		Idempotency: retry.NotIdempotent,
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// insert inserts a document with that _id, in a session if one is given.
func (w *world) insert(id int, s *Session) {
	w.Helper()
	o := op(Write, constant("insert", "c", "documents", bson.A{doc("_id", id)}))
	o.ReadConcern, o.Session = nil, s
	w.must(w.runner.Run(w.Context(), o))
}

// last returns a field of the last command that was sent.
func (w *world) last(path ...string) bson.RawValue {
	return w.sent[len(w.sent)-1].Lookup(path...)
}

// server selects a server for writes.
func (w *world) server() *cluster.Server {
	w.Helper()
	target, err := w.runner.Cluster().Select(w.Context(), &topology.Selection{Write: true})
	w.must(err)
	return target.Server
}
