package explain

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-geospatial/

// placed reports whether a condition is about what lies in, or touches, a shape.
func (c *condition) placed() bool {
	return c.op == "$geoWithin" || c.op == "$within" || c.op == "$geoIntersects"
}

// places reports whether an index whose first field is of a kind, 2d or 2dsphere, finds what meets a condition: one of flat shapes those
// that are flat, one of the sphere those of GeoJSON, and both a circle on the sphere.
func (c *condition) places(kind string) bool {
	it := wire.Elements(c.value.Data)
	if !c.placed() || !it.Next() {
		return false
	}
	switch shape := string(it.Key); shape {
	case "$geometry":
		return kind == "2dsphere"
	case "$centerSphere":
		return true
	default:
		return kind == "2d"
	}
}

// byPlace returns the ways by an index of places, by one of the conditions that it can be searched for. If it has several places of a
// document there is a way for each of them.
func (p *planner) byPlace(x *index, c *condition) []*candidate {
	kind := x.placeKind()
	if kind == "" || !x.holdsAll(c) {
		return nil
	}
	var list []*candidate
	for _, each := range parts(c) {
		if each.path != x.fields[0].path || !each.places(kind) {
			continue
		}
		if list = append(list, p.byPlaceOf(x, c, each)); !x.multikey {
			break
		}
	}
	return list
}

// byPlaceOf returns the way by one of the conditions about places. The index has what else of the condition it can bound.
func (p *planner) byPlaceOf(x *index, c, place *condition) *candidate {
	r := &ranges{index: x, place: place}
	met := x.metByPartial(c)
	for i := range x.fields {
		r.bounds = append(r.bounds, anything)
		if i > 0 && x.placeKind() == "2dsphere" {
			r.beside = append(r.beside, p.exactOn(&x.fields[i], c)...)
		}
	}
	met = append(met, r.beside...)
	found := &candidate{scan: r, document: placeFirst(c, place), sorts: len(p.sort) > 0}
	if len(met) > 0 {
		found.document = without(found.document, met)
	}
	return found
}

// metByPartial returns the conditions that all documents of a partial index meet, because they are those of the index.
func (x *index) metByPartial(c *condition) []*condition {
	partial := query.Lookup(x.Raw, "partialFilterExpression")
	if partial.Missing() {
		return nil
	}
	var met []*condition
	own := parts(parseFilter(partial.Data, nil))
	for _, each := range parts(c) {
		if slices.ContainsFunc(own, func(o *condition) bool { return string(o.document()) == string(each.document()) }) {
			met = append(met, each)
		}
	}
	return met
}

// placeKind is what the first field of the index is, if it is one of places.
func (x *index) placeKind() string {
	it := wire.Elements(x.Pattern)
	it.Next()
	if kind := string(it.Text()); kind == "2d" || kind == "2dsphere" {
		return kind
	}
	return ""
}

// placeFirst returns a condition as it is asked of documents that an index has found by one of its parts.
func placeFirst(c, place *condition) *condition {
	if c.op != "$and" {
		return c
	}
	others := slices.DeleteFunc(slices.Clone(c.children), func(each *condition) bool { return each == place })
	return &condition{op: "$and", children: slices.Insert(others, 0, place)}
}

// exactOn returns the conditions that bounds of a field of an index meet exactly.
func (p *planner) exactOn(f *indexField, c *condition) []*condition {
	var list []*condition
	used := false
	for _, each := range parts(c) {
		_, how := p.boundsOf(each, f, nil, used)
		used = used || how != impossible
		if how == exact {
			list = append(list, each)
		}
	}
	return list
}

// placeScan reads the keys of the documents that meet a condition about places. The real server reads all keys in squares, or cells,
// that the shape touches, of which some are of other documents.
type placeScan struct {
	withoutInput
	index *index
	ns    string
	keys  []placeKey
	next  int
	duped int32
}

// placeKey is a key of a document that is there.
type placeKey struct {
	record *store.Record
	again  bool // the document has had another one
}

func (p *planner) newPlaceScan(r *ranges) stage {
	s := &placeScan{index: r.index, ns: p.shownNS()}
	meets := p.test(&condition{op: "$and", children: append([]*condition{r.place}, r.beside...)})
	for _, each := range p.Records {
		if !meets.meets(each.Doc) {
			continue
		}
		for i := range r.index.PlaceKeys(each.Doc) {
			s.keys = append(s.keys, placeKey{each, i > 0})
		}
	}
	return s
}

func (*placeScan) name() string               { return "IXSCAN" }
func (s *placeScan) reads() *store.Index      { return s.index.Index }
func (s *placeScan) examined() (int32, int32) { return int32(s.next), 0 }

func (s *placeScan) step() (state, *store.Record) {
	if s.next == len(s.keys) {
		return s.end()
	}
	k := s.keys[s.next]
	s.next++
	if k.again {
		s.duped++
		return needTime, nil
	}
	return advanced, k.record
}

func (s *placeScan) appendPlan(dst []byte) []byte {
	dst = appendIndex(appendNamespace(dst, s.ns), s.index)
	dst = wire.AppendString(wire.AppendInt32(dst, "indexVersion", 2), "direction", "forward")
	return wire.AppendDocument(dst, "indexBounds", query.EmptyDocument)
}

func (s *placeScan) appendFigures(dst []byte) []byte {
	dst = wire.AppendInt32(wire.AppendInt32(dst, "keysExamined", int32(s.next)), "seeks", 1)
	tested := int32(0)
	if s.index.multikey {
		tested = int32(s.next)
	}
	dst = wire.AppendInt32(wire.AppendInt32(dst, "dupsTested", tested), "dupsDropped", s.duped)
	return wire.AppendInt32(dst, "peakTrackedMemBytes", 0)
}
