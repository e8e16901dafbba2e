package couchbasetest_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// listening runs a cluster on the first ports that nobody uses.
func listening(t *testing.T, host string, opts ...couchbasetest.Option) (*couchbasetest.Cluster, int) {
	t.Helper()
	for port := 10000; port < 20000; port += 100 {
		c, err := couchbasetest.Run(append(opts, couchbasetest.Listen(host, port))...)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			return c, port
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
	t.Fatal("there are no free ports")
	return nil, 0
}

func TestListenGivesEachNodeItsPortsInARow(t *testing.T) {
	c, port := listening(t, "127.0.0.1", couchbasetest.Nodes(2), couchbasetest.TLS(), couchbasetest.VBuckets(4))
	added, err := c.AddNode()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"kv", "mgmt", "capi", "n1ql", "fts", "cbas", "kvSSL", "mgmtSSL", "capiSSL", "n1qlSSL", "ftsSSL", "cbasSSL"}
	for node := range added + 1 {
		for i, name := range names {
			if got, want := c.Address(node, name), fmt.Sprintf("127.0.0.1:%d", port+node*len(names)+i); got != want {
				t.Errorf("%s of node %d is at %s, want %s", name, node, got, want)
			}
		}
	}
	if c, err := couchbasetest.Run(couchbasetest.Listen("127.0.0.1", port)); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("the error of a port in use is %v", err)
		if err == nil {
			c.Close()
		}
	}
}

func TestAHostThatMeansAllAddressesIsTheLoopbackInterfaceInMaps(t *testing.T) {
	for host, want := range map[string]string{"0.0.0.0": "couchbase://127.0.0.1:", "localhost": "couchbase://localhost:"} {
		c, err := couchbasetest.Run(couchbasetest.Listen(host, 0), couchbasetest.VBuckets(4))
		if err != nil {
			t.Fatal(err)
		}
		if s := c.ConnectionString(); !strings.HasPrefix(s, want) {
			t.Errorf("%s: the connection string is %s, want %s...", host, s, want)
		}
		if nc, err := net.Dial("tcp", c.Address(0, "kv")); err != nil {
			t.Error(err)
		} else {
			nc.Close()
		}
		c.Close()
	}
}

func TestTheStateSaysWhatIsWrongWithANode(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.Pause(0)
		c.BlackHole(1)
		c.Isolate(2)
		s := c.State()
		if len(s.Nodes) != 3 || !s.Nodes[0].Paused || !s.Nodes[1].BlackHoled || !s.Nodes[2].Isolated || !s.Nodes[0].Up || !s.Nodes[0].Member {
			t.Errorf("the state is %+v", s)
		}
		if s.Nodes[1].Addresses["kv"] != c.Address(1, "kv") || len(s.Buckets) != 1 || s.Buckets[0].Name != "default" {
			t.Errorf("the state is %+v", s)
		}
		c.Resume(0)
		c.Heal(1)
		c.Heal(2)
		c.Kill(2)
		if err := c.Failover(2); err != nil {
			t.Fatal(err)
		}
		if s = c.State(); s.Nodes[2].Member || !s.Nodes[2].FailedOver || s.Nodes[2].Up || s.Rebalancing {
			t.Errorf("the state after a failover is %+v", s)
		}
		if _, err := c.StartRebalance(); err != nil || !c.State().Rebalancing {
			t.Errorf("no rebalance is in the state: %v", err)
		}
	}, couchbasetest.Nodes(3))
}

func TestForgetEmptiesTheJournalAndTheCounters(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		client := owner(t, c, "k")
		client.ok(doc(memd.OpSet, "k", "1"))
		c.Forget()
		if len(c.Journal()) != 0 || c.Counters().Requests[memd.OpSet] != 0 {
			t.Errorf("the journal has %v, the counters %v", c.Journal(), c.Counters())
		}
		client.ok(doc(memd.OpSet, "k", "2"))
		if list := c.Journal(); len(list) != 1 || list[0].Seq != 2 || c.Counters().Requests[memd.OpSet] != 1 {
			t.Errorf("the journal has %v, the counters %v", list, c.Counters())
		}
	})
}
