package explain

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// collectionScan reads all documents.
type collectionScan struct {
	withoutInput
	asks     *test
	ns       string
	backward bool
	records  []*store.Record
	next     int
}

func (*collectionScan) name() string               { return "COLLSCAN" }
func (s *collectionScan) filter() *test            { return s.asks }
func (s *collectionScan) examined() (int32, int32) { return 0, int32(s.next) }

func (s *collectionScan) step() (state, *store.Record) {
	if s.next == len(s.records) {
		return s.end()
	}
	r := s.records[s.next]
	if s.backward {
		r = s.records[len(s.records)-1-s.next]
	}
	s.next++
	if !s.asks.meets(r.Doc) {
		return needTime, nil
	}
	return advanced, r
}

func (s *collectionScan) appendPlan(dst []byte) []byte {
	return wire.AppendString(appendNamespace(dst, s.ns), "direction", directionText(s.backward))
}

func (s *collectionScan) appendFigures(dst []byte) []byte {
	return wire.AppendInt32(wire.AppendInt32(dst, "docsExamined", int32(s.next)), "seeks", 0)
}

// appendNamespace writes the collection that a stage reads. Below the plan of an $or there is none.
func appendNamespace(dst []byte, ns string) []byte {
	if ns == "" {
		return dst
	}
	return wire.AppendString(dst, "nss", ns)
}

func directionText(backward bool) string {
	if backward {
		return "backward"
	}
	return "forward"
}

// nothing finds nothing, without looking.
type nothing struct {
	withoutInput
	reason string
}

func (*nothing) name() string                   { return "EOF" }
func (s *nothing) eof() bool                    { return true }
func (s *nothing) step() (state, *store.Record) { return s.end() }

func (s *nothing) appendPlan(dst []byte) []byte { return wire.AppendString(dst, "type", s.reason) }

// lookup finds a document by its _id, as IDHACK.
type lookup struct {
	withoutInput
	record *store.Record // nil if there is none
	found  int32
}

func (*lookup) name() string                      { return "IDHACK" }
func (s *lookup) examined() (int32, int32)        { return s.found, s.found }
func (s *lookup) appendFigures(dst []byte) []byte { return appendExamined(dst, s.found, s.found) }

func (s *lookup) step() (state, *store.Record) {
	if s.ended || s.record == nil {
		return s.end()
	}
	s.ended, s.found = true, 1
	return advanced, s.record
}

func appendExamined(dst []byte, keys, docs int32) []byte {
	return wire.AppendInt32(wire.AppendInt32(dst, "keysExamined", keys), "docsExamined", docs)
}

// direct finds one document by one look into an index, and updates or deletes it.
type direct struct {
	withoutInput
	kind       Kind
	index      *index
	projection []byte
	record     *store.Record
	returns    bool
	found      int32
}

func (*direct) withoutSteps()              {}
func (s *direct) examined() (int32, int32) { return s.found, s.found }

func (s *direct) name() string {
	switch s.kind {
	case Update:
		return "EXPRESS_UPDATE"
	case Delete:
		return "EXPRESS_DELETE"
	case Find, Count, Distinct:
	}
	return "EXPRESS_IXSCAN"
}

func (s *direct) step() (state, *store.Record) {
	if s.ended || s.record == nil {
		return s.end()
	}
	s.found = 1
	if (s.kind == Update || s.kind == Delete) && !s.returns {
		return s.end()
	}
	s.ended = true
	return advanced, s.record
}

func (s *direct) appendPlan(dst []byte) []byte {
	dst = wire.AppendString(wire.AppendDocument(dst, "keyPattern", s.index.Pattern), "indexName", s.index.Name)
	if s.projection != nil {
		dst = wire.AppendBool(wire.AppendDocument(dst, "projection", s.projection), "projectionCovered", false)
	}
	return dst
}

func (s *direct) appendFigures(dst []byte) []byte {
	dst = appendExamined(dst, s.found, s.found)
	if s.kind == Find || s.kind == Distinct {
		return dst
	}
	dst = wire.AppendInt32(dst, "nWouldModify", truth(s.kind == Update && s.found == 1))
	dst = wire.AppendInt32(dst, "nWouldUpsert", 0)
	return wire.AppendInt32(dst, "nWouldDelete", truth(s.kind == Delete && s.found == 1))
}

// appendIndex writes which index a stage reads.
func appendIndex(dst []byte, x *index) []byte {
	dst = wire.AppendString(wire.AppendDocument(dst, "keyPattern", x.Pattern), "indexName", x.Name)
	collation := query.Lookup(x.Raw, "collation")
	if collation.IsDocument() {
		dst = wire.AppendDocument(dst, "collation", collation.Data)
	}
	dst = wire.AppendBool(dst, "isMultiKey", x.multikey)
	if !x.OfID && x.placeKind() != "2d" {
		all, d := wire.BeginEmbedded(dst, "multiKeyPaths")
		for _, f := range x.fields {
			d = wire.AppendStrings(d, f.path, f.arrays)
		}
		dst = wire.EndDocument(d, all)
	}
	sparse := query.Lookup(x.Raw, "sparse")
	dst = wire.AppendBool(dst, "isUnique", x.Unique || x.OfID)
	dst = wire.AppendBool(dst, "isSparse", sparse.True())
	return wire.AppendBool(dst, "isPartial", !query.Lookup(x.Raw, "partialFilterExpression").Missing())
}
