package mongotest

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// memberConfig is what a replica set's configuration says of a member. Every member knows it at once.
type memberConfig struct {
	id       int64
	priority float64
	hidden   bool
	tags     []byte // nil for none
}

// electable tells whether the member may be elected.
func (m *member) electable() bool { return m.config.priority > 0 && !time.Now().Before(m.frozen) }

// https://www.mongodb.com/docs/manual/reference/command/replSetGetConfig/

func cmdReplSetGetConfig(x *exec) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	rs := x.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if err := x.configuredLocked("no replset config has been received"); err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.out, "config")
	dst = wire.AppendString(dst, "_id", rs.config.setName)
	dst = wire.AppendInt32(dst, "version", int32(rs.configVersion))
	dst = wire.AppendInt64(dst, "term", rs.termLocked())
	list, dst := wire.BeginArray(dst, "members")
	for _, m := range rs.members {
		dst = m.appendConfig(dst)
	}
	dst = wire.EndDocument(dst, list)
	dst = wire.AppendInt64(dst, "protocolVersion", 1)
	dst = wire.AppendBool(dst, "writeConcernMajorityJournalDefault", true)
	settings, dst := wire.BeginEmbedded(dst, "settings")
	dst = wire.AppendInt32(dst, "electionTimeoutMillis", int32(rs.config.electionTimeout.Milliseconds()))
	x.out = wire.EndDocument(wire.EndDocument(dst, settings), at)
	return nil
}

func (m *member) appendConfig(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, wire.ArrayKey(m.index))
	dst = wire.AppendInt32(dst, "_id", int32(m.config.id))
	dst = wire.AppendString(dst, "host", m.addr)
	dst = wire.AppendBool(dst, "arbiterOnly", false)
	dst = wire.AppendBool(dst, "buildIndexes", true)
	dst = wire.AppendBool(dst, "hidden", m.config.hidden)
	dst = wire.AppendDouble(dst, "priority", m.config.priority)
	tags := m.config.tags
	if tags == nil {
		tags = emptyDocument
	}
	dst = wire.AppendDocument(dst, "tags", tags)
	dst = wire.AppendInt64(dst, "secondaryDelaySecs", 0)
	return wire.EndDocument(wire.AppendInt32(dst, "votes", 1), at)
}

// https://www.mongodb.com/docs/manual/reference/command/replSetReconfig/

func cmdReplSetReconfig(x *exec) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	force := false
	for i := range x.args {
		if string(x.args[i].Key) != "force" {
			return unknownField(x.name, string(x.args[i].Key))
		}
		force = x.args[i].True()
	}
	if !x.first.IsDocument() {
		return wrongType(x.name, x.name, x.first.Type, "object")
	}
	if err := valid(x.first.Data); err != nil {
		return err
	}
	rs := x.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if err := x.configuredLocked("Node not yet initialized; use the replSetInitiate command"); err != nil {
		return err
	}
	if x.member.role != primary && !force {
		return failf(codeNotWritablePrimary, "replSetReconfig should only be run on a writable PRIMARY. Current state %s;",
			map[int32]string{1: "PRIMARY", 2: "SECONDARY"}[x.member.state()])
	}
	r := reconfiguration{rs: rs, members: make([]memberConfig, len(rs.members)), seen: make([]bool, len(rs.members))}
	if err := r.read(slices.Clone(x.first.Data), force); err != nil {
		return err
	}
	if r.members[x.member.index].priority == 0 && x.member.role == primary {
		return failf(codeNewConfigIncompatible, "This node, %s, with _id MemberId(%d) is not electable under the new configuration",
			x.member.addr, x.member.config.id)
	}
	rs.configVersion = r.version
	for i, m := range rs.members {
		m.config = r.members[i]
	}
	rs.reconsiderLocked()
	return nil
}

// reconfiguration is a configuration that is being read.
type reconfiguration struct {
	rs      *ReplicaSet
	version int64
	members []memberConfig
	seen    []bool
}

func (r *reconfiguration) read(doc []byte, force bool) error {
	it := wire.Elements(doc)
	for it.Next() {
		if err := r.field(&it.Element); err != nil {
			return err
		}
	}
	switch {
	case it.Err != nil:
		return it.Err
	case force:
		r.version = max(r.version, r.rs.configVersion+1)
	case r.version <= r.rs.configVersion:
		return failf(codeNewConfigIncompatible, "New replica set configuration version must be greater than old, but %d is not greater "+
			"than %d for replica set %s", r.version, r.rs.configVersion, r.rs.config.setName)
	}
	if i := slices.Index(r.seen, false); i >= 0 {
		return failf(codeNotImplemented, "mongotest: a configuration without the member %s is not supported", r.rs.members[i].addr)
	}
	return nil
}

func (r *reconfiguration) field(e *wire.Element) error {
	v := query.Of(*e)
	switch name := string(e.Key); name {
	case "_id":
		if string(v.Text()) != r.rs.config.setName {
			return failf(codeNewConfigIncompatible, "New and old configurations differ in replica set name; old was %s, and new is %s",
				r.rs.config.setName, v.Text())
		}
	case "version":
		r.version, _ = v.Integer()
	case "term", "protocolVersion", "writeConcernMajorityJournalDefault":
	case "members":
		if !v.IsArray() {
			return wrongType("ReplSetConfig", "members", v.Type, "array")
		}
		for _, m := range query.Elements(v.Data) {
			if err := r.member(m.Data); err != nil {
				return err
			}
		}
	case "settings":
		timeout := query.Lookup(v.Data, "electionTimeoutMillis")
		if n, ok := timeout.Integer(); ok && n != r.rs.config.electionTimeout.Milliseconds() {
			return unsupportedField("replSetReconfig", "settings.electionTimeoutMillis")
		}
	default:
		return unknownField("ReplSetConfig", name)
	}
	return nil
}

func (r *reconfiguration) member(doc []byte) error {
	host, id := query.Lookup(doc, "host"), query.Lookup(doc, "_id")
	m := r.rs.memberAtLocked(string(host.Text()))
	if n, ok := id.Integer(); m == nil || !ok || n != m.config.id {
		return failf(codeNotImplemented, "mongotest: the member %s with _id %s is not one of the set's, which is not supported", host, id)
	}
	c := memberConfig{priority: 1}
	it := wire.Elements(doc)
	for it.Next() {
		if err := c.field(&it.Element); err != nil {
			return err
		}
	}
	if c.hidden && c.priority != 0 {
		return failf(codeInvalidReplicaSetConfig, "priority must be 0 when hidden=true")
	}
	r.members[m.index], r.seen[m.index] = c, true
	return it.Err
}

func (c *memberConfig) field(e *wire.Element) error {
	v := query.Of(*e)
	n, _ := v.Integer()
	switch name := string(e.Key); name {
	case "_id":
		c.id = n
	case "host":
	case "priority":
		c.priority = float(v)
		if !v.IsNumber() || c.priority < 0 || c.priority > 1000 {
			return failf(codeInvalidReplicaSetConfig, "priority must be a number between 0 and 1000")
		}
	case "hidden":
		c.hidden = v.True()
	case "tags":
		if c.tags = e.Document(); c.tags == nil {
			return wrongType("MemberConfig", "tags", v.Type, "object")
		}
		if len(c.tags) == len(emptyDocument) {
			c.tags = nil
		}
	case "votes":
		if n != 1 {
			return unsupportedField("replSetReconfig", "votes: 0")
		}
	case "arbiterOnly", "secondaryDelaySecs", "slaveDelay":
		if v.True() {
			return unsupportedField("replSetReconfig", name)
		}
	case "buildIndexes":
		if !v.True() {
			return unsupportedField("replSetReconfig", "buildIndexes: false")
		}
	case "horizons":
		if v.Type != bson.TypeEmbeddedDocument || len(v.Data) > len(emptyDocument) {
			return unsupportedField("replSetReconfig", name)
		}
	default:
		return unknownField("MemberConfig", name)
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/replSetFreeze/

func cmdReplSetFreeze(x *exec) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	if err := x.noArgs(); err != nil {
		return err
	}
	seconds, ok := x.first.Integer()
	if !ok || seconds < 0 {
		return failf(codeBadValue, "replSetFreeze must be called with a number of seconds that is not negative")
	}
	rs, m := x.set, x.member
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if m.role == primary {
		return failf(codeNotSecondary, "cannot freeze node when primary or running for election. state: Primary")
	}
	m.frozen = time.Now().Add(time.Duration(seconds) * time.Second)
	if seconds == 0 {
		m.frozen = time.Time{}
		x.out = wire.AppendString(x.out, "info", "unfreezing")
	}
	return nil
}
