package couchbasetest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestADurableWriteIsAnsweredWhenEnoughCopiesHaveIt(t *testing.T) {
	for _, test := range []struct {
		name  string
		level memd.DurabilityLevel
		want  time.Duration
	}{
		{"majority: one replica in memory", memd.DurabilityMajority, 100 * time.Millisecond},
		{"majority and persist to active: the active node's disk too", memd.DurabilityMajorityPersist, 300 * time.Millisecond},
		{"persist to majority: a replica's disk", memd.DurabilityPersistMajority, 300 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := owner(t, c, "k")
				start := time.Now()
				cl.ok(durable(doc(memd.OpSet, "k", "1"), test.level, 0))
				if took := time.Since(start); took != test.want {
					t.Errorf("the write took %v, want %v", took, test.want)
				}
			}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(100*time.Millisecond), couchbasetest.PersistenceLag(300*time.Millisecond))
		})
	}
}

func TestADurableWriteThatCannotSucceedIsRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		bucket couchbasetest.Bucket
		nodes  int
		level  memd.DurabilityLevel
		want   memd.Status
	}{
		{"too few nodes", couchbasetest.Bucket{Name: "default", Replicas: 1}, 1, 1, memd.StatusDurabilityImpossible},
		{"three replicas", couchbasetest.Bucket{Name: "default", Replicas: 3}, 4, 1, memd.StatusDurabilityImpossible},
		{"two nodes for two replicas are a majority", couchbasetest.Bucket{Name: "default", Replicas: 2}, 2, 1, memd.StatusSuccess},
		{"no replicas need none", couchbasetest.Bucket{Name: "default"}, 1, 3, memd.StatusSuccess},
		{"a disk of an ephemeral bucket", couchbasetest.Bucket{Name: "default", Ephemeral: true}, 1, 2, memd.StatusDurabilityInvalid},
		{"the memory of an ephemeral bucket", couchbasetest.Bucket{Name: "default", Ephemeral: true}, 1, 1, memd.StatusSuccess},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				owner(t, c, "k").status(durable(doc(memd.OpSet, "k", "1"), test.level, 0), test.want)
			}, couchbasetest.Nodes(test.nodes), couchbasetest.Buckets(test.bucket))
		})
	}
}

func TestWhileADurableWriteWaitsOthersAreRefusedAndReadersSeeTheOldValue(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		writer, other := owner(t, c, "k"), owner(t, c, "k")
		other.ok(doc(memd.OpSet, "k", "1"))
		writer.send(durable(doc(memd.OpSet, "k", "2"), memd.DurabilityMajority, 0))
		wait(50 * time.Millisecond)
		for _, op := range []memd.Opcode{memd.OpSet, memd.OpReplace, memd.OpDelete, memd.OpAppend, memd.OpIncrement, memd.OpGetLocked, memd.OpTouch, memd.OpAdd} {
			value := ""
			if op <= memd.OpReplace || op == memd.OpAppend {
				value = "3"
			}
			other.status(doc(op, "k", value), memd.StatusSyncWriteInProgress)
		}
		if seen := other.ok(doc(memd.OpGet, "k", "")); string(seen.Value) != "1" {
			t.Errorf("a reader sees %s before the write is durable", seen.Value)
		}
		if reply := writer.receive(); reply.Status != 0 {
			t.Fatalf("the durable write was answered with %v", reply.Status)
		}
		if seen := other.ok(doc(memd.OpGet, "k", "")); string(seen.Value) != "2" {
			t.Errorf("a reader sees %s after the write is durable", seen.Value)
		}
		other.ok(doc(memd.OpSet, "k", "3"))
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(100*time.Millisecond))
}

func TestADurableWriteThatGetsNoMajorityIsAmbiguousAndNotApplied(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		c.Kill(c.Owners("default", "k")[1])
		start := time.Now()
		cl.status(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, 2*time.Second), memd.StatusSyncWriteAmbiguous)
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the write was given up after %v, want its timeout of 2s", took)
		}
		cl.status(doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound)
		if n := c.Applied(memd.OpSet, "k"); n != 0 {
			t.Errorf("the journal says that the write was applied %d times", n)
		}
		if err := c.Failover(c.Owners("default", "k")[1]); err != nil {
			t.Fatal(err)
		}
		cl.status(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, 0), memd.StatusDurabilityImpossible)
	}, couchbasetest.Nodes(2))
}

// wantCommittedAgain checks that nobody reads or writes a document before its durable write is committed again, for which it makes enough nodes
// have it.
func wantCommittedAgain(t *testing.T, c *couchbasetest.Cluster, value string, enough func()) {
	t.Helper()
	reader := owner(t, c, "k")
	reader.status(doc(memd.OpGet, "k", ""), memd.StatusSyncWriteReCommit)
	reader.status(doc(memd.OpSet, "k", "other"), memd.StatusSyncWriteReCommit)
	enough()
	wait(time.Second)
	if seen := reader.ok(doc(memd.OpGet, "k", "")); string(seen.Value) != value {
		t.Errorf("a reader sees %s, want the durable write", seen.Value)
	}
}

func TestWhatAFailedNodeHadPreparedIsCommittedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		owners := c.Owners("default", "k")
		writer := owner(t, c, "k")
		c.Isolate(owners[2]) // so that only one replica has the write
		writer.send(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, 0))
		wait(100*time.Millisecond + time.Microsecond) // the replica has it, and does not know that it was committed
		if reply := writer.receive(); reply.Status != 0 {
			t.Fatalf("the durable write was answered with %v", reply.Status)
		}
		c.Kill(owners[0])
		if err := c.Failover(owners[0]); err != nil {
			t.Fatal(err)
		}
		if now := c.Owners("default", "k"); now[0] != owners[1] {
			t.Fatalf("the owners are %v, want the replica %d that has the write", now, owners[1])
		}
		wantCommittedAgain(t, c, "1", func() { c.Heal(owners[2]) })
	}, couchbasetest.Nodes(3), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}), couchbasetest.ReplicationLag(100*time.Millisecond))
}

// The replicas have the write in memory when its node fails, and not yet on disk, so nobody was told that it was applied.
func TestTheJournalHasADurableWriteThatIsCommittedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		failed := c.Owners("default", "k")[0]
		owner(t, c, "k").send(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityPersistMajority, 0))
		wait(200 * time.Millisecond)
		c.Kill(failed)
		if err := c.Failover(failed); err != nil {
			t.Fatal(err)
		}
		if n := c.Applied(memd.OpSet, "k"); n != 0 {
			t.Errorf("before it is committed again, the journal says that the write was applied %d times", n)
		}
		wait(time.Second)
		d, there := c.Document("default", "k")
		journal := c.Journal()
		if e := journal[0]; !there || len(journal) != 1 || !e.Applied || e.Lost || e.CAS != d.CAS {
			t.Errorf("the document is there: %t; the journal has %v", there, journal)
		}
	}, couchbasetest.Nodes(3), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}),
		couchbasetest.ReplicationLag(100*time.Millisecond), couchbasetest.PersistenceLag(300*time.Millisecond))
}

func TestADurableWriteIsGivenUpWhenAFailoverMakesItImpossible(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		cl.send(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, time.Minute))
		wait(time.Second)
		start := time.Now()
		if err := c.Failover(c.Owners("default", "k")[1]); err != nil {
			t.Fatal(err)
		}
		if reply := cl.receive(); reply.Status != memd.StatusSyncWriteAmbiguous || time.Since(start) > 0 {
			t.Errorf("the write was answered with %v after %v, want ambiguous at once", reply.Status, time.Since(start))
		}
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(time.Hour))
}

func TestTheJournalHasADurableWriteOnceThatIsCommittedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		writer := owner(t, c, "k")
		writer.send(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityPersistMajority, 0))
		wait(200 * time.Millisecond) // the replica has it, the disks do not
		if n := c.Applied(memd.OpSet, "k"); n != 0 {
			t.Errorf("the journal says that the write was applied %d times before it was committed", n)
		}
		if err := c.Failover(c.Owners("default", "k")[0]); err != nil {
			t.Fatal(err)
		}
		if err := c.Rebalance(); err != nil { // so that there are two copies again
			t.Fatal(err)
		}
		wait(2 * time.Second)
		if d, there := c.Document("default", "k"); !there || string(d.Value) != "1" {
			t.Fatalf("the document is %q, %t; want that it was committed again", d.Value, there)
		}
		if n := c.Applied(memd.OpSet, "k"); n != 1 {
			t.Errorf("the journal says that the write was applied %d times, want once", n)
		}
	}, couchbasetest.Nodes(3), couchbasetest.ReplicationLag(100*time.Millisecond), couchbasetest.PersistenceLag(time.Second))
}

func TestTheJournalOrdersTheChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl, other := owner(t, c, "k"), owner(t, c, "k")
		cl.send(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, 0))
		wait(50 * time.Millisecond)
		other.status(doc(memd.OpSet, "k", "2"), memd.StatusSyncWriteInProgress)
		for key := range 100 { // a document of the same vbucket is changed meanwhile
			if name := fmt.Sprint(key); c.Owners("default", name)[0] == c.Owners("default", "k")[0] {
				other.ok(doc(memd.OpSet, name, "1"))
				break
			}
		}
		cl.receive()
		other.ok(doc(memd.OpSet, "k", "3"))
		var got []int64
		for _, e := range c.Journal() {
			got = append(got, e.Order)
		}
		if want := []int64{2, 0, 1, 3}; !slices.Equal(got, want) {
			t.Errorf("the orders are %v, want %v", got, want)
		}
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(100*time.Millisecond))
}

func TestMiddlewareSeesWhichWritesAreDurable(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		var seen []bool
		c.Use(memd.OpSet, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			seen = append(seen, r.Durable)
			return next(r)
		})
		cl := owner(t, c, "k")
		cl.ok(doc(memd.OpSet, "k", "1"))
		cl.ok(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, time.Second))
		if len(seen) != 2 || seen[0] || !seen[1] {
			t.Errorf("the writes are durable: %v, want only the second", seen)
		}
	}, couchbasetest.Nodes(2))
}
