package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// hint is the index that a client wants to be used. Here it decides what the real server's choice shows in results: the
// order, and that an index which leaves documents out leaves them out of the result.
type hint struct {
	name    string
	named   bool
	pattern []byte
	natural int64  // 1 or -1; 0 if the hint is no $natural
	sizes   string // what the command says of sizes, as errors have it

	min, max []byte // the bounds of the index, nil for none: from min on, before max
}

var errNoHint = mongoerr.Errorf(mongoerr.FailedToParse, "Hint must be a string or an object")

// parse reads a hint. It keeps parts of e.
func (h *hint) parse(e *wire.Element) error {
	*h = hint{min: h.min, max: h.max, sizes: h.sizes}
	switch e.Type {
	case bson.TypeString:
		h.name, h.named = string(e.Text()), true
		return nil
	case bson.TypeEmbeddedDocument:
	default:
		return errNoHint
	}
	it := wire.Elements(e.Value)
	if !it.Next() {
		return it.Err
	}
	if string(it.Key) != "$natural" {
		h.pattern = e.Value
		return nil
	}
	n, _ := it.Int64()
	if h.natural = n; n != 1 && n != -1 || it.Next() {
		return mongoerr.Errorf(mongoerr.BadValue, "$natural hint cannot be set to a value other than -1 or 1.")
	}
	return nil
}

// given tells whether anything says which index to use, or how to read the collection.
func (h *hint) given() bool { return h.named || h.pattern != nil || h.natural != 0 || h.bounded() }

// resolve returns the index that is meant, nil if there is no hint or it is $natural.
func (h *hint) resolve(ns string, c *collection) (*index, error) {
	if c == nil || !h.named && h.pattern == nil {
		return nil, h.unbounded(ns, c)
	}
	list := c.def.patterned(h.pattern)
	if h.named {
		list = []*index{c.def.named(h.name)}
	}
	list = slices.DeleteFunc(list, func(ix *index) bool { return ix == nil || ix.hidden })
	switch len(list) {
	case 1:
		return list[0], h.fits(ns, list[0])
	case 0:
		return nil, h.planning(mongoerr.BadValue, ns, "hint provided does not correspond to an existing index")
	}
	return nil, h.planning(mongoerr.IndexNotFound, ns, "Hint matched multiple indexes, must hint by index name. Matched: "+indexTexts(list))
}

// findBy calls visit with every matching document that the hint's index has, in its order, until it returns false; m tells
// then by what the document matched. The filter sees no others: one that fails with them does not fail.
func (c *collection) findBy(ix *index, h *hint, f *query.Filter, m *query.Matching, visit func(key string, doc []byte) bool) error {
	switch {
	case ix == nil && h.natural == 0:
		return c.find(f, m, visit)
	case ix == nil && h.natural > 0:
		return c.findInOrder(f, m, visit)
	}
	var list []found
	c.scan(func(r *record) bool {
		list = append(list, found{key: r.key, doc: r.doc})
		return true
	})
	for _, one := range h.arrange(ix, list) {
		ok, err := f.MatchWith(one.doc, m)
		if err != nil || ok && !visit(one.key, one.doc) {
			return err
		}
	}
	return nil
}

// arrange leaves out what the index does not have and puts the rest in its order.
func (h *hint) arrange(ix *index, list []found) []found {
	if ix == nil {
		slices.Reverse(list)
		return list
	}
	list = slices.DeleteFunc(list, func(m found) bool { return !ix.holds(m.doc) || ix.least(m.doc, h) == nil && h.bounded() })
	if !ix.ordered() {
		return list
	}
	least := make(map[string]indexKey, len(list))
	for _, m := range list {
		least[m.key] = ix.least(m.doc, h)
	}
	slices.SortStableFunc(list, func(a, b found) int { return least[a.key].compare(least[b.key], ix.pattern) })
	return list
}

// least returns the first of a document's keys that are within the bounds, nil if there is none.
func (ix *index) least(doc []byte, h *hint) indexKey {
	keys, _ := ix.keys(doc)
	least, most := ix.bound(h.min), ix.bound(h.max)
	var first indexKey
	for _, k := range keys {
		if least != nil && k.compare(least, ix.pattern) < 0 || most != nil && k.compare(most, ix.pattern) >= 0 {
			continue
		}
		if first == nil || k.compare(first, ix.pattern) < 0 {
			first = k
		}
	}
	return first
}
