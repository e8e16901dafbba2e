package couchbasetest_test

import (
	"context"
	"io"
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
		c.Use(memd.OpSet, couchbasetest.FaultOnce(couchbasetest.Fault{After: func() { c.Pause(0) }, LoseReply: true, CutReplyAfter: 4}))
		cl := open(t, c, 0)
		cl.send(doc(memd.OpSet, "k", "1"))
		wait(time.Minute) // the process is stopped before it sends the four bytes
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := c.WaitIdle(ctx); err == nil {
			t.Error("WaitIdle has not waited for the end of the connection")
		}
		c.Resume(0)
		if err := c.WaitIdle(t.Context()); err != nil {
			t.Error(err)
		}
		if b, err := io.ReadAll(cl.nc); len(b) != 4 || err != nil {
			t.Errorf("%d bytes came before the end %v, want 4", len(b), err)
		}
	})
}
