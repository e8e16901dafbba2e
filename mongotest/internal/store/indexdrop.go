package store

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Chosen returns the indexes that a name, a key pattern or several names stand for; needed says that they must be there.
func (d *Definition) Chosen(v query.Value, needed bool) ([]*Index, error) {
	if v.IsDocument() {
		return d.droppable(d.byPattern(v.Data, needed))
	}
	names, all := []query.Value{v}, IsStar(v)
	if v.IsArray() {
		names = query.Elements(v.Data)
	}
	if all {
		names = names[1:]
	}
	list, err := d.droppable(d.byNames(names, needed))
	if err == nil && all {
		list = d.Indexes[d.undroppable():]
	}
	return list, err
}

// undroppable is how many indexes, the first, cannot be dropped: that of _id, which measurements have none of.
func (d *Definition) undroppable() int {
	if d.Options.Timeseries != nil {
		return 0
	}
	return 1
}

// droppable refuses a list with the index of _id.
func (d *Definition) droppable(list []*Index, err error) ([]*Index, error) {
	kept := d.Indexes[:d.undroppable()]
	switch {
	case err != nil || !slices.ContainsFunc(list, func(ix *Index) bool { return slices.Contains(kept, ix) }):
		return list, err
	case d.Options.Clustered != nil:
		return nil, mongoerr.Errorf(5979800, "It is illegal to drop the clusteredIndex")
	}
	return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "cannot drop _id index")
}

func (d *Definition) byPattern(pattern []byte, needed bool) ([]*Index, error) {
	list := d.Patterned(pattern)
	switch ix := d.textIndexOn(pattern); {
	case len(list) > 1:
		return nil, mongoerr.Errorf(mongoerr.AmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting "+
			"indexes: %s", len(list), query.DocumentText(pattern), IndexTexts(list[:2]))
	case len(list) == 0 && ix != nil:
		return []*Index{ix}, nil
	case len(list) == 0 && needed:
		return nil, mongoerr.Errorf(mongoerr.IndexNotFound, "can't find index with key: %s", query.DocumentText(pattern))
	}
	return list, nil
}

func (d *Definition) byNames(names []query.Value, needed bool) ([]*Index, error) {
	var list []*Index
	for _, name := range names {
		if ix := d.Named(string(name.Text())); ix != nil {
			list = append(list, ix)
		} else if needed {
			return nil, mongoerr.Errorf(mongoerr.IndexNotFound, "index not found with name [%s]", name.Text())
		}
	}
	return list, nil
}

// textIndexOn returns the text index that a client made with this key, which is kept with another.
func (d *Definition) textIndexOn(pattern []byte) *Index {
	at := slices.IndexFunc(d.Indexes, func(ix *Index) bool { return ix.plugin == "text" })
	if at < 0 {
		return nil
	}
	r := &specReader{Index: Index{Pattern: pattern}}
	r.ofText()
	if weights := query.Lookup(d.Indexes[at].Raw, "weights"); !query.Equal(query.Of(r.rest[0]), weights) {
		return nil
	}
	return d.Indexes[at]
}

// IsStar reports whether an argument of dropIndexes stands for all indexes: it is "*", or a list that begins with it.
func IsStar(v query.Value) bool {
	if v.IsArray() {
		list := query.Elements(v.Data)
		return len(list) > 0 && string(list[0].Text()) == "*"
	}
	return string(v.Text()) == "*"
}
