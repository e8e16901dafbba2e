package couchbasetest_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

const xattr = memd.SpecXattr

func spec(op memd.Opcode, flags memd.SpecFlags, path, value string) memd.Spec {
	return memd.Spec{Op: op, Flags: flags, Path: []byte(path), Value: []byte(value)}
}

func look(flags memd.DocFlags, specs ...memd.Spec) memd.Packet {
	p := doc(memd.OpSubdocMultiLookup, "k", "")
	if flags != 0 {
		p.Extras = memd.AppendMultiExtras(nil, memd.MultiExtras{Doc: flags})
	}
	for _, s := range specs {
		p.Value = memd.AppendLookup(p.Value, s)
	}
	return p
}

func mutate(flags memd.DocFlags, specs ...memd.Spec) memd.Packet {
	p := doc(memd.OpSubdocMultiMutation, "k", "")
	if flags != 0 {
		p.Extras = memd.AppendMultiExtras(nil, memd.MultiExtras{Doc: flags})
	}
	for _, s := range specs {
		p.Value = memd.AppendMutation(p.Value, s)
	}
	return p
}

func TestSubDocumentCommandsHaveTheirStatuses(t *testing.T) {
	set, remove := doc(memd.OpSet, "k", `{"a":1}`), doc(memd.OpDelete, "k", "")
	get := spec(memd.OpSubdocGet, 0, "a", "")
	upsert := spec(memd.OpSubdocDictSet, 0, "a", "2")
	attribute := spec(memd.OpSubdocDictSet, xattr, "_x", "1")
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"a look-up in nothing", []step{{look(0, get), memd.StatusKeyNotFound}}},
		{"a look-up of a missing path", []step{{set, 0}, {look(0, get, spec(memd.OpSubdocGet, 0, "z", "")), memd.StatusMultiFailure}}},
		{"a look-up without parts", []step{{set, 0}, {look(0), memd.StatusBadCombination}}},
		{"a look-up with 17 parts", []step{{set, 0}, {look(0, bytes17(get)...), memd.StatusBadCombination}}},
		{"an attribute after the body", []step{{set, 0}, {look(0, get, spec(memd.OpSubdocGet, xattr, "x", "")), memd.StatusXattrOrder}}},
		{"an unknown flag", []step{{set, 0}, {look(memd.DocRevive, get), memd.StatusInvalidArguments}}},
		{"a look-up in what is deleted", []step{
			{set, 0},
			{mutate(0, attribute), 0},
			{remove, 0},
			{look(0, get), memd.StatusKeyNotFound},
			{look(memd.DocAccessDeleted, spec(memd.OpSubdocGet, xattr, "_x", "")), memd.StatusSuccessDeleted},
			{look(memd.DocAccessDeleted, get), memd.StatusMultiFailureDeleted},
		}},
		{"a mutation of nothing", []step{{mutate(0, upsert), memd.StatusKeyNotFound}, {mutate(memd.DocUpsert, upsert), 0}, {mutate(memd.DocInsert, upsert), memd.StatusKeyExists}}},
		{"a mutation that may make the document makes parents too", []step{
			{mutate(memd.DocInsert, spec(memd.OpSubdocDictSet, 0, "a.b", "1")), 0},
			{mutate(memd.DocUpsert, spec(memd.OpSubdocArrayAddUnique, xattr, "x.y", "1")), 0},
			{mutate(0, spec(memd.OpSubdocDictSet, 0, "c.d", "1")), memd.StatusMultiFailure},
		}},
		{"upsert and insert", []step{{mutate(memd.DocUpsert|memd.DocInsert, upsert), memd.StatusInvalidArguments}}},
		{"a mutation that fails", []step{{set, 0}, {mutate(0, upsert, spec(memd.OpSubdocReplace, 0, "z", "1")), memd.StatusMultiFailure}}},
		{"a mutation of no JSON", []step{{doc(memd.OpSet, "k", "text"), 0}, {mutate(0, upsert), memd.StatusMultiFailure}}},
		{"a deleted document that is created", []step{
			{mutate(memd.DocCreateAsDeleted, attribute), memd.StatusInvalidArguments},
			{mutate(memd.DocCreateAsDeleted|memd.DocInsert, attribute), memd.StatusSuccessDeleted},
			{mutate(memd.DocCreateAsDeleted|memd.DocUpsert|memd.DocAccessDeleted, upsert), memd.StatusMultiFailureDeleted},
			{doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound},
			{mutate(0, attribute), memd.StatusKeyNotFound},
			{mutate(memd.DocAccessDeleted, attribute), memd.StatusSuccessDeleted},
			{mutate(memd.DocAccessDeleted|memd.DocRevive, attribute, spec(memd.OpSubdocDictSet, 0, "a", "1")), 0},
			{mutate(memd.DocAccessDeleted|memd.DocRevive, attribute), memd.StatusCannotRevive},
			{doc(memd.OpGet, "k", ""), 0},
		}},
		{"the whole document", []step{
			{mutate(memd.DocInsert, spec(memd.OpSet, 0, "", `{"n":1}`)), 0},
			{look(0, spec(memd.OpGet, 0, "", "")), 0},
			{mutate(memd.DocInsert, spec(memd.OpSet, 0, "", `{}`)), memd.StatusKeyExists},
			{mutate(0, spec(memd.OpDelete, 0, "", "")), 0},
			{doc(memd.OpGet, "k", ""), memd.StatusKeyNotFound},
		}},
		{"a locked document", []step{{set, 0}, {doc(memd.OpGetLocked, "k", ""), 0}, {mutate(0, upsert), memd.StatusLocked}, {look(0, get), 0}}},
		{"a wrong CAS", []step{{set, 0}, {with(mutate(0, upsert), func(p *memd.Packet) { p.CAS = 1 }), memd.StatusKeyExists}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := open(t, c, 0)
				for i, s := range test.steps {
					if reply := cl.do(s.request); reply.Status != s.want {
						t.Fatalf("step %d, %v, was answered with %v, want %v", i+1, s.request.Opcode, reply.Status, s.want)
					}
				}
			}, couchbasetest.Buckets(couchbasetest.Bucket{Name: "default"}))
		})
	}
}

func bytes17(s memd.Spec) []memd.Spec {
	list := make([]memd.Spec, memd.MaxSpecs+1)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestAReplicaAnswersALookUpThatIsForIt(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		owner(t, c, "k").ok(doc(memd.OpSet, "k", `{"a":1}`))
		request := look(memd.DocReplicaRead, spec(memd.OpSubdocGet, 0, "a", ""))
		open(t, c, c.Owners("default", "k")[1]).ok(request)
		owner(t, c, "k").status(request, memd.StatusNotMyVBucket)
	}, couchbasetest.Nodes(2))
}
