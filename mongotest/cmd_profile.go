package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
)

func cmdProfile(x *call) error {
	level, ok := x.command.first.Integer()
	switch {
	case !ok:
		return fields.WrongType("profile", "profile", x.command.first.Type, "int")
	case level > 0:
		return fields.Unsupported("profile", "profile: 1 and 2")
	}
	for i := range x.command.args {
		switch name := string(x.command.args[i].Key); name {
		case "slowms", "sampleRate":
		case "filter":
			return fields.Unsupported("profile", name)
		default:
			return fields.Unknown("profile", name)
		}
	}
	x.result.out = wire.AppendInt32(x.result.out, "was", 0)
	x.result.out = wire.AppendInt32(x.result.out, "slowms", 100)
	x.result.out = wire.AppendDouble(x.result.out, "sampleRate", 1)
	return nil
}
