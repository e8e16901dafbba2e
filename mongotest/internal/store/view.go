package store

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// View is what a search looks at: a collection, or its only document that can match. The zero View has no collection.
type View struct {
	Def   *Definition
	order []*Record
	one   bool             // order has only the record that the search may be about
	late  func() []*Record // makes the order when it is first needed; nil if it is there
}

// Now returns the collection, for a search that ends before anything in it changes.
func (c *Collection) Now() View {
	if c == nil {
		return View{}
	}
	return View{Def: c.Def, order: c.Order, late: c.late}
}

// Frozen returns the collection as it is now. The view never changes and needs no lock.
func (c *Collection) Frozen() View {
	v := c.Now()
	if c != nil {
		v.order = slices.Clip(v.order)
		c.shared = true
	}
	return v
}

// ByID returns the view for a search without a hint: if the filter fixes the _id, that document alone.
func (c *Collection) ByID(f *query.Filter) (View, bool) {
	if c == nil || !c.Def.HasIDIndex() {
		return View{}, false
	}
	id, ok := f.ID(c.Def.Options.Collation.Rule())
	if !ok {
		return View{}, false
	}
	v := View{Def: c.Def, one: true}
	if r := c.byID(id); r != nil {
		v.order = []*Record{r}
	}
	return v, true
}

// byID returns the record of a document with an _id, nil if there is none.
func (c *Collection) byID(id query.Value) *Record {
	if c.Def.Options.Collation != nil {
		return c.ByKey[c.Def.IDKey(id)]
	}
	var buf [64]byte
	return c.ByKey[string(query.AppendKey(buf[:0], id))]
}

// records returns the records in order.
func (v *View) records() []*Record {
	if v.late != nil {
		v.order, v.late = v.late(), nil
	}
	return v.order
}

// Exists reports whether there is a collection.
func (v *View) Exists() bool { return v.Def != nil }

// Collation is that of the collection, nil for none.
func (v *View) Collation() query.Collation {
	if v.Def == nil {
		return nil
	}
	return v.Def.Options.Collation.Rule()
}

// Scan calls visit with every document in order until it returns false.
func (v *View) Scan(visit func(r *Record) bool) {
	order := v.records()
	if v.Exists() && v.Def.Options.Clustered != nil {
		order = v.sortedByID(func([]byte) bool { return true }) // it keeps them so
	}
	if v.Exists() && v.Def.Options.Timeseries != nil {
		order = recordsOf(v.Def.Options.Timeseries.buckets(order))
	}
	for _, r := range order {
		if r.Doc != nil && !visit(r) {
			return
		}
	}
}

// find calls visit with every matching document until it returns false; m then has the element by which the document matched.
func (v *View) find(f *query.Filter, m *query.Matching, visit func(r *Record) bool) error {
	if !v.one && v.Exists() && v.Def.HasIDIndex() {
		if scans := v.idScans(f); len(scans) > 0 {
			return v.findByID(scans, f, m, visit)
		}
	}
	return v.findInOrder(f, m, visit)
}

// findInOrder is find in the order of the collection.
func (v *View) findInOrder(f *query.Filter, m *query.Matching, visit func(r *Record) bool) error {
	var err error
	v.Scan(func(r *Record) bool {
		var ok bool
		if ok, err = f.MatchWith(r.Doc, m); !ok {
			return err == nil
		}
		return visit(r)
	})
	return err
}

// findByID is find by looks into the index of _id.
func (v *View) findByID(scans []query.IDScan, f *query.Filter, m *query.Matching, visit func(r *Record) bool) error {
	seen := make(map[*Record]bool)
	for i := range scans {
		for _, r := range v.sortedByID(scans[i].Bounds) {
			ok, err := scans[i].Keeps(r.Doc, m)
			if ok && !seen[r] {
				seen[r] = true
				ok, err = f.MatchWith(r.Doc, m)
				if ok && !visit(r) {
					return nil
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// FindSortedByID is find in the order of the _ids, or the other way round if the direction is negative.
func (v *View) FindSortedByID(direction int64, f *query.Filter, m *query.Matching, visit func(r *Record) bool) error {
	scans := v.idScans(f)
	list := v.sortedByID(func(doc []byte) bool {
		return len(scans) == 0 || slices.ContainsFunc(scans, func(s query.IDScan) bool { return s.Bounds(doc) })
	})
	if direction < 0 {
		slices.Reverse(list)
	}
	for _, r := range list {
		ok, err := f.MatchWith(r.Doc, m)
		if err != nil || ok && !visit(r) {
			return err
		}
	}
	return nil
}

// sortedByID returns the documents that keep wants, in the order of their _ids.
func (v *View) sortedByID(keep func(doc []byte) bool) []*Record {
	var list []*Record
	for _, r := range v.records() {
		if r.Doc != nil && keep(r.Doc) {
			list = append(list, r)
		}
	}
	v.Def.sortByID(list)
	return list
}

// idScans returns how a filter finds documents by their _ids.
func (v *View) idScans(f *query.Filter) []query.IDScan {
	return f.IDScans(v.Collation())
}

// sortByID puts records in the order of their _ids.
func (d *Definition) sortByID(list []*Record) {
	c := d.Options.Collation.Rule()
	ids := make(map[*Record]query.Value, len(list))
	for _, r := range list {
		ids[r] = query.Keyed(c, query.Lookup(r.Doc, "_id"))
	}
	slices.SortStableFunc(list, func(a, b *Record) int { return query.Compare(ids[a], ids[b]) })
}
