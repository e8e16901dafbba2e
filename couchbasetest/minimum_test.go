package couchbasetest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// setBucket changes settings of the bucket "default" by the management service.
func setBucket(t *testing.T, c *couchbasetest.Cluster, form string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.Address(0, "mgmt")+"/pools/default/buckets/default", strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.Username(), c.Password())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{Transport: &http.Transport{DialContext: c.Dialer().DialContext, DisableKeepAlives: true}}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Fatal(reply.Status)
	}
}

// The copies of a write take 100 ms to the replica and 300 ms to a disk.
func TestTheBucketsLeastDurabilityHoldsForEachWrite(t *testing.T) {
	const none, replica, disk = 0, 100 * time.Millisecond, 300 * time.Millisecond
	plain := func(op memd.Opcode, value string) memd.Packet { return doc(op, "k", value) }
	mutation := with(plain(memd.OpSubdocMultiMutation, ""), func(p *memd.Packet) {
		p.Value = memd.AppendMutation(nil, memd.Spec{Op: memd.OpSubdocDictSet, Path: []byte("a"), Value: []byte("1")})
	})
	for _, test := range []struct {
		name, least string
		request     memd.Packet
		want        time.Duration
	}{
		{"a plain write without a minimum", "none", plain(memd.OpSet, "1"), none},
		{"a plain write gets the minimum", "majority", plain(memd.OpSet, "1"), replica},
		{"a plain write, to disk", "persistToMajority", plain(memd.OpSet, "1"), disk},
		{"a plain write, to the active node's disk", "majorityAndPersistActive", plain(memd.OpSet, "1"), disk},
		{"a lower level is raised", "persistToMajority", durable(plain(memd.OpSet, "1"), memd.DurabilityMajority, 0), disk},
		{"a higher level stays", "majority", durable(plain(memd.OpSet, "1"), memd.DurabilityPersistMajority, 0), disk},
		{"a replacement", "majority", plain(memd.OpReplace, "1"), replica},
		{"a removal", "majority", plain(memd.OpDelete, ""), replica},
		{"a counter", "majority", plain(memd.OpIncrement, ""), replica},
		{"bytes at the end", "majority", plain(memd.OpAppend, "1"), replica},
		{"a change of a part", "majority", mutation, replica},
		{"a touch has no durability", "majority", plain(memd.OpTouch, ""), none},
		{"a read with a new expiry neither", "majority", plain(memd.OpGetAndTouch, ""), none},
		{"a read", "majority", plain(memd.OpGet, ""), none},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := owner(t, c, "k")
				value := "1"
				if test.request.Opcode == memd.OpSubdocMultiMutation {
					value = "{}"
				}
				cl.ok(plain(memd.OpSet, value))
				wait(time.Second)
				setBucket(t, c, "durabilityMinLevel="+test.least)
				start := time.Now()
				cl.ok(test.request)
				if took := time.Since(start); took != test.want {
					t.Errorf("it took %v, want %v", took, test.want)
				}
				if all := c.Journal(); test.request.Opcode != memd.OpGet && all[len(all)-1].Durable != (test.want != none) {
					t.Errorf("the journal has %v", &all[len(all)-1])
				}
			}, couchbasetest.Nodes(2), couchbasetest.ReplicationLag(replica), couchbasetest.PersistenceLag(disk))
		})
	}
}

func TestAPlainWriteIsRefusedIfItCannotBeAsDurableAsTheBucketDemands(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := owner(t, c, "k")
		cl.ok(doc(memd.OpSet, "k", "1"))
		setBucket(t, c, "durabilityMinLevel=majority")
		cl.status(doc(memd.OpSet, "k", "2"), memd.StatusDurabilityImpossible)
		cl.status(durable(doc(memd.OpSet, "k", "2"), 9, 0), memd.StatusDurabilityInvalid)
		setBucket(t, c, "durabilityMinLevel=none")
		cl.ok(doc(memd.OpSet, "k", "3"))
	}, couchbasetest.Nodes(1), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 1}))
}
