package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
)

func cmdProfile(x *call.Call) error {
	level, ok := x.Command.First.Integer()
	switch {
	case !ok:
		return fields.WrongType("profile", "profile", x.Command.First.Type, "int")
	case level > 0:
		return fields.Unsupported("profile", "profile: 1 and 2")
	}
	for i := range x.Command.Args {
		switch name := string(x.Command.Args[i].Key); name {
		case "slowms", "sampleRate":
		case "filter":
			return fields.Unsupported("profile", name)
		default:
			return fields.Unknown("profile", name)
		}
	}
	x.Result.Out = wire.AppendInt32(x.Result.Out, "was", 0)
	x.Result.Out = wire.AppendInt32(x.Result.Out, "slowms", 100)
	x.Result.Out = wire.AppendDouble(x.Result.Out, "sampleRate", 1)
	return nil
}
