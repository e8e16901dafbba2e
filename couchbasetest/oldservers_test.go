package couchbasetest_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestOnlyServersFrom65OnHaveAMapForConnectionsWithoutABucket(t *testing.T) {
	for version, want := range map[string]memd.Status{"6.0": memd.StatusNoBucket, "6.5": memd.StatusSuccess} {
		t.Run(version, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := dial(t, c, 0)
				cl.ok(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00" + c.Username() + "\x00" + c.Password())})
				cl.status(memd.Packet{Opcode: memd.OpGetClusterConfig}, want)
				cl.ok(memd.Packet{Opcode: memd.OpSelectBucket, Key: []byte("default")})
				cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig})
			}, couchbasetest.Version(version))
		})
	}
}

func TestServersFrom60OnHaveAnalytics(t *testing.T) {
	for version, want := range map[string]bool{"5.5": false, "6.0": true} {
		c := couchbasetest.RunT(t, couchbasetest.InMemory(), couchbasetest.VBuckets(1), couchbasetest.Version(version))
		if has := c.Address(0, "cbas") != ""; has != want {
			t.Errorf("%s: a node has analytics: %v, want %v", version, has, want)
		}
	}
}
