package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/buildInfo/

func cmdBuildInfo(x *call.Call) error {
	v := x.Client.Set.Version
	x.Result.Out = wire.AppendString(x.Result.Out, "version", v.String())
	x.Result.Out = wire.AppendString(x.Result.Out, "gitVersion", "mongotest")
	at, dst := wire.BeginArray(x.Result.Out, "modules")
	dst = wire.EndDocument(dst, at)
	at, dst = wire.BeginArray(dst, "versionArray")
	for i, n := range []int32{v.Major, v.Minor, v.Patch, 0} {
		dst = wire.AppendInt32(dst, wire.ArrayKey(i), n)
	}
	dst = wire.EndDocument(dst, at)
	dst = wire.AppendInt32(dst, "bits", 64)
	dst = wire.AppendBool(dst, "debug", false)
	x.Result.Out = wire.AppendInt32(dst, "maxBsonObjectSize", query.MaxDocumentSize)
	return nil
}
