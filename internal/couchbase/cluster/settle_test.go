package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

// The connection on which the bucket was opened ends between the map, which the node pushes, and the answer to the request for the map. Its
// node must be connected again, also if another node is found first.
func TestTheConnectionOfTheBucketEndsBeforeItHasItsPlace(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(1)}, func(t *testing.T, r *rig) {
		a := r.nodes["a"]
		a.Change(func() {
			a.Maps = func(memd.Packet) (memd.Packet, bool) {
				a.Push(true)
				synctest.Wait()
				a.Refuse(true)
				a.Cut()
				return memd.Packet{}, false
			}
		})
		c := r.open()
		defer c.Close()
		synctest.Wait()
		b := c.Bucket("bucket")
		after(50 * ms)
		a.Change(func() { a.Maps = nil })
		a.Refuse(false)
		after(time.Minute)
		for i, e := range b.Snapshot().Endpoints {
			if e.Conn() == nil {
				t.Errorf("endpoint %d has no connection: %v", i, e.Err())
			}
		}
		if a, b := a.Conns(), r.nodes["b"].Conns(); a != 1 || b != 1 {
			t.Errorf("%d and %d connections", a, b)
		}
	})
}
