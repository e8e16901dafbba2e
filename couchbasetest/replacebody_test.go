package couchbasetest_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// ReplaceBodyWithXattr is described in kv_engine's docs of sub-document commands: what an extended attribute has becomes the document.
func TestTheBodyIsReplacedWithAnAttribute(t *testing.T) {
	const binary = memd.SpecBinaryValue
	replace := spec(memd.OpSubdocReplaceBody, xattr, "txn.staged", "")
	staged := spec(memd.OpSubdocDictSet, xattr|memd.SpecCreatePath, "txn.staged", `{"n":2}`)
	stagedBinary := spec(memd.OpSubdocDictSet, xattr|memd.SpecCreatePath|binary, "txn.staged", "\x00\x01")
	set := doc(memd.OpSet, "k", `{"n":1}`)
	for _, test := range []struct {
		sentence string
		steps    []step
		want     string // the document's value, "" if there is none
	}{
		{"the value of the attribute becomes the document", []step{{set, 0}, {mutate(0, staged), 0}, {mutate(0, replace), 0}}, `{"n":2}`},
		{"also if the same command sets it", []step{{set, 0}, {mutate(0, staged, replace), 0}}, `{"n":2}`},
		{"parts after it change the new value", []step{{set, 0}, {mutate(0, staged, replace, spec(memd.OpSubdocCounter, 0, "n", "1")), 0}}, `{"n":3}`},
		{"the attribute may be removed with it", []step{{set, 0}, {mutate(0, staged), 0}, {mutate(0, replace, spec(memd.OpSubdocDelete, xattr, "txn", "")), 0}}, `{"n":2}`},
		{"a binary attribute becomes a binary document", []step{{set, 0}, {mutate(0, stagedBinary), 0}, {mutate(0, spec(memd.OpSubdocReplaceBody, xattr|binary, "txn.staged", "")), 0}}, "\x00\x01"},
		{"without the flag it stays as text", []step{{set, 0}, {mutate(0, stagedBinary), 0}, {mutate(0, replace), 0}}, `"cb-content-base64-encoded:AAE="`},
		{"what is not binary does not become it", []step{{set, 0}, {mutate(0, staged), 0}, {mutate(0, spec(memd.OpSubdocReplaceBody, xattr|binary, "txn.staged", "")), memd.StatusMultiFailure}}, `{"n":1}`},
		{"a missing attribute changes nothing", []step{{set, 0}, {mutate(0, replace), memd.StatusMultiFailure}}, `{"n":1}`},
		{"it is about an attribute only", []step{{set, 0}, {mutate(0, spec(memd.OpSubdocReplaceBody, 0, "n", "")), memd.StatusInvalidArguments}}, `{"n":1}`},
		{"a virtual attribute is none", []step{{set, 0}, {mutate(0, spec(memd.OpSubdocReplaceBody, xattr, "$document", "")), memd.StatusXattrCannotModify}}, `{"n":1}`},
		{"it makes no document", []step{{mutate(memd.DocUpsert, replace), memd.StatusInvalidArguments}}, ""},
		{"a deleted document has no value", []step{
			{mutate(memd.DocCreateAsDeleted|memd.DocInsert, staged), memd.StatusSuccessDeleted},
			{mutate(memd.DocAccessDeleted, replace), memd.StatusDeletedHasNoValue},
		}, ""},
		{"a revived one gets it", []step{
			{mutate(memd.DocCreateAsDeleted|memd.DocInsert, staged), memd.StatusSuccessDeleted},
			{mutate(memd.DocAccessDeleted|memd.DocRevive, replace), 0},
		}, `{"n":2}`},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0)
				for i, s := range test.steps {
					if reply := cl.do(s.request); reply.Status != s.want {
						t.Fatalf("step %d was answered with %v %s, want %v", i+1, reply.Status, reply.Value, s.want)
					}
				}
				if d, ok := c.Document("default", "k"); ok != (test.want != "") || string(d.Value) != test.want {
					t.Errorf("the document is %q, want %q", d.Value, test.want)
				}
			})
		})
	}
}

func TestOnlyServersFrom71OnReplaceABody(t *testing.T) {
	for version, want := range map[string]memd.Status{"7.0": memd.StatusBadCombination, "7.1": 0} {
		inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
			cl := open(t, c, 0)
			cl.ok(mutate(memd.DocUpsert, spec(memd.OpSubdocDictSet, xattr, "x", `1`)))
			cl.status(mutate(0, spec(memd.OpSubdocReplaceBody, xattr, "x", "")), want)
			m := parsed(t, cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig}).Value)
			if says := m.BucketCan("subdoc.ReplaceBodyWithXattr"); says != (want == 0) {
				t.Errorf("%s: the map says that the bucket can: %t", version, says)
			}
		}, couchbasetest.Version(version))
	}
}

func TestABinaryAttributeIsReadAsItWasWritten(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := open(t, c, 0)
		cl.ok(mutate(memd.DocUpsert, spec(memd.OpSubdocDictSet, xattr|memd.SpecBinaryValue, "x", "\x00\xff"), spec(memd.OpSubdocDictSet, xattr, "y", "1")))
		reply := cl.status(look(0, spec(memd.OpSubdocGet, xattr|memd.SpecBinaryValue, "x", ""), spec(memd.OpSubdocGet, xattr, "x", ""),
			spec(memd.OpSubdocGet, xattr|memd.SpecBinaryValue, "y", "")), memd.StatusMultiFailure)
		parts, err := memd.ParseLookupResults(reply.Value, 3)
		if err != nil || string(parts[0].Value) != "\x00\xff" || string(parts[1].Value) != `"cb-content-base64-encoded:AP8="` || parts[2].Status != memd.StatusXattrNotBinary {
			t.Errorf("the parts are %+v, %v", parts, err)
		}
	})
}
