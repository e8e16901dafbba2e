package store

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Hint is the index that a client wants to be used. Here it decides what the real server's choice shows in results: the
// order, and that an index which leaves documents out leaves them out of the result.
type Hint struct {
	name    string
	Named   bool
	Pattern []byte
	Natural int64  // 1 or -1; 0 if the hint is no $natural
	Sizes   string // what the command says of sizes, as errors have it

	Collation *collation.Collation // by which the command compares strings, nil if by their bytes
	Min, Max  []byte               // the bounds of the index, nil for none: from min on, before max
}

// Parse reads a hint. It keeps parts of e.
func (h *Hint) Parse(e *wire.Element) error {
	*h = Hint{Min: h.Min, Max: h.Max, Sizes: h.Sizes, Collation: h.Collation}
	switch e.Type {
	case bson.TypeString:
		h.name, h.Named = string(e.Text()), true
		return nil
	case bson.TypeEmbeddedDocument:
	default:
		return fields.ErrNoHint
	}
	it := wire.Elements(e.Value)
	if !it.Next() {
		return it.Err
	}
	if string(it.Key) != "$natural" {
		h.Pattern = e.Value
		return nil
	}
	n, _ := it.Int64()
	if h.Natural = n; n != 1 && n != -1 || it.Next() {
		return mongoerr.Errorf(mongoerr.BadValue, "$natural hint cannot be set to a value other than -1 or 1.")
	}
	return nil
}

// Given reports whether anything says which index to use, or how to read the collection.
func (h *Hint) Given() bool { return h.Named || h.Pattern != nil || h.Natural != 0 || h.bounded() }

// Resolve returns the index that is meant, nil if there is no hint or it is $natural.
func (h *Hint) Resolve(ns string, c *Collection) (*Index, error) {
	if c == nil || !h.Named && h.Pattern == nil {
		return nil, h.unbounded(ns, c)
	}
	list := c.Def.Patterned(h.Pattern)
	if h.Named {
		list = []*Index{c.Def.Named(h.name)}
	}
	list = slices.DeleteFunc(list, func(ix *Index) bool { return ix == nil || ix.Hidden })
	switch len(list) {
	case 1:
		return list[0], h.fits(ns, list[0])
	case 0:
		return nil, h.planning(mongoerr.BadValue, ns, "hint provided does not correspond to an existing index")
	}
	return nil, h.planning(mongoerr.IndexNotFound, ns, "Hint matched multiple indexes, must hint by index name. Matched: "+plannedTexts(list[:2]))
}

// plannedTexts returns indexes as the real server's planner writes it into errors.
func plannedTexts(list []*Index) string {
	texts := make([]string, len(list))
	for i, ix := range list {
		flags := ""
		if ix.sparse {
			flags += " sparse"
		}
		if ix.Unique {
			flags += " unique"
		}
		texts[i] = fmt.Sprintf("kp: %s%s name: '(%s, )' io: %s", query.DocumentText(ix.Pattern), flags, ix.Name, ix)
	}
	return strings.Join(texts, " and ")
}

// FindBy calls visit with every matching document that the hint's index has, in its order, until it returns false; m then
// has the element by which the document matched. The filter sees no others: one that fails with them does not fail.
func (v *View) FindBy(ix *Index, h *Hint, f *query.Filter, m *query.Matching, visit func(r *Record) bool) error {
	switch {
	case ix == nil && h.Natural == 0:
		return v.find(f, m, visit)
	case ix == nil && h.Natural > 0:
		return v.findInOrder(f, m, visit)
	}
	var list []*Record
	v.Scan(func(r *Record) bool {
		list = append(list, r)
		return true
	})
	if ix == nil && v.Exists() && v.Def.Options.Timeseries != nil {
		buckets := v.Def.Options.Timeseries.buckets(v.records())
		slices.Reverse(buckets) // each is read forward all the same
		list = recordsOf(buckets)
		slices.Reverse(list) // as arrange does it
	}
	for _, one := range h.arrange(ix, list) {
		ok, err := f.MatchWith(one.Doc, m)
		if err != nil || ok && !visit(one) {
			return err
		}
	}
	return nil
}

// arrange leaves out what the index does not have and puts the rest in its order.
func (h *Hint) arrange(ix *Index, list []*Record) []*Record {
	if ix == nil {
		slices.Reverse(list)
		return list
	}
	list = slices.DeleteFunc(list, func(r *Record) bool { return !ix.holds(r.Doc) || ix.least(r.Doc, h) == nil && h.bounded() })
	if !ix.Ordered() {
		return list
	}
	least := make(map[string]Key, len(list))
	for _, r := range list {
		least[r.Key] = ix.least(r.Doc, h)
	}
	slices.SortStableFunc(list, func(a, b *Record) int { return least[a.Key].compare(least[b.Key], ix.Pattern) })
	return list
}

// least returns the first of a document's keys that are within the bounds, nil if there is none.
func (ix *Index) least(doc []byte, h *Hint) Key {
	keys, _ := ix.Keys(doc)
	least, most := ix.bound(h.Min), ix.bound(h.Max)
	var first Key
	for _, k := range keys {
		if least != nil && k.compare(least, ix.Pattern) < 0 || most != nil && k.compare(most, ix.Pattern) >= 0 {
			continue
		}
		if first == nil || k.compare(first, ix.Pattern) < 0 {
			first = k
		}
	}
	return first
}
