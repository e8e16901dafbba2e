package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/method/cursor.min/

// bound reads the min or the max of a find. An empty one is none.
func (h *hint) bound(e *wire.Element) error {
	doc := e.Document()
	if doc == nil {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "Expected field %s to be of type object", e.Key)
	}
	if len(doc) == len(emptyDocument) {
		return nil
	}
	if string(e.Key) == "min" {
		h.min = doc
	} else {
		h.max = doc
	}
	return valid(doc)
}

func (h *hint) bounded() bool { return h.min != nil || h.max != nil }

// checkBounds refuses bounds that are not of the same fields.
func (h *hint) checkBounds() error {
	if h.min != nil && h.max != nil && !slices.Equal(fieldNames(h.min), fieldNames(h.max)) {
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

func (h *hint) planning(code Code, ns, text string) error {
	return mongoerr.Errorf(code, "error enumerating plans for query: ns=%s%s planner returned error :: caused by :: %s", ns, h.sizes, text)
}

// unbounded refuses bounds where no index is named.
func (h *hint) unbounded(ns string, c *collection) error {
	switch {
	case c == nil || !h.bounded():
		return nil
	case h.natural != 0:
		return h.planning(mongoerr.NoQueryExecutionPlans, ns, "min and max are incompatible with $natural")
	}
	return h.planning(mongoerr.NoQueryExecutionPlans, ns, "When using min()/max() a hint of which index to use must be provided")
}

// fits refuses bounds that are not of the index, or between which nothing can be.
func (h *hint) fits(ns string, ix *index) error {
	for _, doc := range [...][]byte{h.min, h.max} {
		if doc != nil && !slices.Equal(fieldNames(doc), fieldNames(ix.pattern)) {
			return h.planning(51174, ns, "The index chosen is not compatible with min/max")
		}
	}
	if h.min != nil && h.max != nil && ix.bound(h.min).compare(ix.bound(h.max), ix.pattern) >= 0 {
		return h.planning(51175, ns, "The value provided for min() does not come before the value provided for max() in the hinted index")
	}
	return nil
}

// bound returns the key that a bound is, nil for none.
func (ix *index) bound(doc []byte) indexKey {
	var key indexKey
	it := wire.Elements(doc)
	for it.Next() {
		key = append(key, query.Of(it.Element))
	}
	return key
}

// keyOf returns the key under which an index has a document, as a document; an empty one where there is no index.
func (ix *index) keyOf(doc []byte, h *hint) []byte {
	at, dst := wire.BeginDocument(nil)
	if ix != nil && ix.ordered() && !ix.clusters {
		names := fieldNames(ix.pattern)
		for i, v := range ix.least(doc, h) {
			dst = wire.AppendValue(dst, names[i], v.Type, v.Data)
		}
	}
	return wire.EndDocument(dst, at)
}
