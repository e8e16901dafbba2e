package command

import (
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Stage implements pipeline.Source: the stages that describe the server.
func (s *source) Stage(db, coll, name string, spec query.Value) ([][]byte, error) {
	return call.WithLockValue(s.x, func(x call.Locked) ([][]byte, error) { return stage(x, db, coll, name, spec) })
}

func stage(x call.Locked, db, coll, name string, spec query.Value) ([][]byte, error) {
	switch name {
	case "$collStats":
		return collStats(x, db+"."+coll, spec)
	case "$indexStats":
		return indexStats(x, db+"."+coll)
	case "$planCacheStats":
		return nil, plans(x, db+"."+coll)
	case "$currentOp":
		return operations(x, spec), nil
	case "$listLocalSessions":
		return localSessions(x), nil
	}
	return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the stage '%s' is not supported", name)
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/planCacheStats/

// plans refuses to tell of the plans of a collection that is not there. No plans are cached.
func plans(x call.Locked, ns string) error {
	if c, err := x.Collection(ns); c != nil || err != nil {
		return err
	}
	return mongoerr.Errorf(50933, "collection '%s' does not exist", ns)
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/collStats/

func collStats(x call.Locked, ns string, spec query.Value) ([][]byte, error) {
	c, err := x.Collection(ns)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if err := noStats(ns, spec); err != nil {
			return nil, err
		}
	}
	whole, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "ns", ns)
	dst = wire.AppendString(dst, "host", x.Client.Member.Addr)
	dst = wire.AppendDateTime(dst, "localTime", time.Now().UnixMilli())
	it := wire.Elements(spec.Data)
	for it.Next() {
		if it.Type == bson.TypeNull {
			continue // as good as no option
		}
		switch option := string(it.Key); option {
		case "storageStats":
			at, d := wire.BeginEmbedded(dst, option)
			scale := int64(1)
			if v := query.Lookup(it.Value, "scale"); v.IsNumber() {
				scale = int64(v.Clamped32())
			}
			dst = wire.EndDocument(appendCollStats(d, c, scale), at)
		case "count":
			dst = query.AppendSmallest(dst, "count", int64(c.Live))
		default:
			return nil, fields.Unsupported("$collStats", option)
		}
	}
	return [][]byte{wire.EndDocument(dst, whole)}, nil
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

// indexStats describes the indexes, and tells how many operations have used each.
func indexStats(x call.Locked, ns string) ([][]byte, error) {
	c, err := x.Collection(ns)
	if c == nil {
		return nil, err
	}
	var docs [][]byte
	for _, ix := range c.Def.Indexes {
		use := c.UseOf(ix)
		whole, dst := wire.BeginDocument(nil)
		dst = wire.AppendString(dst, "name", ix.Name)
		dst = wire.AppendDocument(dst, "key", ix.Pattern)
		dst = wire.AppendString(dst, "host", x.Client.Member.Addr)
		at, dst := wire.BeginEmbedded(dst, "accesses")
		dst = wire.AppendDateTime(wire.AppendInt64(dst, "ops", use.Count), "since", use.Since.UnixMilli())
		dst = wire.EndDocument(dst, at)
		dst = wire.AppendDocument(dst, "spec", ix.Raw)
		docs = append(docs, wire.EndDocument(dst, whole))
	}
	return docs, nil
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/listLocalSessions/

// localSessions returns the sessions that have written, and the command's own.
func localSessions(x call.Locked) [][]byte {
	known := make(map[string]bool)
	for lsid := range x.Client.Member.Data.Sessions {
		known[lsid] = true
	}
	if x.Command.LSID != nil {
		known[string(x.Command.LSID)] = true
	}
	var docs [][]byte
	for _, lsid := range slices.Sorted(maps.Keys(known)) {
		whole, dst := wire.BeginDocument(nil)
		dst = appendSessionID(dst, "_id", lsid)
		docs = append(docs, wire.EndDocument(wire.AppendDateTime(dst, "lastUse", time.Now().UnixMilli()), whole))
	}
	return docs
}
