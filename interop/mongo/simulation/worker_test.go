package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
	"github.com/holdfast-db/holdfast/mongo"
)

const (
	database  = "sim"
	registers = "registers" // documents with a log of the tokens of their changes
	accounts  = "accounts"  // the same, for transactions
	lives     = "lives"     // documents that are inserted and deleted
)

// document is a document of registers and accounts. Each change adds 1 to N and its token to Log, and sets Last.
type document struct {
	ID   string `bson:"_id"`
	N    int
	Log  []string
	Last string
}

// worker makes its operations one after the other.
type worker struct {
	*cast
	id     int
	client *mongo.Client
	owned  []string // documents of lives that are certainly there, and that nobody else deletes
}

// kind is a kind of operation, and how many of 100 are of it.
type kind struct {
	name  string
	share int
	run   func(w *worker, ctx context.Context, o *operation)
}

// operation is one operation of a worker: it makes one call or several.
type operation struct {
	*rand.Rand
	id    string
	epoch int
	kind  string
	limit string
	calls int
}

func kinds() []kind {
	return []kind{
		{"update", 13, (*worker).update},
		{"findOneAndUpdate", 10, (*worker).findOneAndUpdate},
		{"swap", 7, (*worker).swap},
		{"updateMany", 3, (*worker).updateMany},
		{"bulkWrite", 5, (*worker).bulkWrite},
		{"mixedBulkWrite", 4, (*worker).mixedBulkWrite},
		{"clientBulkWrite", 4, (*worker).clientBulkWrite},
		{"insertOne", 8, (*worker).insertOne},
		{"insertMany", 5, (*worker).insertMany},
		{"deleteOne", 4, (*worker).deleteOne},
		{"findOneAndDelete", 3, (*worker).findOneAndDelete},
		{"deleteMany", 2, (*worker).deleteMany},
		{"readLinearizable", 8, (*worker).readLinearizable},
		{"readMajority", 4, (*worker).readMajority},
		{"readSecondary", 3, (*worker).readSecondary},
		{"scan", 3, (*worker).scan},
		{"causal", 2, (*worker).causal},
		{"snapshotSession", 2, (*worker).snapshotSession},
		{"transfer", 6, (*worker).transfer},
		{"singleAttempt", 2, (*worker).transactionByHand},
		{"readTransaction", 2, (*worker).readTransaction},
	}
}

// chosen returns the kind of an operation: a function of the seed, the worker and the number.
func chosen(r *rand.Rand) kind {
	n := r.IntN(100)
	for _, k := range kinds() {
		if n -= k.share; n < 0 {
			return k
		}
	}
	panic("the shares of the kinds are not 100")
}

// run makes all operations, and some more if planned faults have not happened yet. They are spread over the life, in rounds.
func (w *worker) run() {
	for number := 0; w.goesOn(number); number++ {
		r := w.Random(forOperation, uint64(w.id), uint64(number))
		k := chosen(r)
		if w.calm && number%2 == 0 {
			k = kind{name: "scan", run: (*worker).scan} // what a calm life is about
		}
		o := &operation{Rand: r, id: fmt.Sprintf("%d.%d", w.id, number), epoch: w.Epoch(number), kind: k.name}
		w.sleepUntil(w.Due(r, number))
		ctx, cancel := w.deadline(o, number)
		k.run(w, ctx, o)
		cancel()
	}
	w.sleepUntil(w.Duration)
}

// goesOn reports whether the worker makes this operation.
func (w *worker) goesOn(number int) bool {
	if w.TCP && time.Since(w.history.begin) > w.Duration {
		return false
	}
	return number < w.Operations || number < w.Most() && w.injector.outstanding()
}

func (w *worker) sleepUntil(due time.Duration) { simlife.Pause(due - time.Since(w.history.begin)) }

// deadline returns the context of an operation: without a deadline, with a long or a short one, or one that is cancelled.
// An operation that a server never answers needs one, unless its client has an AttemptTimeout.
func (w *worker) deadline(o *operation, number int) (context.Context, context.CancelFunc) {
	after := func(d time.Duration) (context.Context, context.CancelFunc) {
		o.limit = d.String()
		return context.WithTimeout(w.base, d)
	}
	switch n := o.IntN(100); {
	case n < 50 && !w.injector.silences(w.id, number):
		o.limit = "no deadline"
		return context.WithCancel(w.base)
	case n < 82:
		return after(w.Scaled(60 * time.Second))
	case n < 92:
		return after(w.Scaled(5 * time.Second))
	case n < 96:
		return after(time.Duration(1+o.IntN(300)) * time.Millisecond)
	default:
		o.limit = "cancelled"
		ctx, cancel := context.WithCancel(w.base)
		timer := time.AfterFunc(time.Duration(1+o.IntN(8))*time.Millisecond, cancel)
		return ctx, func() { timer.Stop(); cancel() }
	}
}

// collection returns a handle whose writes need a majority.
func (w *worker) collection(name string, opts ...*options.CollectionOptionsBuilder) *mongo.Collection {
	all := []options.Lister[options.CollectionOptions]{options.Collection().SetWriteConcern(writeconcern.Majority())}
	for _, o := range opts {
		all = append(all, o)
	}
	return w.client.Database(database).Collection(name, all...)
}

func reading(rc *readconcern.ReadConcern, rp *readpref.ReadPref) *options.CollectionOptionsBuilder {
	return options.Collection().SetReadConcern(rc).SetReadPreference(rp)
}

// start begins the next call of an operation.
func (w *worker) start(o *operation, c *call) *call {
	c.id = fmt.Sprintf("%s.%d", o.id, o.calls)
	o.calls++
	c.worker, c.limit = w.id, o.limit
	if c.kind == "" {
		c.kind = o.kind
	}
	for i := range c.writes {
		if c.writes[i].token == "" {
			c.writes[i].token = fmt.Sprintf("%s.%d", c.id, i)
		}
		if c.writes[i].effect == insert {
			c.writes[i].doc = c.writes[i].token
		}
	}
	w.history.start(c)
	return c
}

// some returns different hot documents of a collection.
func (w *worker) some(o *operation, count int) []string {
	var docs []string
	for _, i := range o.Perm(w.Hot())[:count] {
		docs = append(docs, fmt.Sprintf("d%d", o.epoch*w.Hot()+i))
	}
	return docs
}

func (w *worker) expect(c *call, what string, got, want int64) {
	if got != want {
		w.history.violated("result", "%s %s: %s is %d, want %d", c.id, c.kind, what, got, want)
	}
}

func byID(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

// change is the update that adds a token.
func change(token string) bson.D {
	return bson.D{
		{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}},
		{Key: "$push", Value: bson.D{{Key: "log", Value: token}}},
		{Key: "$set", Value: bson.D{{Key: "last", Value: token}}},
	}
}

// changed returns the document with one more token.
func (d document) changed(token string) document {
	d.N++
	d.Log = append(d.Log[:len(d.Log):len(d.Log)], token)
	d.Last = token
	return d
}

// newborn is a document of lives.
func newborn(token string) bson.D {
	return bson.D{{Key: "_id", Value: token}, {Key: "last", Value: token}}
}

func pushes(ns string, docs []string) []write {
	var list []write
	for _, doc := range docs {
		list = append(list, write{ns: ns, doc: doc, effect: push})
	}
	return list
}
