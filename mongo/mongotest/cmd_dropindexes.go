package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/dropIndexes/

func cmdDropIndexes(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var wanted query.Value
	for i := range x.args {
		wanted = query.Of(x.args[i])
	}
	if err := checkIndexChoice(wanted); err != nil {
		return err
	}
	was, all := 0, isStar(wanted)
	note := x.note(0, nil)
	err := x.writing(func() error {
		c, err := x.member.storedLocked(x.full)
		if err != nil {
			return err
		}
		if c == nil {
			return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns not found %s", x.full)
		}
		was = c.def.built()
		gone, err := c.def.chosen(wanted, x.set.config.version.needsIndexesToDrop())
		if err != nil || len(gone) == 0 {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(c.def.indexes), func(ix *index) bool { return slices.Contains(gone, ix) })
		return x.appendLocked(&entry{kind: alter, ns: x.full, change: &change{before: c.def, after: c.def.with(left)}}, -1, note)
	})
	if err != nil {
		note.ErrorCode = mongoerr.CodeOf(err)
		return err
	}
	x.out = wire.AppendInt32(x.out, "nIndexesWas", int32(was))
	if all {
		x.out = wire.AppendString(x.out, "msg", "non-_id indexes dropped for collection")
	}
	return nil
}

func checkIndexChoice(v query.Value) error {
	switch {
	case v.IsArray():
		for i, name := range query.Elements(v.Data) {
			switch {
			case name.Type == bson.TypeString:
			case i == 0: // it is the first by which an array is taken for one of names
				return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type 'array', expected types '[string]'")
			default:
				return wrongType("dropIndexes", "index."+wire.ArrayKey(i), name.Type, "string")
			}
		}
	case v.Type != bson.TypeString && !v.IsDocument():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object]'",
			query.TypeName(v.Type))
	}
	return nil
}

// isStar tells whether all indexes are meant: by a "*", or by a list that has it first.
func isStar(v query.Value) bool {
	if v.IsArray() {
		list := query.Elements(v.Data)
		return len(list) > 0 && string(list[0].Text()) == "*"
	}
	return string(v.Text()) == "*"
}

// chosen returns the indexes that a name, a key pattern or several names stand for; needed tells whether they must be there.
func (d *definition) chosen(v query.Value, needed bool) ([]*index, error) {
	if v.IsDocument() {
		return d.droppable(d.byPattern(v.Data, needed))
	}
	names, all := []query.Value{v}, isStar(v)
	if v.IsArray() {
		names = query.Elements(v.Data)
	}
	if all {
		names = names[1:]
	}
	list, err := d.droppable(d.byNames(names, needed))
	if err == nil && all {
		list = d.indexes[d.undroppable():]
	}
	return list, err
}

// undroppable is how many indexes, the first, cannot be dropped: that of _id, which measurements have none of.
func (d *definition) undroppable() int {
	if d.options.timeseries != nil {
		return 0
	}
	return 1
}

// droppable refuses a list with the index of _id.
func (d *definition) droppable(list []*index, err error) ([]*index, error) {
	kept := d.indexes[:d.undroppable()]
	switch {
	case err != nil || !slices.ContainsFunc(list, func(ix *index) bool { return slices.Contains(kept, ix) }):
		return list, err
	case d.options.clustered != nil:
		return nil, mongoerr.Errorf(5979800, "It is illegal to drop the clusteredIndex")
	}
	return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "cannot drop _id index")
}

func (d *definition) byPattern(pattern []byte, needed bool) ([]*index, error) {
	list := d.patterned(pattern)
	switch ix := d.textIndexOn(pattern); {
	case len(list) > 1:
		return nil, mongoerr.Errorf(mongoerr.AmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting "+
			"indexes: %s", len(list), documentText(pattern), indexTexts(list))
	case len(list) == 0 && ix != nil:
		return []*index{ix}, nil
	case len(list) == 0 && needed:
		return nil, mongoerr.Errorf(mongoerr.IndexNotFound, "can't find index with key: %s", documentText(pattern))
	}
	return list, nil
}

func (d *definition) byNames(names []query.Value, needed bool) ([]*index, error) {
	var list []*index
	for _, name := range names {
		if ix := d.named(string(name.Text())); ix != nil {
			list = append(list, ix)
		} else if needed {
			return nil, mongoerr.Errorf(mongoerr.IndexNotFound, "index not found with name [%s]", name.Text())
		}
	}
	return list, nil
}

// textIndexOn returns the text index that a client made with this key, which is kept with another.
func (d *definition) textIndexOn(pattern []byte) *index {
	at := slices.IndexFunc(d.indexes, func(ix *index) bool { return ix.plugin == "text" })
	if at < 0 {
		return nil
	}
	r := &specReader{index: index{pattern: pattern}}
	r.ofText()
	if weights := query.Lookup(d.indexes[at].raw, "weights"); !query.Equal(query.Of(r.rest[0]), weights) {
		return nil
	}
	return d.indexes[at]
}
