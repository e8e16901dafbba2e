package couchbasetest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestAHardFailoverLosesWhatWasNotReplicated(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		first := cl.ok(doc(memd.OpSet, "k", "1"))
		wait(time.Second)
		cl.ok(doc(memd.OpSet, "k", "2"))
		owners := c.Owners("default", "k")
		c.Kill(owners[0])
		if !cl.gone() {
			t.Error("the connection to the killed node is open")
		}
		if err := c.Failover(owners[0]); err != nil {
			t.Fatal(err)
		}
		survivor := owner(t, c, "k")
		if seen := survivor.ok(doc(memd.OpGet, "k", "")); string(seen.Value) != "1" {
			t.Errorf("the document is %s, want the replicated 1", seen.Value)
		}
		token, _, err := memd.ParseMutationToken(first.Extras)
		if err != nil {
			t.Fatal(err)
		}
		observe := memd.Packet{Opcode: memd.OpObserveSeqno, VBucket: memd.VBucket([]byte("k"), vbuckets), Value: memd.AppendObserveKey(nil, 0, nil)}
		observe.Value = appendUint64(token.VBucketUUID)
		state, err := memd.ParseObservedSeqno(survivor.ok(observe).Value)
		if err != nil || !state.FailedOver || state.OldUUID != token.VBucketUUID || state.OldSeqno != token.Seqno || state.VBucketUUID == token.VBucketUUID {
			t.Errorf("OBSERVE_SEQNO says %+v, %v; want the end of the history %x at %d", state, err, token.VBucketUUID, token.Seqno)
		}
		journal := c.Journal()
		if len(journal) != 2 || journal[0].Lost || !journal[1].Lost || !journal[1].Applied {
			t.Errorf("the journal is %v, want the second write lost", journal)
		}
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(100*time.Millisecond))
}

func TestAVBucketWithoutACopyHasNoOwner(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		lost := c.Owners("default", "k")[0]
		if err := c.Failover(lost); err != nil {
			t.Fatal(err)
		}
		if owners := c.Owners("default", "k"); owners[0] != -1 {
			t.Errorf("the owners are %v, want none", owners)
		}
		open(t, c, 1-lost).status(doc(memd.OpGet, "k", ""), memd.StatusNotMyVBucket)
		if err := c.Rebalance(); err != nil {
			t.Fatal(err)
		}
		open(t, c, 1-lost).status(doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound)
		if err := c.Failover(1 - lost); err == nil {
			t.Error("the last node was failed over")
		}
	}, couchbasetest.Nodes(2), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default"}))
}

func TestAGracefulFailoverLosesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		cl.ok(doc(memd.OpSet, "k", "1"))
		node := c.Owners("default", "k")[0]
		if err := c.GracefulFailover(node); err != nil {
			t.Fatal(err)
		}
		if d, ok := c.Document("default", "k"); !ok || string(d.Value) != "1" {
			t.Errorf("the document is %q", d.Value)
		}
		if err := c.AddBack(node); err != nil {
			t.Fatal(err)
		}
		if err := c.Rebalance(); err != nil {
			t.Fatal(err)
		}
		if owners := c.Owners("default", "k"); owners[1] == -1 {
			t.Errorf("the owners are %v after the node came back, want a replica", owners)
		}
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(time.Hour))
}

func TestARestartedNodeHasWhatWasOnDisk(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		cl.ok(doc(memd.OpSet, "k", "1"))
		wait(time.Second)
		cl.ok(doc(memd.OpSet, "k", "2"))
		cl.ok(doc(memd.OpSet, "other", "2"))
		node := c.Owners("default", "k")[0]
		c.Kill(node)
		if nc, err := c.Dialer().DialContext(t.Context(), "tcp", c.Address(node, "kv")); err == nil {
			nc.Close()
			t.Error("the killed node accepts a connection")
		}
		c.Restart(node)
		if seen := owner(t, c, "k").ok(doc(memd.OpGet, "k", "")); string(seen.Value) != "1" {
			t.Errorf("the document is %s, want 1", seen.Value)
		}
		if !c.Journal()[1].Lost {
			t.Error("the journal does not say that the second write was lost")
		}
	}, couchbasetest.PersistenceLag(100*time.Millisecond))
}

func TestAPausedNodeAnswersWhenItGetsOn(t *testing.T) {
	for _, test := range []struct {
		name         string
		begin, cease func(*couchbasetest.Cluster)
	}{
		{"paused", func(c *couchbasetest.Cluster) { c.Pause(0) }, func(c *couchbasetest.Cluster) { c.Resume(0) }},
		{"in a black hole", func(c *couchbasetest.Cluster) { c.BlackHole(0) }, func(c *couchbasetest.Cluster) { c.Heal(0) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0)
				test.begin(c)
				cl.send(doc(memd.OpSet, "k", "1"))
				wait(time.Minute)
				if n := c.Applied(memd.OpSet, "k"); n != 0 {
					t.Errorf("the write was applied %d times meanwhile", n)
				}
				test.cease(c)
				if reply := cl.receive(); reply.Status != 0 {
					t.Errorf("the write was answered with %v", reply.Status)
				}
			})
		})
	}
}

func TestADialIntoABlackHoleWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.BlackHole(0)
		go func() {
			wait(time.Minute)
			c.Heal(0)
		}()
		start := time.Now()
		open(t, c, 0)
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the dial took %v, want a minute", took)
		}
	})
}

func TestReplicasLag(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		owner(t, c, "k").ok(doc(memd.OpSet, "k", "1"))
		replica := open(t, c, c.Owners("default", "k")[1])
		wait(99 * time.Millisecond)
		replica.status(doc(memd.OpGetReplica, "k", ""), memd.StatusKeyNotFound)
		wait(time.Millisecond)
		replica.ok(doc(memd.OpGetReplica, "k", ""))
		replica.status(doc(memd.OpGet, "k", ""), memd.StatusNotMyVBucket)
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(100*time.Millisecond))
}

func TestAnIsolatedNodeGetsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		owners := c.Owners("default", "k")
		c.Isolate(owners[1])
		owner(t, c, "k").ok(doc(memd.OpSet, "k", "1"))
		wait(time.Hour)
		if _, ok := c.DocumentAt(owners[1], "default", "k"); ok {
			t.Error("the isolated node has the document")
		}
		c.Heal(owners[1])
		if _, ok := c.DocumentAt(owners[1], "default", "k"); !ok {
			t.Error("the node lacks the document after it was healed")
		}
	}, couchbasetest.Nodes(2))
}

func TestTheJournalKnowsWhatADeadNodeAndAFailoverLost(t *testing.T) {
	for _, test := range []struct {
		name      string
		lag, disk time.Duration
		failover  bool
		lost      bool
	}{
		{"only the dead node's memory had it, and the node comes back", time.Hour, time.Hour, false, true},
		{"the dead node's disk had it, and the node comes back", time.Hour, 0, false, false},
		{"a replica that takes over has what the dead node had not on disk", 0, time.Hour, true, false},
		{"a replica that takes over lacks what the dead node had on disk", time.Hour, 0, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				owner(t, c, "k").ok(doc(memd.OpSet, "k", "1"))
				dead := c.Owners("default", "k")[0]
				c.Kill(dead)
				if test.failover {
					if err := c.Failover(dead); err != nil {
						t.Fatal(err)
					}
				} else {
					c.Restart(dead)
				}
				if lost := c.Journal()[0].Lost; lost != test.lost {
					t.Errorf("the journal says that the write is lost: %t, want %t", lost, test.lost)
				}
				if _, there := c.Document("default", "k"); there == test.lost {
					t.Errorf("the document is there: %t", there)
				}
			}, couchbasetest.Nodes(3), couchbasetest.ReplicationLag(test.lag), couchbasetest.PersistenceLag(test.disk))
		})
	}
}

func TestWhatCameToAReplicaOrADiskBeforeANodeChangedIsThere(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(c *couchbasetest.Cluster, owners []int)
	}{
		{"the active node is isolated and failed over", func(c *couchbasetest.Cluster, owners []int) { c.Isolate(owners[0]) }},
		{"the active node is killed and failed over", func(c *couchbasetest.Cluster, owners []int) { c.Kill(owners[0]) }},
		{"the active node is paused and failed over", func(c *couchbasetest.Cluster, owners []int) { c.Pause(owners[0]) }},
		{"the replica's node is restarted, and the active one failed over", func(c *couchbasetest.Cluster, owners []int) {
			c.Isolate(owners[1]) // so that what its disk lacks does not come again
			c.Kill(owners[1])
			c.Restart(owners[1])
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				owner(t, c, "k").ok(doc(memd.OpSet, "k", "1"))
				wait(time.Second) // nobody looks at the document meanwhile
				owners := c.Owners("default", "k")
				test.change(c, owners)
				if err := c.Failover(owners[0]); err != nil {
					t.Fatal(err)
				}
				if d, there := c.Document("default", "k"); !there {
					t.Errorf("the document is %+v, %t", d, there)
				}
			}, couchbasetest.Nodes(3), couchbasetest.ReplicationLag(100*time.Millisecond), couchbasetest.PersistenceLag(100*time.Millisecond))
		})
	}
}

func TestAFailoverEndsARebalance(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		owner(t, c, "k").ok(doc(memd.OpSet, "k", "1"))
		added, err := c.AddNode()
		if err != nil {
			t.Fatal(err)
		}
		rebalance, err := c.StartRebalance(0)
		if err != nil {
			t.Fatal(err)
		}
		rebalance.Move()
		if err := c.Failover(added); err != nil {
			t.Fatal(err)
		}
		if rebalance.Move() || c.State().Rebalancing {
			t.Error("the rebalance goes on")
		}
		if err := c.AddBack(added); err != nil {
			t.Fatal(err)
		}
		rebalance.Finish()
		if err := c.Rebalance(); err != nil {
			t.Fatal(err)
		}
		if d, ok := c.Document("default", "k"); !ok || string(d.Value) != "1" {
			t.Errorf("the document is %q, %t", d.Value, ok)
		}
	}, couchbasetest.Nodes(2))
}

// A request that a node has when it is killed is not executed: not after the crash, which a reader of a lost write would see, and not after the
// restart.
func TestAKilledNodeExecutesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		release := make(chan struct{})
		c.Use(memd.OpSet, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			<-release
			return next(r)
		})
		cl.send(doc(memd.OpSet, "k", "1"))
		wait(time.Millisecond)
		node := c.Owners("default", "k")[0]
		c.Kill(node)
		if !cl.gone() {
			t.Error("the connection to the killed node is open")
		}
		c.Restart(node)
		close(release)
		wait(time.Millisecond)
		if d, there := c.Document("default", "k"); there {
			t.Errorf("the document is %s, which a dead process wrote", d.Value)
		}
		if journal := c.Journal(); len(journal) != 1 || journal[0].Applied || !journal[0].RequestLost || !journal[0].ReplyLost {
			t.Errorf("the journal is %v, want one request that was lost", journal)
		}
	})
}

// The commit of a durable write need not be on disk when it is acknowledged. Nobody may read the document after a restart before it is committed again.
func TestAnAcknowledgedWriteIsReadAfterARestartOrNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		owners := c.Owners("default", "k")
		cl := owner(t, c, "k")
		cl.ok(doc(memd.OpSet, "k", "1"))
		cl.ok(durable(doc(memd.OpSet, "k", "2"), memd.DurabilityMajorityPersist, 0))
		c.Kill(owners[1])
		c.Kill(owners[0])
		c.Restart(owners[0])
		wait(time.Millisecond) // the other node cannot say what it has
		wantCommittedAgain(t, c, "2", func() { c.Restart(owners[1]) })
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(10*time.Millisecond), couchbasetest.PersistenceLag(100*time.Millisecond))
}
