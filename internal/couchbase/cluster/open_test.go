package cluster_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

func TestTheFirstBucketUsesTheConnectionThatIsThere(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		synctest.Wait()
		if s := c.Snapshot(); s == nil || s.Map.HasBucket() {
			t.Fatalf("the map of the cluster is %+v", s)
		}
		b := c.Bucket("bucket")
		synctest.Wait()
		if s := b.Snapshot(); s == nil || s.Endpoints[0].Conn() == nil {
			t.Fatalf("the bucket's snapshot is %+v", s)
		}
		if c.Bucket("bucket") != b {
			t.Error("a second call gives another bucket")
		}
		if dials := r.Dials(); !slices.Equal(dials, []string{"a:11210"}) {
			t.Errorf("dialled %q", dials)
		}
	})
}

func TestABucketThatIsOpenedAtOnceNeedsOneConnection(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		synctest.Wait()
		if b.Snapshot() == nil {
			t.Fatal(b.Err())
		}
		if dials, log := r.Dials(), r.Fetches(); len(dials) != 1 || len(log) != 0 {
			t.Errorf("dialled %q, and asked for maps %v", dials, log)
		}
	})
}

func TestCloseClosesAConnectionWithoutABucket(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a")}, func(t *testing.T, r *rig) {
		c := r.open()
		synctest.Wait()
		if n := r.nodes["a"].Conns(); n != 1 {
			t.Fatalf("%d connections", n)
		}
		c.Close()
		synctest.Wait()
		if n := r.nodes["a"].Conns(); n != 0 {
			t.Errorf("%d connections after Close", n)
		}
	})
}
