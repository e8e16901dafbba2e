package couchbasetest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestOptionsAreChecked(t *testing.T) {
	for _, test := range []struct {
		option couchbasetest.Option
		want   string
	}{
		{couchbasetest.Nodes(0), "Nodes(0)"},
		{couchbasetest.VBuckets(0), "VBuckets(0)"},
		{couchbasetest.VBuckets(1 << 16), "VBuckets(65536)"},
		{couchbasetest.Credentials("", "x"), "Credentials"},
		{couchbasetest.Tokens("t"), "Tokens needs TLS"},
		{couchbasetest.Latency(time.Second, time.Second), "Latency needs InMemory"},
		{couchbasetest.ReplicationLag(-1), "ReplicationLag"},
		{couchbasetest.Version("4.6"), "the oldest is 5.0"},
		{couchbasetest.Version("new"), "it is not a version"},
		{couchbasetest.Buckets(couchbasetest.Bucket{}), "the name of the bucket"},
		{couchbasetest.Buckets(couchbasetest.Bucket{Name: "b", Replicas: 4}), "4 replicas"},
		{couchbasetest.Buckets(couchbasetest.Bucket{Name: "b"}, couchbasetest.Bucket{Name: "b"}), "there twice"},
		{couchbasetest.Buckets(couchbasetest.Bucket{Name: "b", Storage: "disk"}), `the Storage "disk"; it is couchstore, magma`},
		{couchbasetest.Buckets(couchbasetest.Bucket{Name: "b", Storage: "magma", Ephemeral: true}), "of an ephemeral bucket, empty"},
		{couchbasetest.Listen("", 0), "Listen: the host is empty"},
		{couchbasetest.Listen("127.0.0.1", -1), "Listen: the nodes would have the ports"},
		{couchbasetest.Listen("127.0.0.1", 65531), "the ports 65531 to 65536; the last port is 65535"},
		{nil, "one of the options is nil"},
	} {
		c, err := couchbasetest.Run(test.option)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("the error is %v, want one with %q", err, test.want)
		}
	}
}

func TestNodesAreInNetworksAndGroups(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		m := parsed(t, open(t, c, 0).ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value)
		if n := m.Network("node2.external.test", 11210); n != "external" {
			t.Errorf("the network of the other host is %q, want external", n)
		}
		address, ok := m.Nodes[2].Address("external", clustermap.KeyValue, false)
		if !ok || !strings.Contains(c.ExternalConnectionString(), address) {
			t.Errorf("the address is %q, want one of %s", address, c.ExternalConnectionString())
		}
		if nc, err := c.Dialer().DialContext(t.Context(), "tcp", address); err != nil {
			t.Error(err)
		} else {
			nc.Close()
		}
		if m.Nodes[0].Group != "a" || m.Nodes[1].Group != "b" || m.Nodes[2].Group != "a" {
			t.Errorf("the groups are %s, %s, %s; want a, b, a", m.Nodes[0].Group, m.Nodes[1].Group, m.Nodes[2].Group)
		}
	}, couchbasetest.Nodes(3), couchbasetest.External(), couchbasetest.ServerGroups("a", "b"))
}

func TestANodeCanBeBehindWithTheCollections(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.HoldManifests(0)
		uid, err := c.CreateCollection("default", "_default", couchbasetest.Collection{Name: "c", MaxExpiry: time.Minute})
		if err != nil || uid != 1 {
			t.Fatalf("the uid is %d, %v; want 1", uid, err)
		}
		cl := open(t, c, 0)
		ask := memd.Packet{Opcode: memd.OpCollectionID, Value: []byte("_default.c")}
		refused := cl.status(ask, memd.StatusUnknownCollection)
		if uid, ok := memd.ManifestUID(&refused); !ok || uid != 0 {
			t.Errorf("the refusal says the uid %d, want 0", uid)
		}
		c.ReleaseManifests(0)
		id, err := memd.ParseCollection(cl.ok(ask).Extras)
		if err != nil || id.ID != 8 || id.ManifestUID != 1 {
			t.Fatalf("the id is %+v, %v; want 8 of the manifest 1", id, err)
		}
		cl.ok(with(doc(memd.OpSet, "k", "1"), func(p *memd.Packet) { p.Key[0] = byte(id.ID) }))
		if d, ok := c.DocumentIn("default", "_default", "c", "k"); !ok || time.Until(d.Expiry) != time.Minute {
			t.Errorf("the document expires in %v, want the collection's minute", time.Until(d.Expiry))
		}
		if _, err := c.DropCollection("default", "_default", "c"); err != nil {
			t.Fatal(err)
		}
		gone := cl.status(with(doc(memd.OpGet, "k", ""), func(p *memd.Packet) { p.Key[0] = byte(id.ID) }), memd.StatusUnknownCollection)
		if uid, _ := memd.ManifestUID(&gone); uid != 2 {
			t.Errorf("the refusal says the uid %d, want 2", uid)
		}
		if _, err := c.CreateCollection("default", "_default", couchbasetest.Collection{Name: "c"}); err != nil {
			t.Fatal(err)
		}
		if id, _ := memd.ParseCollection(cl.ok(ask).Extras); id.ID != 9 {
			t.Errorf("the new collection has the id %d, want 9", id.ID)
		}
		var manifest struct {
			UID    string
			Scopes []struct{ Collections []struct{ Name, UID string } }
		}
		value := cl.ok(memd.Packet{Opcode: memd.OpCollectionsManifest}).Value
		if err := json.Unmarshal(value, &manifest); err != nil || manifest.UID != "3" || len(manifest.Scopes[0].Collections) != 2 {
			t.Errorf("the manifest is %s, %v", value, err)
		}
	})
}

func TestWaitIdleWaitsForTheEndOfRequests(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.Use(memd.OpSet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: time.Minute}))
		cl := open(t, c, 0)
		cl.send(doc(memd.OpSet, "k", "1"))
		wait(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.WaitIdle(ctx); err == nil {
			t.Error("WaitIdle has not waited for the request")
		}
		if err := c.WaitIdle(t.Context()); err != nil || c.Applied(memd.OpSet, "k") != 1 {
			t.Errorf("after WaitIdle (%v) the write was applied %d times, want once", err, c.Applied(memd.OpSet, "k"))
		}
	})
}

func TestClosingEndsEverything(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		cl.send(durable(doc(memd.OpSet, "k", "1"), memd.DurabilityMajority, 0))
		c.Pause(0)
		c.BlackHole(1)
		wait(time.Second)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(time.Hour))
}

func TestTheJournalKeepsTheNewestEntries(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		for range 200 {
			cl.ok(doc(memd.OpSet, "k", "1"))
		}
		if journal := c.Journal(); len(journal) != 3 || journal[2].Seq != 200 || journal[0].Seq != 198 {
			t.Errorf("the journal has %d entries, %v", len(journal), journal)
		}
	}, couchbasetest.JournalLimit(3))
}

func TestTheSeedDecidesTheHistories(t *testing.T) {
	uuid := func(seed uint64) (uuid uint64) {
		inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
			token, _, err := memd.ParseMutationToken(open(t, c, 0).ok(doc(memd.OpSet, "k", "1")).Extras)
			if err != nil {
				t.Fatal(err)
			}
			uuid = token.VBucketUUID
		}, couchbasetest.Seed(seed))
		return uuid
	}
	if a, b, other := uuid(1), uuid(1), uuid(2); a != b || a == other {
		t.Errorf("the uuids of the seeds 1, 1 and 2 are %x, %x and %x", a, b, other)
	}
}
