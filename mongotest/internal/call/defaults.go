package call

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// The document of the default concerns, and its fields.
const (
	SettingsNamespace = "config.settings"
	DefaultsID        = "ReadWriteConcernDefaults"
	ReadDefault       = "defaultReadConcern"
	WriteDefault      = "defaultWriteConcern"
)

// Defaults are the concerns of commands that say none, nil if they have not been set. They are a document of the set's data.
type Defaults struct {
	Read, Write []byte
	At          store.Timestamp // when they were set, 0 for never
	Wall        int64
}

// Defaults returns the defaults that the member knows of.
func (x Locked) Defaults() Defaults {
	doc := x.Setting(defaultsKey)
	at, wall := query.Lookup(doc, "updateOpTime"), query.Lookup(doc, "updateWallClockTime")
	if at.Type != bson.TypeTimestamp || wall.Type != bson.TypeDateTime {
		return Defaults{}
	}
	return Defaults{
		query.Lookup(doc, ReadDefault).Data, query.Lookup(doc, WriteDefault).Data,
		store.Timestamp(binary.LittleEndian.Uint64(at.Data)), int64(binary.LittleEndian.Uint64(wall.Data)),
	}
}

// defaultsKey is the key of the document that has the defaults.
var defaultsKey = newDefaultsKey()

func newDefaultsKey() string {
	at, doc := wire.BeginDocument(nil)
	return string(query.AppendKey(nil, query.Lookup(wire.EndDocument(wire.AppendString(doc, "_id", DefaultsID), at), "_id")))
}

// Setting returns the document of the set's own settings that has a key, nil if there is none.
func (x Locked) Setting(key string) []byte {
	c := x.Client.Member.Data.Collections[SettingsNamespace]
	if c == nil {
		return nil
	}
	return c.Document(key)
}

// Append writes the defaults behind the fields that a document has.
func (d Defaults) Append(dst []byte) []byte {
	if d.Read != nil {
		dst = wire.AppendDocument(dst, ReadDefault, d.Read)
	}
	if d.Write != nil {
		dst = wire.AppendDocument(dst, WriteDefault, d.Write)
	}
	if d.At != 0 {
		dst = wire.AppendTimestamp(dst, "updateOpTime", d.At.Seconds(), d.At.Increment())
		dst = wire.AppendDateTime(dst, "updateWallClockTime", d.Wall)
	}
	return wire.EndDocument(dst, 0)
}

// CheckDefault refuses the names of write concerns among which the default one is missing.
func (x Locked) CheckDefault(modes setconfig.Modes) error {
	var w writeconcern.Concern
	_ = w.Parse(x.Defaults().Write, x.Client.Set.Version) // it was checked when it was set
	return w.CheckName(modes)
}

// applyDefaults gives a command that says no concern of its own those that were set. Within a transaction only its end has
// one; of the levels that may be a default only majority is another than none.
func applyDefaults(x *Call) {
	if !x.Client.Cluster.Defaulted.Load() || x.Client.Member == nil || x.InTransaction() && !x.Command.Spec.Ends {
		return
	}
	d := WithLock(x, Locked.Defaults)
	if x.Command.Spec.Linearizes && x.Command.ReadConcern == "" && !watching(x) && string(query.Lookup(d.Read, "level").Text()) == MajorityConcern {
		x.Command.ReadConcern = MajorityConcern
	}
	if !x.Command.Spec.Write || x.Command.writeConcern.Given || d.Write == nil {
		return
	}
	given := x.Command.writeConcern
	if err := x.Command.writeConcern.Parse(d.Write, x.Client.Set.Version); err != nil || given.Present {
		x.Command.writeConcern.Timeout = given.Timeout
		return
	}
	x.Command.writeConcern.Custom = true
}
