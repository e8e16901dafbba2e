package router_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A write was sent, and all members died before they replied: perhaps it is applied. Whatever the router then waits for in vain, its error must
// not say that nothing was done.
func TestAWriteThatMayBeAppliedIsNotCalledUndone(t *testing.T) {
	for name, change := range map[string]func(*router.Config){
		"the window ends":      func(*router.Config) {},
		"too many others wait": func(c *router.Config) { c.WaitingBytes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				c := w.collection(options.Client().SetRetryWrites(false))
				w.pass(time.Second) // the router knows the primary: this insert must not wait
				if _, err := c.InsertOne(w.Context(), d("_id", "c")); err != nil {
					w.Fatal(err)
				}
				w.set.Use("update", mongotest.FaultOnce(mongotest.Fault{After: func() {
					for i := range w.set.Members() {
						w.set.Kill(i)
					}
				}}))
				_, err := c.UpdateOne(w.Context(), d("_id", "c"), d("$inc", d("n", 1)))
				var e mongo.CommandError
				if !errors.As(err, &e) || e.Code != 6 || len(e.Labels) > 0 {
					w.Errorf("%v, with the labels %q; want the code 6 and none", err, e.Labels)
				}
			}, change)
		})
	}
}

// A read changes nothing, and neither does a write that was not sent.
func TestWhatWasNotAppliedWaitsTheWindowOut(t *testing.T) {
	inWorld(t, func(w *world) {
		c := w.collection(options.Client().SetRetryWrites(false).SetRetryReads(false))
		w.set.Use("find", mongotest.FaultOnce(mongotest.Fault{After: func() {
			for i := range w.set.Members() {
				w.set.Kill(i)
			}
		}}))
		var e mongo.CommandError
		if err := c.FindOne(w.Context(), bson.D{}).Err(); !errors.As(err, &e) || e.Code != 133 {
			w.Errorf("%v, want the code 133", err)
		}
		if _, err := c.UpdateOne(w.Context(), bson.D{}, d("$inc", d("n", 1))); !errors.As(err, &e) || e.Code != 133 {
			w.Errorf("%v, want the code 133", err)
		}
	})
}

// The reply to a write was lost, and the member refuses to look at the next attempts. What it says of those is not the outcome of the write, but
// if it is an answer to the commit of a transaction that is not there.
func TestARefusalAfterALostReplyIsNotTheOutcome(t *testing.T) {
	overload := &mongotest.CommandError{Code: 462, Labels: []string{"SystemOverloadedError", "RetryableError"}}
	update := bson.D{{Key: "update", Value: "c"}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: d("$inc", d("n", 1))}}}}}
	commit := bson.D{
		{Key: "commitTransaction", Value: 1},
		{Key: "lsid", Value: d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)})},
		{Key: "txnNumber", Value: int64(1)},
		{Key: "autocommit", Value: false},
	}
	for _, c := range []struct {
		name    string
		command bson.D
		refusal *mongotest.CommandError
		lost    bool // the reply to the first attempt
		code    int32
	}{
		{"too much to do", update, overload, true, 6},
		{"no permission", update, &mongotest.CommandError{Code: 13}, true, 6},
		{"the limit of time, which settles nothing", update, &mongotest.CommandError{Code: 50}, true, 50},
		{"nothing was lost", update, overload, false, 462},
		{"a commit", commit, overload, true, 6},
		{"a commit of a transaction that is not there", commit, &mongotest.CommandError{Code: 251}, true, 251},
	} {
		inWorld(t, func(w *world) {
			if c.lost {
				w.set.Use(c.command[0].Key, mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
			}
			w.set.Use(c.command[0].Key, mongotest.Always(mongotest.Fault{Error: c.refusal}))
			reply := w.dial().run(c.command)
			if code, _ := reply.Lookup("code").AsInt64OK(); int32(code) != c.code {
				w.Errorf("%s: %v, want the code %d", c.name, reply, c.code)
			}
		})
	}
}
