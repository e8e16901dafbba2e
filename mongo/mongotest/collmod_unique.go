package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/collMod/#change-index-properties

var trueValue = query.Value{Type: bson.TypeBoolean, Data: []byte{1}}

// prepare begins or ends that an index takes no further duplicates.
func (im *indexModification) prepare(x *exec, ix, changed *index) error {
	if im.prepared.Missing() || im.prepared.True() == ix.prepared {
		return nil
	}
	if ix == idIndex || ix.unique || !ix.ordered() {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "mongotest: prepareUnique is supported for single and compound indexes that are not unique")
	}
	x.out = wire.AppendBool(x.out, "prepareUnique_old", ix.prepared)
	x.out = wire.AppendBool(x.out, "prepareUnique_new", !ix.prepared)
	changed.prepared = !ix.prepared
	value := query.Value{}
	if changed.prepared {
		value = trueValue
	}
	changed.raw = replaced(changed.raw, "prepareUnique", value)
	return nil
}

// makeUnique makes an index unique that takes no further duplicates and has none.
func (im *indexModification) makeUnique(x *exec, ix, changed *index) error {
	switch {
	case im.unique.Missing() || ix.unique:
		return nil
	case !im.unique.True():
		return mongoerr.Errorf(mongoerr.BadValue, "'Unique: false' is not supported")
	case !ix.prepared && !changed.prepared:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot make index unique with 'collMod' before it is set to 'prepareUnique'")
	}
	if violations := x.member.collections[x.full].violations(ix); violations != nil {
		e := mongoerr.Errorf(mongoerr.CannotConvertIndexToUnique, "Cannot convert the index to unique. Please resolve conflicting documents before running "+
			"collMod again.")
		e.Extra = violations
		return e
	}
	x.out = wire.AppendBool(x.out, "unique_new", true)
	changed.unique, changed.prepared = true, false
	changed.raw = replaced(replaced(changed.raw, "prepareUnique", query.Value{}), "unique", trueValue)
	return nil
}

// violations returns which documents have the same key in an index, as an element of a reply; nil if none have.
func (c *collection) violations(ix *index) []byte {
	groups, order := make(map[string][]query.Value), []string(nil)
	c.scan(func(r *record) bool {
		keys, _ := ix.keys(r.doc)
		for _, k := range keys {
			at := k.encode()
			if groups[at] == nil {
				order = append(order, at)
			}
			groups[at] = append(groups[at], query.Lookup(r.doc, "_id"))
		}
		return true
	})
	order = slices.DeleteFunc(order, func(at string) bool { return len(groups[at]) < 2 })
	if len(order) == 0 {
		return nil
	}
	list, dst := wire.BeginArray(nil, "violations")
	for i, at := range order {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		dst = wire.EndDocument(appendValues(d, "ids", groups[at]), one)
	}
	return wire.EndDocument(dst, list)
}
