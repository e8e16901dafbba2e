package couchbasetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestALateRequestIsExecutedAfterItsConnectionHasEnded(t *testing.T) {
	for _, test := range []struct {
		name     string
		features []memd.Feature
		before   func(*couchbasetest.Cluster)
		arrives  bool
	}{
		{"in order", nil, func(*couchbasetest.Cluster) {}, true},
		{"in any order", append([]memd.Feature{memd.FeatureUnorderedExecution}, modern...), func(*couchbasetest.Cluster) {}, true},
		{"the node's process has ended", nil, func(c *couchbasetest.Cluster) {
			c.Kill(0)
			c.Restart(0)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				arrival := make(chan struct{})
				c.Use(memd.OpSet, couchbasetest.FaultOnce(couchbasetest.Fault{Late: arrival}))
				cl := open(t, c, 0, test.features...)
				cl.send(doc(memd.OpSet, "k", "late"))
				if !cl.gone() {
					t.Error("the connection is open")
				}
				wait(time.Minute)
				open(t, c, 0).ok(doc(memd.OpSet, "k", "retried"))
				test.before(c)
				close(arrival)
				synctest.Wait()
				want := map[bool]string{true: "late", false: "retried"}[test.arrives]
				if d, ok := c.Document("default", "k"); !ok || string(d.Value) != want {
					t.Errorf("the document is %q, want %q", d.Value, want)
				}
				if e := c.Journal()[0]; e.RequestLost == test.arrives || e.Applied != test.arrives || !e.ReplyLost {
					t.Errorf("the journal says %v", &e)
				}
			})
		})
	}
}

func TestALateRequestDoesNotKeepAClusterFromClosing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.Use(memd.OpSet, couchbasetest.Always(couchbasetest.Fault{Late: make(chan struct{})}))
		cl := open(t, c, 0)
		cl.send(doc(memd.OpSet, "k", "1"))
		if !cl.gone() {
			t.Error("the connection is open")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The client of a test that goes on after WaitIdle meets no connection that is about to end.
func TestWaitIdleWaitsForTheEndOfAConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		executed := make(chan struct{})
		c.Use(memd.OpSet, couchbasetest.FaultOnce(couchbasetest.Fault{After: func() { <-executed }, LoseReply: true}))
		cl := open(t, c, 0)
		cl.send(doc(memd.OpSet, "k", "1"))
		synctest.Wait()
		close(executed)
		if err := c.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := cl.nc.Write([]byte{byte(memd.MagicRequest)}); err == nil {
			t.Error("the connection is open")
		}
	})
}
