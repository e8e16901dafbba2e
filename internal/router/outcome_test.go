package router_test

import (
	"errors"
	"testing"

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
