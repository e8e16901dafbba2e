package once_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// world is a standalone server with a collection, and a client of it.
type world struct {
	t      *testing.T
	server *mongotest.Deployment
	plain  *mongo.Collection
	*once.Collection
}

// inWorld runs a test in a bubble, on the fake clock.
func inWorld(t *testing.T, o once.Options, f func(w *world), set ...func(*options.ClientOptions)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := mongotest.RunStandalone(mongotest.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		settings := options.Client().ApplyURI(server.URI()).SetDialer(server.Dialer()).SetRetryReads(false)
		for _, s := range set {
			s(settings)
		}
		client, err := mongo.Connect(settings)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, server: server, plain: client.Database("app").Collection("counters")}
		if w.Collection, err = once.New(w.plain, o); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(client.Disconnect(context.Background()), server.Close()); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

func d(pairs ...any) bson.D {
	var doc bson.D
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return doc
}

var (
	one       = d("_id", 1)
	increment = d("$inc", d("n", 1))
	upsert    = options.UpdateOne().SetUpsert(true)
)

func (w *world) insert(document bson.D) {
	w.t.Helper()
	if _, err := w.plain.InsertOne(w.t.Context(), document); err != nil {
		w.t.Fatal(err)
	}
}

// counter is the document that the tests update.
type counter struct {
	N    int `bson:"n"`
	Once struct {
		Pending             []bson.Raw      `bson:"pending"`
		Finished, Abandoned []bson.ObjectID `bson:"-"`
	} `bson:"_once"`
}

func (w *world) counter() (c counter) {
	w.t.Helper()
	if err := w.plain.FindOne(w.t.Context(), one).Decode(&c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// expect checks the counter, and how many updates are pending.
func (w *world) expect(when string, n, pending int) {
	w.t.Helper()
	if c := w.counter(); c.N != n || len(c.Once.Pending) != pending {
		w.t.Errorf("%s: n is %d with %d pending, want %d with %d", when, c.N, len(c.Once.Pending), n, pending)
	}
}

// messages are the update commands that the server gets, the newest last. faults has a fault for each message by its number.
type messages struct {
	mu     sync.Mutex
	bodies []bson.Raw
}

func (w *world) record(faults map[int]mongotest.Fault) *messages {
	m := &messages{}
	w.server.Use("update", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.bodies = append(m.bodies, append(bson.Raw(nil), r.Body...))
		return faults[len(m.bodies)-1]
	}))
	return m
}

func (m *messages) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.bodies)
}

// statement returns the first statement of message i.
func (m *messages) statement(i int) bson.Raw {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bodies[i].Lookup("updates", "0").Document()
}

// repeat sends the first statement of message i again, as a network that delayed it would.
func (w *world) repeat(m *messages, i int) error {
	return w.plain.Database().RunCommand(w.t.Context(), d("update", w.plain.Name(), "updates", bson.A{m.statement(i)})).Err()
}

func (w *world) sweep(ctx context.Context) once.SweepResult {
	w.t.Helper()
	r, err := w.Sweep(ctx, once.SweepOptions{OlderThan: 1})
	if err != nil {
		w.t.Errorf("sweep: %v", err)
	}
	return r
}
