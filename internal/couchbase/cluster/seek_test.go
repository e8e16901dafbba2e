package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

const (
	aliveNode = "alive:11210"
	deadNode  = "dead:11210"
)

// seeking runs f with a cluster whose only seed refuses connections, and with a node that answers at aliveNode.
func seeking(t *testing.T, f func(t *testing.T, c *Cluster, alive *nodescript.Node, revive func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nodes := nodescript.New(memnet.Config{})
		alive, dead := nodes.Start(&nodescript.Node{Host: "alive"}), nodes.Start(&nodescript.Node{Host: "dead"})
		defer alive.Stop()
		defer dead.Stop()
		nodes.SetMap(nodescript.Map{Revision: 1, Hosts: []string{"alive", "dead"}})
		dead.Refuse(true)
		c, err := Open(Config{
			Seeds: []string{deadNode}, KV: kv.Config{Dial: nodes.DialContext, Agent: "test", Features: nodescript.Features},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f(t, c, alive, func() { dead.Refuse(false) })
	})
}

// A connection may end after it was made, before the round hears of it. Then the search goes on.
func TestAConnectionThatEndedBeforeItHadItsPlace(t *testing.T) {
	seeking(t, func(t *testing.T, c *Cluster, _ *nodescript.Node, revive func()) {
		l, err := c.first.connect(t.Context(), aliveNode)
		if err != nil {
			t.Fatal(err)
		}
		l.conn.Close(nil)
		if err := c.first.arrived(l); !errors.Is(err, kv.ErrClosed) {
			t.Errorf("its error is %v", err)
		}
		revive()
		<-time.After(time.Minute)
		synctest.Wait()
		if c.first.mu.Lock(); c.first.spare == nil || c.first.spare == l {
			t.Error("no other connection was looked for")
		}
		c.first.mu.Unlock()
	})
}

// Two nodes may answer at the same time. The connection for which the round has no use is closed.
func TestAConnectionThatComesAfterItsRoundIsClosed(t *testing.T) {
	seeking(t, func(t *testing.T, c *Cluster, alive *nodescript.Node, _ func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &round{bucket: c.first, left: []string{aliveNode}, attempts: make(chan attempt)}
		r.next(ctx)
		if synctest.Wait(); alive.Conns() != 1 {
			t.Fatalf("%d connections were made", alive.Conns())
		}
		cancel() // another one has arrived
		if synctest.Wait(); alive.Conns() != 0 {
			t.Error("the connection is still open")
		}
	})
}
