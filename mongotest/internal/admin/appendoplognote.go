package admin

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

func cmdAppendOplogNote(x *call.Call) error {
	if err := OfSet(x); err != nil {
		return err
	}
	var data []byte
	for i := range x.Command.Args {
		if string(x.Command.Args[i].Key) != "data" {
			return fields.Unknown(x.Command.Name, string(x.Command.Args[i].Key))
		}
		if data = slices.Clone(x.Command.Args[i].Document()); data == nil {
			return fields.WrongType(x.Command.Name, "data", x.Command.Args[i].Type, "object")
		}
	}
	if data == nil {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'appendOplogNote.data' is missing but a required field")
	}
	note := x.Note(0, nil)
	return x.Writing(func(x call.Locked) error {
		return x.Append(&store.Entry{Op: store.Noop, After: data}, -1, note)
	})
}
