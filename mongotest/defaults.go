package mongotest

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

const (
	settingsNamespace = "config.settings"
	defaultsID        = "ReadWriteConcernDefaults"
	readDefault       = "defaultReadConcern"
	writeDefault      = "defaultWriteConcern"
)

// defaults are the concerns of commands that say none, nil if they have not been set. They are a document of the set's data.
type defaults struct {
	read, write []byte
	at          store.Timestamp // when they were set, 0 for never
	wall        int64
}

// defaultsLocked returns the defaults that the member knows of.
func (m *member) defaultsLocked() defaults {
	doc := m.settingLocked(defaultsKey)
	at, wall := query.Lookup(doc, "updateOpTime"), query.Lookup(doc, "updateWallClockTime")
	if at.Type != bson.TypeTimestamp || wall.Type != bson.TypeDateTime {
		return defaults{}
	}
	return defaults{
		query.Lookup(doc, readDefault).Data, query.Lookup(doc, writeDefault).Data,
		store.Timestamp(binary.LittleEndian.Uint64(at.Data)), int64(binary.LittleEndian.Uint64(wall.Data)),
	}
}

// defaultsKey is the key of the document that has the defaults.
var defaultsKey = newDefaultsKey()

func newDefaultsKey() string {
	at, doc := wire.BeginDocument(nil)
	return string(query.AppendKey(nil, query.Lookup(wire.EndDocument(wire.AppendString(doc, "_id", defaultsID), at), "_id")))
}

// settingLocked returns the document of the set's own settings that has a key, nil if there is none.
func (m *member) settingLocked(key string) []byte {
	c := m.Data.Collections[settingsNamespace]
	if c == nil {
		return nil
	}
	return c.Document(key)
}

// append writes the defaults behind the fields that a document has.
func (d defaults) append(dst []byte) []byte {
	if d.read != nil {
		dst = wire.AppendDocument(dst, readDefault, d.read)
	}
	if d.write != nil {
		dst = wire.AppendDocument(dst, writeDefault, d.write)
	}
	if d.at != 0 {
		dst = wire.AppendTimestamp(dst, "updateOpTime", d.at.Seconds(), d.at.Increment())
		dst = wire.AppendDateTime(dst, "updateWallClockTime", d.wall)
	}
	return wire.EndDocument(dst, 0)
}

// checkDefaultLocked refuses the names of write concerns among which the default one is missing.
func (m *member) checkDefaultLocked(modes setconfig.Modes) error {
	var w writeconcern.Concern
	_ = w.Parse(m.defaultsLocked().write, m.Set.Version) // it was checked when it was set
	return w.CheckName(modes)
}

// applyDefaults gives a command that says no concern of its own those that were set. Within a transaction only its end has
// one; of the levels that may be a default only majority is another than none.
func (x *call) applyDefaults() {
	if !x.client.cluster.defaulted.Load() || x.client.member == nil || x.inTransaction() && !x.command.spec.ends {
		return
	}
	x.client.set.Lock()
	d := x.client.member.defaultsLocked()
	x.client.set.Unlock()
	if x.command.spec.linearizes && x.command.readConcern == "" && !x.watching() && string(query.Lookup(d.read, "level").Text()) == majorityConcern {
		x.command.readConcern = majorityConcern
	}
	if !x.command.spec.write || x.command.writeConcern.Given || d.write == nil {
		return
	}
	given := x.command.writeConcern
	if err := x.command.writeConcern.Parse(d.write, x.client.set.Version); err != nil || given.Present {
		x.command.writeConcern.Timeout = given.Timeout
		return
	}
	x.command.writeConcern.Custom = true
}
