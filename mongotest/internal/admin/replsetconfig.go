package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetGetConfig/

func cmdReplSetGetConfig(x *call.Call) error {
	if err := OfSet(x); err != nil {
		return err
	}
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		if err := configured(x, "no replset config has been received"); err != nil {
			return err
		}
		at, dst := wire.BeginEmbedded(x.Result.Out, "config")
		dst = wire.AppendString(dst, "_id", rs.SetName)
		dst = wire.AppendInt32(dst, "version", int32(rs.Set.ConfigVersion))
		dst = wire.AppendInt64(dst, "term", rs.Set.TermLocked())
		list, dst := wire.BeginArray(dst, "members")
		n := 0
		for _, m := range rs.Members {
			if !m.Config.Removed {
				dst = appendConfig(m, dst, wire.ArrayKey(n))
				n++
			}
		}
		dst = wire.EndDocument(dst, list)
		dst = wire.AppendInt64(dst, "protocolVersion", 1)
		dst = wire.AppendBool(dst, "writeConcernMajorityJournalDefault", true)
		x.Result.Out = wire.EndDocument(appendSettings(rs, dst), at)
		return nil
	})
}

func appendConfig(m *call.Member, dst []byte, key string) []byte {
	c := &m.Config
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendInt32(dst, "_id", int32(c.ID))
	dst = wire.AppendString(dst, "host", m.Addr)
	dst = wire.AppendBool(dst, "arbiterOnly", c.Arbiter)
	dst = wire.AppendBool(dst, "buildIndexes", true)
	dst = wire.AppendBool(dst, "hidden", c.Hidden)
	dst = wire.AppendDouble(dst, "priority", c.Priority)
	tags := c.Tags
	if tags == nil {
		tags = query.EmptyDocument
	}
	dst = wire.AppendDocument(dst, "tags", tags)
	dst = wire.AppendInt64(dst, m.Set.Version.DelayField(), int64(c.Delay.Seconds()))
	return wire.EndDocument(wire.AppendInt32(dst, "votes", int32(c.Votes)), at)
}

func appendSettings(rs *call.Cluster, dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "settings")
	for _, s := range fixedSettings {
		if s.name == "chainingAllowed" {
			dst = wire.AppendBool(dst, s.name, s.value == 1)
		} else {
			dst = wire.AppendInt32(dst, s.name, s.value)
		}
	}
	dst = wire.AppendInt32(dst, "electionTimeoutMillis", int32(rs.Set.ElectionTimeout.Milliseconds()))
	dst = rs.Set.Modes.Append(dst)
	defaults, dst := wire.BeginEmbedded(dst, "getLastErrorDefaults")
	dst = wire.AppendInt32(wire.AppendInt32(dst, "w", 1), "wtimeout", 0)
	return wire.EndDocument(wire.EndDocument(dst, defaults), at)
}

// fixedSettings are those that this server does not let change.
var fixedSettings = []struct {
	name  string
	value int32
}{
	{"chainingAllowed", 1},
	{"heartbeatIntervalMillis", 2000},
	{"heartbeatTimeoutSecs", 10},
	{"catchUpTimeoutMillis", -1},
	{"catchUpTakeoverDelayMillis", 30000},
}
