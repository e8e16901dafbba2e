package router_test

import (
	"context"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

const address = "router:27017"

// world is a replica set, a router in front of it, and clients of the official driver, on the fake clock.
type world struct {
	*testing.T
	set     *mongotest.Deployment
	router  *router.Router
	network *memnet.Network
}

// inWorld runs f with a replica set of three, on a network without latency.
func inWorld(t *testing.T, f func(w *world), change ...func(*router.Config)) {
	t.Helper()
	inWorldOf(t, memnet.Config{}, nil, f, change...)
}

// inWorldOf runs f with a replica set of three.
func inWorldOf(t *testing.T, clients memnet.Config, set []mongotest.Option, f func(w *world), change ...func(*router.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, set: mongotest.RunReplicaSetT(t, 3, append(set, mongotest.InMemory())...), network: memnet.New(clients)}
		cfg := router.Config{Upstream: w.upstream()}
		for _, c := range change {
			c(&cfg)
		}
		w.router = w.start(address, cfg)
		defer w.router.Close()
		f(w)
	})
}

// upstream returns the options of a router's client.
func (w *world) upstream() *options.ClientOptions {
	return options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer())
}

// start starts a router at an address.
func (w *world) start(address string, cfg router.Config) *router.Router {
	w.Helper()
	r, err := router.New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	l, err := w.network.Listen(address)
	if err != nil {
		w.Fatal(err)
	}
	go r.Serve(l)
	return r
}

// connect returns a client of the router.
func (w *world) connect(o ...*options.ClientOptions) *mongo.Client {
	w.Helper()
	all := append([]*options.ClientOptions{options.Client().ApplyURI("mongodb://" + address).SetDialer(w.network)}, o...)
	c, err := mongo.Connect(all...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

func (w *world) collection(o ...*options.ClientOptions) *mongo.Collection {
	return w.connect(o...).Database("app").Collection("c")
}

func d(name string, value any) bson.D { return bson.D{{Key: name, Value: value}} }

func TestADriverWorksThroughTheRouter(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.collection()
		for i := range 250 {
			if _, err := c.InsertOne(w.Context(), d("_id", i)); err != nil {
				w.Fatal(err)
			}
		}
		if _, err := c.UpdateMany(w.Context(), bson.D{}, d("$set", d("a", 1))); err != nil {
			w.Fatal(err)
		}
		found, err := c.Find(w.Context(), d("a", 1), options.Find().SetBatchSize(20))
		if err != nil {
			w.Fatal(err)
		}
		var all []bson.D
		if err := found.All(w.Context(), &all); err != nil || len(all) != 250 {
			w.Errorf("%d documents, %v", len(all), err)
		}
		var hello struct {
			Msg            string
			MaxWireVersion int
		}
		if err := c.Database().RunCommand(w.Context(), d("hello", 1)).Decode(&hello); err != nil || hello.Msg != "isdbgrid" || hello.MaxWireVersion == 0 {
			w.Errorf("hello: %+v, %v", hello, err)
		}
	})
}

// A write of a client that never retries meets the death of the primary after it was applied: it is done once, and the client knows.
func TestAClientThatNeverRetriesWritesOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.collection(options.Client().SetRetryWrites(false).SetRetryReads(false))
		if _, err := c.InsertOne(w.Context(), bson.D{{Key: "_id", Value: "c"}, {Key: "n", Value: 0}}); err != nil {
			w.Fatal(err)
		}
		w.set.Use("update", mongotest.FaultOnce(mongotest.Fault{After: func() { w.set.Kill(w.set.Primary()) }}))
		if _, err := c.UpdateOne(w.Context(), d("_id", "c"), d("$inc", d("n", 1))); err != nil {
			w.Fatal(err)
		}
		w.set.CheckDocuments(w, "app.c", bson.D{{Key: "_id", Value: "c"}, {Key: "n", Value: 1}})
	})
}
