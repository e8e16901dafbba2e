package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetGetConfig/

func cmdReplSetGetConfig(x *call) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	if err := x.configuredLocked("no replset config has been received"); err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.result.out, "config")
	dst = wire.AppendString(dst, "_id", rs.setName)
	dst = wire.AppendInt32(dst, "version", int32(rs.set.ConfigVersion))
	dst = wire.AppendInt64(dst, "term", rs.set.TermLocked())
	list, dst := wire.BeginArray(dst, "members")
	n := 0
	for _, m := range rs.members {
		if !m.Config.Removed {
			dst = m.appendConfig(dst, wire.ArrayKey(n))
			n++
		}
	}
	dst = wire.EndDocument(dst, list)
	dst = wire.AppendInt64(dst, "protocolVersion", 1)
	dst = wire.AppendBool(dst, "writeConcernMajorityJournalDefault", true)
	x.result.out = wire.EndDocument(rs.appendSettings(dst), at)
	return nil
}

func (m *member) appendConfig(dst []byte, key string) []byte {
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

func (rs *cluster) appendSettings(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "settings")
	for _, s := range fixedSettings {
		if s.name == "chainingAllowed" {
			dst = wire.AppendBool(dst, s.name, s.value == 1)
		} else {
			dst = wire.AppendInt32(dst, s.name, s.value)
		}
	}
	dst = wire.AppendInt32(dst, "electionTimeoutMillis", int32(rs.set.ElectionTimeout.Milliseconds()))
	dst = rs.set.Modes.Append(dst)
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
