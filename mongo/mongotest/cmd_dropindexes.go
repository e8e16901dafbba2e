package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/dropIndexes/

func cmdDropIndexes(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var wanted query.Value
	for i := range x.args {
		if string(x.args[i].Key) != "index" {
			return unknownField("dropIndexes", string(x.args[i].Key))
		}
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
			return failf(codeNamespaceNotFound, "ns not found %s", x.full)
		}
		was = len(c.def.indexes)
		gone, err := c.def.chosen(wanted)
		if err != nil || len(gone) == 0 {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(c.def.indexes), func(ix *index) bool { return slices.Contains(gone, ix) })
		return x.appendLocked(&entry{kind: alter, ns: x.full, change: &change{before: c.def, after: c.def.with(left)}}, -1, note)
	})
	if err != nil {
		note.Err = commandError(err).Code
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
	case v.Missing():
		return failf(codeMissingField, "BSON field 'dropIndexes.index' is missing but a required field")
	case v.IsArray():
		for i, name := range query.Elements(v.Data) {
			if name.Type != bson.TypeString {
				return wrongType("dropIndexes", "index."+wire.ArrayKey(i), name.Type, "string")
			}
		}
	case v.Type != bson.TypeString && !v.IsDocument():
		return failf(codeTypeMismatch, "BSON field 'dropIndexes.index' is the wrong type '%s', expected types '[string, object]'",
			query.TypeName(v.Type))
	}
	return nil
}

// isStar tells whether all indexes are meant.
func isStar(v query.Value) bool {
	if v.IsArray() {
		list := query.Elements(v.Data)
		return len(list) == 1 && isStar(list[0])
	}
	return string(v.Text()) == "*"
}

// chosen returns the indexes that a name, a key pattern or several names stand for.
func (d *definition) chosen(v query.Value) ([]*index, error) {
	var list []*index
	switch {
	case isStar(v):
		return d.indexes[1:], nil
	case v.IsDocument():
		if list = d.patterned(v.Data); len(list) == 0 {
			if ix := d.textIndexOn(v.Data); ix != nil {
				return []*index{ix}, nil
			}
			return nil, failf(codeIndexNotFound, "can't find index with key: %s", documentText(v.Data))
		}
		if len(list) > 1 {
			return nil, failf(codeAmbiguousIndexKeyPattern, "%d indexes found for key: %s, identify by name instead. Conflicting "+
				"indexes: %s", len(list), documentText(v.Data), indexTexts(list))
		}
	case v.IsArray():
		for _, name := range query.Elements(v.Data) {
			ix, err := d.byName(string(name.Text()))
			if err != nil {
				return nil, err
			}
			list = append(list, ix)
		}
	default:
		ix, err := d.byName(string(v.Text()))
		if err != nil {
			return nil, err
		}
		list = []*index{ix}
	}
	if slices.Contains(list, idIndex) {
		return nil, failf(codeInvalidOptions, "cannot drop _id index")
	}
	return list, nil
}

func (d *definition) byName(name string) (*index, error) {
	ix := d.named(name)
	if ix == nil {
		return nil, failf(codeIndexNotFound, "index not found with name [%s]", name)
	}
	return ix, nil
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
