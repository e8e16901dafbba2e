package couchbasetest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func preserving(p memd.Packet) memd.Packet {
	p.Frames = memd.AppendPreserveExpiry(nil)
	return p
}

// mutateWith is a mutation of a part with extras.
func mutateWith(e memd.MultiExtras) memd.Packet {
	p := mutate(0, spec(memd.OpSubdocDictSet, 0, "a", "2"))
	p.Extras = memd.AppendMultiExtras(nil, e)
	return p
}

// TestWhatAWriteDoesToTheExpiry has the rule of each write for a document that ends in 60 s: kv_engine's docs of sub-document commands say
// that an expiry is handled as in a command for the whole document, and its commands for numbers and for appending keep the old one.
func TestWhatAWriteDoesToTheExpiry(t *testing.T) {
	const kept, ended = 60, 0
	upsert := mutate(0, spec(memd.OpSubdocDictSet, 0, "a", "2"))
	for _, test := range []struct {
		name  string
		value string
		write memd.Packet
		want  uint32 // seconds from now, 0 for never
	}{
		{"MUTATE_IN without an expiry ends it", `{"a":1}`, upsert, ended},
		{"MUTATE_IN with document flags but no expiry ends it", `{"a":1}`, mutateWith(memd.MultiExtras{Doc: memd.DocUpsert}), ended},
		{"MUTATE_IN with the expiry 0 ends it", `{"a":1}`, mutateWith(memd.MultiExtras{HasExpiry: true}), ended},
		{"MUTATE_IN of an attribute ends it", `{"a":1}`, mutate(0, spec(memd.OpSubdocDictSet, xattr, "x", "1")), ended},
		{"MUTATE_IN of a counter ends it", `{"a":1}`, mutate(0, spec(memd.OpSubdocCounter, 0, "a", "1")), ended},
		{"MUTATE_IN of the whole document ends it", `{"a":1}`, mutate(0, spec(memd.OpSet, 0, "", "{}")), ended},
		{"MUTATE_IN with an expiry sets it", `{"a":1}`, mutateWith(memd.MultiExtras{HasExpiry: true, Expiry: 5}), 5},
		{"MUTATE_IN that preserves it keeps it", `{"a":1}`, preserving(upsert), kept},
		{"MUTATE_IN that preserves it ignores its own", `{"a":1}`, preserving(mutateWith(memd.MultiExtras{HasExpiry: true, Expiry: 5})), kept},
		{"SET ends it", `1`, doc(memd.OpSet, "k", "2"), ended},
		{"SET that preserves it keeps it", `1`, preserving(doc(memd.OpSet, "k", "2")), kept},
		{"REPLACE ends it", `1`, doc(memd.OpReplace, "k", "2"), ended},
		{"REPLACE that preserves it keeps it", `1`, preserving(doc(memd.OpReplace, "k", "2")), kept},
		{"APPEND keeps it", `1`, doc(memd.OpAppend, "k", "2"), kept},
		{"PREPEND that preserves it keeps it", `1`, preserving(doc(memd.OpPrepend, "k", "2")), kept},
		{"INCREMENT keeps it", `1`, doc(memd.OpIncrement, "k", ""), kept},
		{"DECREMENT that preserves it keeps it", `1`, preserving(doc(memd.OpDecrement, "k", "")), kept},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0)
				cl.ok(with(doc(memd.OpSet, "k", test.value), func(p *memd.Packet) { p.Extras = memd.AppendStore(nil, 0, 60) }))
				cl.ok(test.write)
				meta, err := memd.ParseMeta(cl.ok(with(doc(memd.OpGetMeta, "k", ""), func(p *memd.Packet) { p.Extras = []byte{2} })).Extras)
				want := test.want
				if want != 0 {
					want += uint32(time.Now().Unix())
				}
				if err != nil || meta.Expiry != want {
					t.Errorf("the expiry is %d, %v; want %d", meta.Expiry, err, want)
				}
			})
		})
	}
}

// A new document of a bucket with a longest life gets that life, also by a mutation of parts.
func TestALongestLifeHoldsForMutationsOfParts(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		cl.ok(doc(memd.OpSet, "k", "{}"))
		wait(9 * time.Second)
		cl.ok(mutate(0, spec(memd.OpSubdocDictSet, 0, "a", "1"))) // begins the 10 s anew
		wait(9 * time.Second)
		cl.ok(doc(memd.OpGet, "k", ""))
		wait(time.Second)
		cl.status(doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound)
	}, couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", MaxExpiry: 10 * time.Second}))
}

func TestCommandsWithoutAnExpiryToPreserveSaySo(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		for _, op := range []memd.Opcode{memd.OpAdd, memd.OpGet, memd.OpDelete, memd.OpTouch, memd.OpGetAndTouch} {
			cl.status(preserving(doc(op, "k", "")), memd.StatusNotSupported)
		}
	})
}
