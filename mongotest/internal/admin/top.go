package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// https://www.mongodb.com/docs/manual/reference/command/top/

func cmdTop(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	if err := x.NoArgs(); err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.Result.Out, "totals")
	dst = wire.AppendString(dst, "note", "all times in microseconds")
	namespaces := call.WithLock(x, func(x call.Locked) []string { return x.Namespaces("") })
	for _, ns := range namespaces {
		if used, ok := x.Client.Member.Usage.ByNamespace.Load(ns); ok {
			dst = appendUsage(used.(*call.NamespaceUsage), dst, ns)
		}
	}
	x.Result.Out = wire.EndDocument(dst, at)
	return nil
}

func appendUsage(used *call.NamespaceUsage, dst []byte, ns string) []byte {
	at, dst := wire.BeginEmbedded(dst, ns)
	for kind, name := range call.UsageNames {
		one, d := wire.BeginEmbedded(dst, name)
		d = wire.AppendInt64(d, "time", used[kind].Nanoseconds.Load()/1000)
		d = wire.AppendInt64(d, "count", used[kind].Count.Load())
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}
