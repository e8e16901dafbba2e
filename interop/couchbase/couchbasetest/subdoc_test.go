package couchbasetest

import (
	"slices"
	"testing"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestGocbLooksUpAndMutatesParts(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	docs := connect(t, c).DefaultCollection()
	_, err := docs.Upsert("a", map[string]any{"name": "Ada", "tags": []string{"x", "y"}, "n": 1}, nil)
	must(t, "Upsert", err, nil)

	changes := []gocb.MutateInSpec{
		gocb.UpsertSpec("meta.by", "test", &gocb.UpsertSpecOptions{IsXattr: true, CreatePath: true}),
		gocb.UpsertSpec("meta.cas", gocb.MutationMacroCAS, &gocb.UpsertSpecOptions{IsXattr: true}),
		gocb.UpsertSpec("meta.sum", gocb.MutationMacroValueCRC32c, &gocb.UpsertSpecOptions{IsXattr: true}),
		gocb.InsertSpec("address.city", "London", &gocb.InsertSpecOptions{CreatePath: true}),
		gocb.ReplaceSpec("name", "Ada L.", nil),
		gocb.ArrayAppendSpec("tags", []string{"z", "w"}, &gocb.ArrayAppendSpecOptions{HasMultiple: true}),
		gocb.ArrayPrependSpec("tags", "first", nil),
		gocb.ArrayInsertSpec("tags[1]", "second", nil),
		gocb.ArrayAddUniqueSpec("tags", "unique", nil),
		gocb.IncrementSpec("n", 4, nil),
	}
	_, err = docs.MutateIn("a", append(slices.Clone(changes), gocb.RemoveSpec("address.none", nil)), nil)
	must(t, "MutateIn with a path that is not there", err, gocb.ErrPathNotFound)
	if doc, _ := c.Document("default", "a"); doc.Xattrs != nil {
		t.Errorf("a mutation that failed has left %s", doc.Xattrs)
	}
	changed, err := docs.MutateIn("a", changes, nil)
	must(t, "MutateIn", err, nil)
	var n int
	if err := changed.ContentAt(9, &n); err != nil || n != 5 {
		t.Errorf("the counter is %d, %v; want 5", n, err)
	}
	doc, _ := c.Document("default", "a")
	want := `{"address":{"city":"London"},"n":5,"name":"Ada L.","tags":["first","second","x","y","z","w","unique"]}`
	wantMembers := map[string]bool{string(doc.Value): true}
	if !wantMembers[want] && string(doc.Value) != `{"n":5,"name":"Ada L.","tags":["first","second","x","y","z","w","unique"],"address":{"city":"London"}}` {
		t.Errorf("the document is %s", doc.Value)
	}

	found, err := docs.LookupIn("a", []gocb.LookupInSpec{
		gocb.GetSpec("$document.value_crc32c", &gocb.GetSpecOptions{IsXattr: true}),
		gocb.GetSpec("$document.CAS", &gocb.GetSpecOptions{IsXattr: true}),
		gocb.GetSpec("meta.sum", &gocb.GetSpecOptions{IsXattr: true}),
		gocb.GetSpec("tags[-1]", nil),
		gocb.ExistsSpec("nothing", nil),
		gocb.CountSpec("tags", nil),
		gocb.GetSpec("", nil),
	}, nil)
	must(t, "LookupIn", err, nil)
	var virtual, sum, last string
	var count int
	for i, into := range map[int]any{0: &virtual, 2: &sum, 3: &last, 5: &count} {
		if err := found.ContentAt(uint(i), into); err != nil {
			t.Errorf("part %d: %v", i, err)
		}
	}
	if virtual != sum || sum == "" || last != "unique" || count != 7 || found.Exists(4) {
		t.Errorf("checksums %q and %q, last %q, count %d, exists %t", virtual, sum, last, count, found.Exists(4))
	}

	_, err = docs.MutateIn("new", []gocb.MutateInSpec{gocb.UpsertSpec("x", 1, nil)}, nil)
	must(t, "MutateIn of nothing", err, gocb.ErrDocumentNotFound)
	_, err = docs.MutateIn("new", []gocb.MutateInSpec{gocb.UpsertSpec("x", 1, nil)}, &gocb.MutateInOptions{StoreSemantic: gocb.StoreSemanticsInsert})
	must(t, "MutateIn that inserts", err, nil)
	_, err = docs.MutateIn("new", []gocb.MutateInSpec{gocb.UpsertSpec("x", 1, nil)}, &gocb.MutateInOptions{StoreSemantic: gocb.StoreSemanticsInsert})
	must(t, "MutateIn that inserts again", err, gocb.ErrDocumentExists)

	projected, err := docs.Get("a", &gocb.GetOptions{Project: []string{"name", "address.city"}})
	must(t, "Get with a projection", err, nil)
	var parts map[string]any
	if err := projected.Content(&parts); err != nil || parts["name"] != "Ada L." || len(parts) != 2 {
		t.Errorf("found %v, %v", parts, err)
	}
}

func TestGocbMutatesDeletedDocuments(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2))
	docs := connect(t, c).DefaultCollection()
	internal := func() *gocb.MutateInOptions {
		o := &gocb.MutateInOptions{StoreSemantic: gocb.StoreSemanticsInsert}
		o.Internal.DocFlags = gocb.SubdocDocFlagAccessDeleted | gocb.SubdocDocFlagCreateAsDeleted
		return o
	}
	_, err := docs.MutateIn("t", []gocb.MutateInSpec{gocb.InsertSpec("txn.id", 1, &gocb.InsertSpecOptions{IsXattr: true, CreatePath: true})}, internal())
	must(t, "MutateIn that creates a deleted document", err, nil)
	_, err = docs.Get("t", nil)
	must(t, "Get", err, gocb.ErrDocumentNotFound)
	o := &gocb.LookupInOptions{}
	o.Internal.DocFlags = gocb.SubdocDocFlagAccessDeleted
	found, err := docs.LookupIn("t", []gocb.LookupInSpec{gocb.GetSpec("txn.id", &gocb.GetSpecOptions{IsXattr: true})}, o)
	must(t, "LookupIn", err, nil)
	var id int
	if err := found.ContentAt(0, &id); err != nil || id != 1 {
		t.Errorf("found %d, %v", id, err)
	}
}
