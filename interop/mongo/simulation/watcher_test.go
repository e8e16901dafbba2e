package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
	"github.com/holdfast-db/holdfast/mongo"
)

// event is an event of a change stream, as far as it is compared.
type event struct {
	at      bson.Timestamp
	change  string // insert, update, replace, delete
	ns, doc string
	token   string
}

func (e event) String() string {
	return fmt.Sprintf("%d/%d %s %s/%s %s", e.at.T, e.at.I, e.change, e.ns, e.doc, e.token)
}

// eventOf reads an event of the server.
func eventOf(raw bson.Raw) event {
	text := func(path ...string) string {
		s, _ := raw.Lookup(path...).StringValueOK()
		return s
	}
	e := event{change: text("operationType"), ns: text("ns", "coll"), doc: text("documentKey", "_id")}
	e.at.T, e.at.I, _ = raw.Lookup("clusterTime").TimestampOK()
	switch e.change {
	case "update":
		e.token = text("updateDescription", "updatedFields", "last")
	case "delete":
		e.token = e.doc
	default:
		e.token = text("fullDocument", "last")
	}
	return e
}

// The markers are documents between which all changes of the workers are.
const (
	beginMarker = "begin"
	endMarker   = "end"
)

// watcher follows a change stream until the end marker, and opens a new one after errors.
type watcher struct {
	settings
	name     string
	ns       string // the only collection that it sees; "" means all
	history  *history
	open     func(ctx context.Context, opts ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error)
	random   *rand.Rand
	events   []event
	opened   int
	failures []report
}

// watchers returns one watcher of a collection, one of the database and one of the deployment, each with another client.
func (c *cast) watchers() []*watcher {
	changes := mongo.Pipeline{{{Key: "$match", Value: bson.D{{Key: "ns.db", Value: database}}}}}
	list := []*watcher{
		{name: "collection", ns: registers, open: func(ctx context.Context, o ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error) {
			return c.clients[0].Database(database).Collection(registers).Watch(ctx, mongo.Pipeline{}, o...)
		}},
		{name: "database", open: func(ctx context.Context, o ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error) {
			return c.clients[1].Database(database).Watch(ctx, mongo.Pipeline{}, o...)
		}},
		{name: "deployment", open: func(ctx context.Context, o ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream, error) {
			return c.clients[2].Watch(ctx, changes, o...)
		}},
	}
	for i, w := range list {
		w.settings, w.history, w.random = c.settings, c.history, c.Random(forWatcher, uint64(i), 0)
	}
	return list
}

// watch follows the stream until the end marker.
func (w *watcher) watch(stream *mongo.ChangeStream) {
	for {
		ended := w.drain(stream)
		token := stream.ResumeToken()
		_ = stream.Close(context.Background())
		if ended {
			return
		}
		if stream = w.reopen(token); stream == nil {
			return
		}
	}
}

// drain reads events until the end marker, until the stream fails, or for a while. It reports whether the marker came.
func (w *watcher) drain(stream *mongo.ChangeStream) bool {
	for range 100 + w.random.IntN(400) {
		wait := w.Scaled(time.Duration(1+w.random.IntN(20)) * time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		came := w.next(ctx, stream)
		late := ctx.Err() != nil
		cancel()
		switch {
		case came:
			e := eventOf(stream.Current)
			w.events = append(w.events, e)
			if e.doc == endMarker {
				return true
			}
		case late:
		case stream.Err() != nil:
			w.failures = append(w.failures, reportOf(stream.Err()))
			return false
		}
	}
	return false
}

// next is Next, or sometimes TryNext until an event comes.
func (w *watcher) next(ctx context.Context, stream *mongo.ChangeStream) bool {
	if w.random.IntN(4) != 0 {
		return stream.Next(ctx)
	}
	for ctx.Err() == nil {
		if stream.TryNext(ctx) {
			return true
		}
		if stream.Err() != nil {
			return false
		}
	}
	return false
}

// reopen opens a new stream after a token.
func (w *watcher) reopen(token bson.Raw) *mongo.ChangeStream {
	resume := options.ChangeStream().SetResumeAfter(token)
	if w.random.IntN(2) == 0 {
		resume = options.ChangeStream().SetStartAfter(token)
	}
	if w.random.IntN(2) == 0 {
		resume.SetBatchSize(int32(1 + w.random.IntN(20)))
	}
	const mostFailures = 100
	for range mostFailures {
		simlife.Pause(w.Scaled(time.Second))
		w.opened++
		ctx, cancel := context.WithTimeout(context.Background(), w.Scaled(60*time.Second))
		stream, err := w.open(ctx, resume)
		cancel()
		if err == nil {
			return stream
		}
		w.failures = append(w.failures, reportOf(err))
	}
	w.history.violated("stream", "%s cannot be opened again: %s", w.name, w.failures[len(w.failures)-1].text)
	return nil
}
