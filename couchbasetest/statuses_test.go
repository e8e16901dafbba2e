package couchbasetest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// step is one request and the status that it must be answered with.
type step struct {
	request memd.Packet
	want    memd.Status
}

// inBubble runs a test on the fake clock, with a cluster in memory.
func inBubble(t *testing.T, f func(t *testing.T, c *couchbasetest.Cluster), opts ...couchbasetest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := couchbasetest.RunT(t, append([]couchbasetest.Option{couchbasetest.InMemory(), couchbasetest.VBuckets(vbuckets)}, opts...)...)
		f(t, c)
	})
}

func TestEachCommandHasItsStatuses(t *testing.T) {
	cas := func(p memd.Packet, cas uint64) memd.Packet { return with(p, func(p *memd.Packet) { p.CAS = cas }) }
	noCreate := with(doc(memd.OpIncrement, "k", ""), func(p *memd.Packet) {
		p.Extras = memd.AppendCounter(nil, memd.Counter{Delta: 1, Expiry: memd.NoCreate})
	})
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"GET of nothing", []step{{doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound}}},
		{"ADD of what exists", []step{{doc(memd.OpAdd, "k", "1"), 0}, {doc(memd.OpAdd, "k", "1"), memd.StatusKeyExists}}},
		{"ADD with a CAS", []step{{cas(doc(memd.OpAdd, "k", "1"), 1), memd.StatusInvalidArguments}}},
		{"REPLACE of nothing", []step{{doc(memd.OpReplace, "k", "1"), memd.StatusKeyNotFound}}},
		{"SET with the CAS of nothing", []step{{cas(doc(memd.OpSet, "k", "1"), 1), memd.StatusKeyNotFound}}},
		{"SET with a wrong CAS", []step{{doc(memd.OpSet, "k", "1"), 0}, {cas(doc(memd.OpSet, "k", "1"), 1), memd.StatusKeyExists}}},
		{"DELETE with a wrong CAS", []step{{doc(memd.OpSet, "k", "1"), 0}, {cas(doc(memd.OpDelete, "k", ""), 1), memd.StatusKeyExists}}},
		{"DELETE of what is deleted", []step{
			{doc(memd.OpSet, "k", "1"), 0},
			{doc(memd.OpDelete, "k", ""), 0},
			{doc(memd.OpDelete, "k", ""), memd.StatusKeyNotFound},
		}},
		{"APPEND to nothing", []step{{doc(memd.OpAppend, "k", "1"), memd.StatusNotStored}}},
		{"PREPEND to nothing", []step{{doc(memd.OpPrepend, "k", "1"), memd.StatusNotStored}}},
		{"INCREMENT of a text", []step{{doc(memd.OpSet, "k", `"x"`), 0}, {doc(memd.OpIncrement, "k", ""), memd.StatusBadDelta}}},
		{"INCREMENT that does not create", []step{{noCreate, memd.StatusKeyNotFound}}},
		{"TOUCH of nothing", []step{{doc(memd.OpTouch, "k", ""), memd.StatusKeyNotFound}}},
		{"UNLOCK of nothing", []step{{cas(doc(memd.OpUnlock, "k", ""), 1), memd.StatusKeyNotFound}}},
		{"UNLOCK of what is not locked", []step{{doc(memd.OpSet, "k", "1"), 0}, {cas(doc(memd.OpUnlock, "k", ""), 1), memd.StatusNotLocked}}},
		{"a locked document", []step{
			{doc(memd.OpSet, "k", "1"), 0},
			{doc(memd.OpGetLocked, "k", ""), 0},
			{doc(memd.OpGet, "k", ""), 0},
			{doc(memd.OpGetLocked, "k", ""), memd.StatusLocked},
			{doc(memd.OpSet, "k", "2"), memd.StatusLocked},
			{doc(memd.OpDelete, "k", ""), memd.StatusLocked},
			{doc(memd.OpAppend, "k", "2"), memd.StatusLocked},
			{doc(memd.OpTouch, "k", ""), memd.StatusLocked},
			{doc(memd.OpIncrement, "k", ""), memd.StatusLocked},
			{cas(doc(memd.OpUnlock, "k", ""), 1), memd.StatusLocked},
			{doc(memd.OpAdd, "k", "2"), memd.StatusKeyExists},
		}},
		{"a key of 251 bytes", []step{{doc(memd.OpGet, strings.Repeat("k", 251), ""), memd.StatusInvalidArguments}}},
		{"a key of 247 bytes in another collection", []step{{with(doc(memd.OpGet, strings.Repeat("k", 247), ""), func(p *memd.Packet) { p.Key[0] = 9 }), memd.StatusInvalidArguments}}},
		{"no key", []step{{doc(memd.OpGet, "", ""), memd.StatusInvalidArguments}}},
		{"a value that is too long", []step{{doc(memd.OpSet, "k", strings.Repeat("1", 20<<20+1)), memd.StatusTooBig}}},
		{"extras that are too short", []step{{with(doc(memd.OpSet, "k", "1"), func(p *memd.Packet) { p.Extras = p.Extras[:4] }), memd.StatusInvalidArguments}}},
		{"a value for GET", []step{{doc(memd.OpGet, "k", "1"), memd.StatusInvalidArguments}}},
		{"a collection that is not there", []step{{with(doc(memd.OpGet, "k", ""), func(p *memd.Packet) { p.Key[0] = 9 }), memd.StatusUnknownCollection}}},
		{"an unknown command", []step{{memd.Packet{Opcode: 0xee}, memd.StatusUnknownCommand}}},
		{"an unknown frame", []step{{with(doc(memd.OpGet, "k", ""), func(p *memd.Packet) { p.Frames = []byte{0x90} }), memd.StatusUnknownFrame}}},
		{"durability of a read", []step{{durable(doc(memd.OpGet, "k", ""), 1, 0), memd.StatusInvalidArguments}}},
		{"an unknown durability level", []step{{durable(doc(memd.OpSet, "k", "1"), 4, 0), memd.StatusDurabilityInvalid}}},
		{"a broken compression", []step{{with(doc(memd.OpSet, "k", "1"), func(p *memd.Packet) { p.DataType = memd.DataSnappy }), memd.StatusInvalidArguments}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0)
				for _, s := range test.steps {
					if len(s.request.Key) > 1 {
						s.request.VBucket = memd.VBucket(s.request.Key[1:], vbuckets)
					}
					cl.status(s.request, s.want)
				}
			}, couchbasetest.Buckets(couchbasetest.Bucket{Name: "default"}))
		})
	}
}

func TestCommandsBeforeTheLoginAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := dial(t, c, 0)
		cl.status(memd.Packet{Opcode: memd.OpGetClusterConfig}, memd.StatusAccess)
		cl.status(memd.Packet{Opcode: memd.OpSelectBucket, Key: []byte("default")}, memd.StatusAccess)
		cl.status(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00Administrator\x00wrong")}, memd.StatusAuthError)
		cl.status(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("GSSAPI"), Value: []byte("x")}, memd.StatusAuthError)
		cl.ok(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00Administrator\x00password")})
		cl.status(doc(memd.OpGet, "k", ""), memd.StatusNoBucket)
		cl.status(memd.Packet{Opcode: memd.OpSelectBucket, Key: []byte("none")}, memd.StatusKeyNotFound)
	})
}

func TestALockEndsByItself(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		cl.ok(doc(memd.OpSet, "k", "1"))
		locked := cl.ok(doc(memd.OpGetLocked, "k", ""))
		if seen := cl.ok(doc(memd.OpGet, "k", "")); seen.CAS == locked.CAS {
			t.Error("a reader sees the CAS that unlocks the document")
		}
		wait(9 * time.Second)
		cl.status(doc(memd.OpSet, "k", "2"), memd.StatusLocked)
		wait(time.Second)
		cl.ok(doc(memd.OpSet, "k", "2"))
	})
}

func TestADocumentExpires(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		cl.ok(with(doc(memd.OpSet, "k", "1"), func(p *memd.Packet) { p.Extras = memd.AppendStore(nil, 0, 60) }))
		absolute := uint32(time.Now().Unix()) + 31*24*3600
		cl.ok(with(doc(memd.OpSet, "later", "1"), func(p *memd.Packet) { p.Extras = memd.AppendStore(nil, 0, absolute) }))
		wait(59 * time.Second)
		cl.ok(doc(memd.OpGet, "k", ""))
		cl.ok(with(doc(memd.OpSet, "k", "2"), func(p *memd.Packet) { p.Frames = memd.AppendPreserveExpiry(nil) }))
		wait(time.Second)
		cl.status(doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound)
		cl.ok(doc(memd.OpAdd, "k", "3"))
		wait(31 * 24 * time.Hour)
		cl.ok(doc(memd.OpGet, "k", ""))
		cl.status(doc(memd.OpGet, "later", ""), memd.StatusKeyNotFound)
	})
}
