package query

import (
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// wide returns {_id: 1, n: fields, ops: {w0_0: 1, ...}}.
func wide(fields int) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendInt32(dst, "_id", 1)
	dst = wire.AppendInt32(dst, "n", int32(fields))
	ops, dst := wire.BeginEmbedded(dst, "ops")
	for i := range fields {
		dst = wire.AppendInt32(dst, fmt.Sprintf("w0_%d", i), 1)
	}
	return wire.EndDocument(wire.EndDocument(dst, ops), at)
}

func incrementOf(field string) Value {
	at, dst := wire.BeginDocument(nil)
	inc, dst := wire.BeginEmbedded(dst, "$inc")
	dst = wire.AppendInt32(dst, "ops."+field, 1)
	dst = wire.AppendInt32(dst, "n", 1)
	return Document(wire.EndDocument(wire.EndDocument(dst, inc), at))
}

// BenchmarkWideUpdate adds a field to a document of 500 and increments another, parsing the update each time.
func BenchmarkWideUpdate(b *testing.B) {
	doc, v := wide(500), incrementOf("w1_17")
	b.ReportAllocs()
	for b.Loop() {
		u, err := ParseUpdate(v, Value{}, Hooks{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := u.Apply(doc, Env{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIDFilter parses {_id: 7} and matches a document with it.
func BenchmarkIDFilter(b *testing.B) {
	doc, filter := wide(50), idFilter(1)
	var f Filter
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Parse(filter); err != nil || !f.Match(doc) {
			b.Fatal(err)
		}
	}
}

func idFilter(id int32) []byte {
	at, dst := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendInt32(dst, "_id", id), at)
}

func TestAFilterByIDDoesNotAllocate(t *testing.T) {
	doc, filter := wide(50), idFilter(1)
	var f Filter
	var m Matching
	allocs := testing.AllocsPerRun(100, func() {
		if err := f.Parse(filter); err != nil {
			t.Error(err)
		}
		if ok, err := f.MatchWith(doc, &m); !ok || err != nil || !f.Match(doc) {
			t.Errorf("no match: %v", err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
