package mongo

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A cursor releases its session and its connection however it ends: read to its end, closed early, or failed.
func TestAThousandCursorsLeaveNothing(t *testing.T) {
	for name, keep := range map[string]bool{"pinned to the server": false, "pinned to the connection": true} {
		t.Run(name, func(t *testing.T) {
			onDatabase(t, func(f *fiveDocuments) {
				ended, cancel := context.WithCancel(f.Context())
				cancel()
				leave := []func(c *Cursor){
					func(c *Cursor) { _ = c.All(f.Context(), new([]bson.D)) },
					func(c *Cursor) { _ = c.Close(f.Context()) },
					func(c *Cursor) { _ = c.Close(ended) },
					func(c *Cursor) {
						for c.Next(ended) {
						}
						_ = c.Close(ended)
						_ = c.Close(f.Context())
					},
					func(c *Cursor) { _ = c.All(f.Context(), new([]int)) },
				}
				round := func() int {
					const atOnce = 20
					var open []*Cursor
					for range atOnce {
						open = append(open, f.mustOpenPinned(keep))
					}
					for i, c := range open {
						leave[i%len(leave)](c)
						if c.pin.Server() != nil || c.ID() != 0 {
							t.Errorf("the %d-th way to leave a cursor leaves a pin or an id", i%len(leave))
						}
					}
					synctest.Wait() // until the goroutines that end have ended
					return runtime.NumGoroutine()
				}
				before := round()
				for range 49 {
					round()
				}
				const others = 5 // goroutines of the runtime, and of tests before
				if after := round(); after > before+others {
					t.Errorf("%d goroutines, %d after the first cursors", after, before)
				}
				if f.db.client.runner.Cluster().Busy() {
					t.Error("an operation counts as in flight")
				}
				lsids := map[string]bool{}
				for _, command := range f.sent {
					lsids[command.Lookup("lsid").String()] = true
				}
				if len(lsids) > 20 {
					t.Errorf("%d server sessions were used for 20 cursors at once", len(lsids))
				}
			})
		})
	}
}

func (f *fiveDocuments) mustOpenPinned(keep bool) *Cursor {
	f.Helper()
	f.keep = keep
	return f.mustOpen(nil)
}

// A limit ends the cursor without a getMore that asks for nothing.
func TestALimitThatIsReachedExactly(t *testing.T) {
	onDatabase(t, func(f *fiveDocuments) {
		coll := f.db.Collection("c")
		if _, err := coll.InsertMany(f.Context(), []any{bson.D{}, bson.D{}, bson.D{}, bson.D{}, bson.D{}}); err != nil {
			f.Fatal(err)
		}
		f.sent = nil
		c, err := coll.Find(f.Context(), bson.D{}, options.Find().SetLimit(4).SetBatchSize(2))
		if err != nil {
			f.Fatal(err)
		}
		var all []bson.D
		if err := c.All(f.Context(), &all); err != nil || len(all) != 4 || len(f.sent) != 2 {
			f.Errorf("%d documents (%v) in %d commands, want 4 in a find and a getMore", len(all), err, len(f.sent))
		}
	})
}
