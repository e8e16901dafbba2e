package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/top/

func cmdTop(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	if err := x.noArgs(); err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.result.out, "totals")
	dst = wire.AppendString(dst, "note", "all times in microseconds")
	x.client.set.Lock()
	namespaces := x.client.member.namespacesLocked("")
	x.client.set.Unlock()
	for _, ns := range namespaces {
		if used, ok := x.client.member.usage.byNamespace.Load(ns); ok {
			dst = used.(*namespaceUsage).append(dst, ns)
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

func (used *namespaceUsage) append(dst []byte, ns string) []byte {
	at, dst := wire.BeginEmbedded(dst, ns)
	for kind, name := range usageNames {
		one, d := wire.BeginEmbedded(dst, name)
		d = wire.AppendInt64(d, "time", used[kind].nanoseconds.Load()/1000)
		d = wire.AppendInt64(d, "count", used[kind].count.Load())
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}
