package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

func cmdAppendOplogNote(x *call) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	var data []byte
	for i := range x.command.args {
		if string(x.command.args[i].Key) != "data" {
			return fields.Unknown(x.command.name, string(x.command.args[i].Key))
		}
		if data = slices.Clone(x.command.args[i].Document()); data == nil {
			return fields.WrongType(x.command.name, "data", x.command.args[i].Type, "object")
		}
	}
	if data == nil {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'appendOplogNote.data' is missing but a required field")
	}
	note := x.note(0, nil)
	return x.writing(func() error {
		return x.appendLocked(&store.Entry{Kind: store.Noop, After: data}, -1, note)
	})
}
