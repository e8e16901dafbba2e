package couchbasetest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// parsed reads a cluster map.
func parsed(t *testing.T, value []byte) *clustermap.Map {
	t.Helper()
	m, err := clustermap.Parse(value, "host")
	if err != nil {
		t.Fatalf("%v in %s", err, value)
	}
	return m
}

// foreign returns a request for a vbucket that a node does not own.
func foreign(t *testing.T, c *couchbasetest.Cluster, node int) memd.Packet {
	t.Helper()
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		if c.Owners("default", key)[0] != node {
			return doc(memd.OpGet, key, "")
		}
	}
	t.Fatal("the node owns all")
	return memd.Packet{}
}

func TestARefusalHasTheMapUnlessTheClientWasToldOfIt(t *testing.T) {
	dedupe := append([]memd.Feature{memd.FeatureDedupeMaps}, modern...)
	for _, test := range []struct {
		name     string
		features []memd.Feature
		bare     bool
		before   func(cl *client)
		want     bool
	}{
		{"without the feature, always", modern, false, func(cl *client) { cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}) }, true},
		{"with the feature, to one that was told nothing", dedupe, false, func(*client) {}, true},
		{"with the feature, to one that has asked", dedupe, false, func(cl *client) { cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}) }, false},
		{"with the feature, to one that was refused before", dedupe, false, func(cl *client) { cl.do(foreign(cl.t, cl.c, 0)) }, false},
		{"with the feature, after a change of another bucket", dedupe, false, func(cl *client) {
			cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig})
			if err := cl.c.CreateBucket(couchbasetest.Bucket{Name: "other"}); err != nil {
				cl.t.Fatal(err)
			}
		}, false},
		{"bare, never", modern, true, func(*client) {}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var opts []couchbasetest.Option
			if test.bare {
				opts = append(opts, couchbasetest.BareRefusals())
			}
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0, test.features...)
				test.before(cl)
				reply := cl.status(foreign(t, c, 0), memd.StatusNotMyVBucket)
				if has := len(reply.Value) > 0; has != test.want {
					t.Fatalf("the refusal has a map: %t, want %t", has, test.want)
				}
				if test.want && parsed(t, reply.Value).VBuckets() != vbuckets {
					t.Error("the map has not all vbuckets")
				}
			}, append(opts, couchbasetest.Nodes(2))...)
		})
	}
}

func TestAMapThatTheClientHasIsNotSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		have := parsed(t, cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value).Version
		ask := memd.Packet{Opcode: memd.OpGetClusterConfig, Extras: memd.AppendMapVersion(nil, have)}
		if again := cl.ok(ask); len(again.Value) > 0 {
			t.Errorf("the map was sent again: %s", again.Value)
		}
		if _, err := c.AddNode(); err != nil {
			t.Fatal(err)
		}
		newer := parsed(t, cl.ok(ask).Value)
		if !newer.Version.Newer(have) || len(newer.Nodes) != 3 || newer.Nodes[2].HasData {
			t.Errorf("the map has the version %v and %d nodes; want one newer than %v, and a third node without data", newer.Version, len(newer.Nodes), have)
		}
	}, couchbasetest.Nodes(2))
}

func TestWithoutABucketTheMapIsTheClusters(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		cl.ok(memd.Packet{Opcode: memd.OpSelectBucket, Key: []byte("@no bucket@")})
		m := parsed(t, cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value)
		if m.HasBucket() || len(m.Nodes) != 2 {
			t.Errorf("the map has the bucket %q and %d nodes; want none, and 2", m.Bucket, len(m.Nodes))
		}
		if address, ok := m.Nodes[1].Address(clustermap.DefaultNetwork, clustermap.Query, false); !ok || address != c.Address(1, "n1ql") {
			t.Errorf("the query service is at %q, want %q", address, c.Address(1, "n1ql"))
		}
	}, couchbasetest.Nodes(2))
}

func TestClientsAreToldOfANewerMap(t *testing.T) {
	for _, test := range []struct {
		name     string
		version  string
		features []memd.Feature
		extras   int // bytes
		full     bool
	}{
		{"in brief", "8.0", []memd.Feature{memd.FeatureDuplex, memd.FeatureBriefMapPush}, 16, false},
		{"in full", "8.0", []memd.Feature{memd.FeatureDuplex, memd.FeatureFullMapPush}, 16, true},
		{"in brief, if they asked for both", "8.0", []memd.Feature{memd.FeatureDuplex, memd.FeatureFullMapPush, memd.FeatureBriefMapPush}, 16, false},
		{"in full by an old server", "6.6", []memd.Feature{memd.FeatureDuplex, memd.FeatureFullMapPush, memd.FeatureBriefMapPush}, 4, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0, test.features...)
				cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig})
				if err := c.Rebalance(1); err != nil {
					t.Fatal(err)
				}
				push, err := cl.next()
				if err != nil || push.Magic != memd.MagicServerRequest || push.Opcode != memd.ServerOpClusterMap || string(push.Key) != "default" {
					t.Fatalf("the push is %+v, %v", push, err)
				}
				if full := len(push.Value) > 0; full != test.full || len(push.Extras) != test.extras {
					t.Errorf("the push has %d bytes of extras and a map: %t", len(push.Extras), full)
				}
			}, couchbasetest.Nodes(2), couchbasetest.Version(test.version))
		})
	}
}

func TestARebalanceMovesOneVBucketAfterTheOther(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		cl.ok(doc(memd.OpSet, "k", `"v"`))
		before := parsed(t, cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value)
		added, err := c.AddNode()
		if err != nil {
			t.Fatal(err)
		}
		newcomer := open(t, c, added)
		newcomer.status(doc(memd.OpGet, "k", ""), memd.StatusConfigOnly)
		r, err := c.StartRebalance()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.StartRebalance(); err == nil {
			t.Error("a second rebalance has begun")
		}
		moves := 0
		for r.Move() {
			moves++
			now := parsed(t, cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value)
			if err := now.Supersedes(before); err != nil {
				t.Fatalf("after move %d: %v", moves, err)
			}
			changed := 0
			for vb := range uint16(now.VBuckets()) {
				if now.Active(vb) != before.Active(vb) || now.Replica(vb, 0) != before.Replica(vb, 0) {
					changed++
				}
				if now.Forward(vb) == clustermap.None {
					t.Fatalf("vbucket %d has no forward owner", vb)
				}
			}
			if changed != 1 {
				t.Fatalf("%d vbuckets have moved with one move", changed)
			}
			before = now
			if moves == 20 {
				break
			}
		}
		r.Finish()
		after := parsed(t, cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value)
		if after.Forward(0) != clustermap.None {
			t.Error("the map after the rebalance still has forward owners")
		}
		if d, ok := c.Document("default", "k"); !ok || string(d.Value) != `"v"` {
			t.Errorf("the document is %s after the rebalance", d.Value)
		}
	}, couchbasetest.Nodes(2))
}

func TestMovesLoseNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		keys := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
		for _, k := range keys {
			owner(t, c, k).ok(doc(memd.OpSet, k, `1`))
		}
		for _, ejected := range []int{0, 1, 2} {
			if _, err := c.AddNode(); err != nil {
				t.Fatal(err)
			}
			if err := c.Rebalance(ejected); err != nil {
				t.Fatal(err)
			}
		}
		for _, k := range keys {
			owners := c.Owners("default", k)
			for _, n := range owners {
				if d, ok := c.DocumentAt(n, "default", k); !ok || string(d.Value) != "1" {
					t.Errorf("node %d has %q for %s", n, d.Value, k)
				}
			}
		}
	}, couchbasetest.Nodes(3))
}

func TestANodeCanKeepAnOldMap(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		behind, ahead := open(t, c, 0), open(t, c, 1)
		old := parsed(t, behind.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value).Version
		c.HoldMaps(0)
		c.PublishMap("default")
		if v := parsed(t, behind.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value).Version; v != old {
			t.Errorf("the node that holds its map has %v, want %v", v, old)
		}
		if v := parsed(t, ahead.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value).Version; !v.Newer(old) {
			t.Errorf("the other node has %v, want a version newer than %v", v, old)
		}
		if v := parsed(t, behind.status(foreign(t, c, 0), memd.StatusNotMyVBucket).Value).Version; v != old {
			t.Errorf("the refusal has the map %v, want %v", v, old)
		}
		c.ReleaseMaps(0)
		if push, err := behind.next(); err != nil || push.Magic != memd.MagicServerRequest {
			t.Errorf("the push is %+v, %v", push, err)
		}
	}, couchbasetest.Nodes(2))
}

func TestPushesCanBeSwitchedOff(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		c.SetPushes(false)
		cl := open(t, c, 0)
		cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig})
		c.PublishMap("default")
		wait(time.Second)
		cl.ok(memd.Packet{Opcode: memd.OpNoop})
		if len(cl.pushes) > 0 {
			t.Errorf("there were pushes: %v", cl.pushes)
		}
		c.SetPushes(true)
		if push, err := cl.next(); err != nil || push.Magic != memd.MagicServerRequest {
			t.Errorf("the push is %+v, %v", push, err)
		}
	})
}
