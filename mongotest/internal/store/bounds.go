package store

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/method/cursor.min/

// Bound reads the min or the max of a find. An empty one is none.
func (h *Hint) Bound(e *wire.Element) error {
	doc := e.Document()
	if doc == nil {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "Expected field %s to be of type object", e.Key)
	}
	if len(doc) == len(query.EmptyDocument) {
		return nil
	}
	if string(e.Key) == "min" {
		h.Min = doc
	} else {
		h.Max = doc
	}
	return query.CheckDocument(doc)
}

func (h *Hint) bounded() bool { return h.Min != nil || h.Max != nil }

// CheckBounds refuses bounds that are not of the same fields.
func (h *Hint) CheckBounds() error {
	if h.Min != nil && h.Max != nil && !slices.Equal(fieldNames(h.Min), fieldNames(h.Max)) {
		return mongoerr.Errorf(51176, "min and max must have the same field names")
	}
	return nil
}

func fieldNames(doc []byte) []string {
	var names []string
	it := wire.Elements(doc)
	for it.Next() {
		names = append(names, string(it.Key))
	}
	return names
}

func (h *Hint) planning(code mongoerr.Code, ns, text string) error {
	return mongoerr.Errorf(code, "error enumerating plans for query: ns=%s%s planner returned error :: caused by :: %s", ns, h.Sizes, text)
}

// unbounded refuses bounds where no index is named.
func (h *Hint) unbounded(ns string, c *Collection) error {
	switch {
	case c == nil || !h.bounded():
		return nil
	case h.Natural != 0:
		return h.planning(mongoerr.NoQueryExecutionPlans, ns, "min and max are incompatible with $natural")
	}
	return h.planning(mongoerr.NoQueryExecutionPlans, ns, "When using min()/max() a hint of which index to use must be provided")
}

// fits refuses bounds that are not of the index, or between which nothing can be.
func (h *Hint) fits(ns string, ix *Index) error {
	for _, doc := range [...][]byte{h.Min, h.Max} {
		if doc != nil && (!slices.Equal(fieldNames(doc), fieldNames(ix.Pattern)) || !collation.Same(ix.Collation, h.Collation) && query.HasText(query.Document(doc))) {
			return h.planning(51174, ns, "The index chosen is not compatible with min/max")
		}
	}
	if h.Min != nil && h.Max != nil && ix.bound(h.Min).compare(ix.bound(h.Max), ix.Pattern) >= 0 {
		return h.planning(51175, ns, "The value provided for min() does not come before the value provided for max() in the hinted index")
	}
	return nil
}

// bound returns the key that a bound is, nil for none.
func (ix *Index) bound(doc []byte) Key {
	var key Key
	it := wire.Elements(doc)
	for it.Next() {
		key = append(key, query.Keyed(ix.Collation.Rule(), query.Of(it.Element)))
	}
	return key
}

// KeyOf returns the key under which an index has a document, as a document; an empty one where there is no index.
func (ix *Index) KeyOf(doc []byte, h *Hint) []byte {
	at, dst := wire.BeginDocument(nil)
	if ix != nil && ix.Ordered() && !ix.clusters {
		names := fieldNames(ix.Pattern)
		for i, v := range ix.least(doc, h) {
			dst = wire.AppendValue(dst, names[i], v.Type, v.Data)
		}
	}
	return wire.EndDocument(dst, at)
}
