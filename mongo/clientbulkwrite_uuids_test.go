package mongo

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The internal option collectionUUIDs of the official driver: writes share an element of nsInfo only if both the namespace and the UUID
// are the same.
func TestWhichWritesShareANamespace(t *testing.T) {
	one, two := bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)
	of := func(collection string, uuid []byte) bson.D {
		info := bson.D{{Key: "ns", Value: "db." + collection}}
		if uuid != nil {
			info = append(info, bson.E{Key: "collectionUUID", Value: bson.Binary{Subtype: bson.TypeBinaryUUID, Data: uuid}})
		}
		return info
	}
	for _, c := range []struct {
		name        string
		collections string
		uuids       [][]byte
		nsInfo      []bson.D
		indexes     []int32
	}{
		{"without UUIDs", "a b a", nil, []bson.D{of("a", nil), of("b", nil)}, []int32{0, 1, 0}},
		{"the same UUID", "a a", [][]byte{one, one}, []bson.D{of("a", one)}, []int32{0, 0}},
		{"two UUIDs of one namespace", "a a a", [][]byte{one, two, one}, []bson.D{of("a", one), of("a", two)}, []int32{0, 1, 0}},
		{"one UUID of two namespaces", "a b", [][]byte{one, one}, []bson.D{of("a", one), of("b", one)}, []int32{0, 1}},
		{"nil is no UUID, and not an empty one", "a a a", [][]byte{nil, {}, nil}, []bson.D{of("a", nil), of("a", []byte{})}, []int32{0, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &clientBulk{coll: &Collection{}, scratch: newScratch()}
			defer b.scratch.release()
			if err := b.addWrites(insertsInto(c.collections), c.uuids); err != nil {
				t.Fatal(err)
			}
			cmd := b.command(0, len(b.ops))
			var want []byte
			for _, info := range c.nsInfo {
				doc, err := bson.Marshal(info)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, doc...)
			}
			if !bytes.Equal(cmd.nsInfo, want) {
				t.Errorf("nsInfo %q, want %q", cmd.nsInfo, want)
			}
			var indexes []int32
			for i, op := range b.ops {
				indexes = append(indexes, bson.Raw(b.scratch.b[b.start(i):op.end]).Lookup("insert").Int32())
			}
			if !slices.Equal(indexes, c.indexes) {
				t.Errorf("the ops have the indexes %v, want %v", indexes, c.indexes)
			}
		})
	}
}

// Another number of UUIDs than of writes belongs to no write. An empty list is one too; only without the option there is none.
func TestAnotherNumberOfUUIDsIsRefused(t *testing.T) {
	type given struct{ values *map[string]any }
	for _, c := range []struct {
		values map[string]any
		want   string
	}{
		{map[string]any{}, ""},
		{map[string]any{uuidsKey: [][]byte{nil, {1}}}, ""},
		{map[string]any{uuidsKey: [][]byte(nil)}, "invalid collectionUUIDs: 0 UUIDs for 2 writes"},
		{map[string]any{uuidsKey: [][]byte{}}, "invalid collectionUUIDs: 0 UUIDs for 2 writes"},
		{map[string]any{uuidsKey: [][]byte{{1}}}, "invalid collectionUUIDs: 1 UUIDs for 2 writes"},
		{map[string]any{uuidsKey: [][]byte{{1}, {2}, {3}}}, "invalid collectionUUIDs: 3 UUIDs for 2 writes"},
	} {
		o := struct{ Internal given }{given{&c.values}}
		got := ""
		if err := checkWrites(insertsInto("a a"), internalsIn(o).uuids); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("with %v: error %q, want %q", c.values, got, c.want)
		}
	}
}

func insertsInto(collections string) []ClientBulkWrite {
	var writes []ClientBulkWrite
	for _, c := range strings.Fields(collections) {
		writes = append(writes, ClientBulkWrite{Database: "db", Collection: c, Model: NewClientInsertOneModel().SetDocument(bson.D{})})
	}
	return writes
}
