package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/collMod/#change-index-properties

var trueValue = query.Value{Type: bson.TypeBoolean, Data: []byte{1}}

// prepare begins or ends that an index takes no further duplicates.
func (im *indexModification) prepare(x *call.Call, ix, changed *store.Index) error {
	if im.prepared.Missing() || im.prepared.True() == ix.Prepared {
		return nil
	}
	if ix.OfID || ix.Unique || !ix.Ordered() {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "mongotest: prepareUnique is supported for single and compound indexes that are not unique")
	}
	x.Result.Out = wire.AppendBool(x.Result.Out, "prepareUnique_old", ix.Prepared)
	x.Result.Out = wire.AppendBool(x.Result.Out, "prepareUnique_new", !ix.Prepared)
	changed.Prepared = !ix.Prepared
	value := query.Value{}
	if changed.Prepared {
		value = trueValue
	}
	changed.Raw = replaced(changed.Raw, "prepareUnique", value)
	return nil
}

// makeUnique makes an index unique that takes no further duplicates and has none.
func (im *indexModification) makeUnique(x *call.Call, ix, changed *store.Index) error {
	switch {
	case im.unique.Missing() || ix.Unique:
		return nil
	case !im.unique.True():
		return mongoerr.Errorf(mongoerr.BadValue, "'Unique: false' is not supported")
	case !ix.Prepared && !changed.Prepared:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot make index unique with 'collMod' before it is set to 'prepareUnique'")
	}
	if violations := x.Client.Member.Data.Collections[x.Command.Full].Violations(ix); violations != nil {
		e := mongoerr.Errorf(mongoerr.CannotConvertIndexToUnique,
			"Cannot convert the index to unique. Please resolve conflicting documents before running "+
				"collMod again.")
		e.Extra = violations
		return e
	}
	x.Result.Out = wire.AppendBool(x.Result.Out, "unique_new", true)
	changed.Unique, changed.Prepared = true, false
	changed.Raw = replaced(replaced(changed.Raw, "prepareUnique", query.Value{}), "unique", trueValue)
	return nil
}
