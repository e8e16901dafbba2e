package mongotest

import (
	"bytes"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// https://www.mongodb.com/docs/manual/reference/command/getDefaultRWConcern/

func cmdGetDefaultRWConcern(x *call) error {
	if err := x.keepsDefaults(); err != nil {
		return err
	}
	x.appendDefaults()
	if x.arg("inMemory").True() {
		x.result.out = wire.AppendBool(x.result.out, "inMemory", true)
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/setDefaultRWConcern/

func cmdSetDefaultRWConcern(x *call) error {
	if err := x.keepsDefaults(); err != nil {
		return err
	}
	read, write := x.arg(readDefault), x.arg(writeDefault)
	if read.Missing() && write.Missing() {
		return mongoerr.Errorf(mongoerr.BadValue, "At least one of the \"%s\" or \"%s\" fields must be present", readDefault, writeDefault)
	}
	var asked defaults
	var concern writeconcern.Concern
	var err error
	if asked.read, err = defaultRead(read.Data); err == nil {
		asked.write, err = concern.AsDefault(write.Data, x.client.set.Version)
	}
	if err != nil {
		return err
	}
	err = x.writing(func() error {
		if refused := x.unsatisfiableLocked(&concern); asked.write != nil && refused != nil {
			return refused
		}
		return x.setDefaultsLocked(asked, !read.Missing(), !write.Missing())
	})
	if err == nil {
		x.client.cluster.defaulted.Store(true)
		x.appendDefaults()
	}
	return err
}

// setDefaultsLocked writes new defaults, those of the old ones that are not to be changed among them.
func (x *call) setDefaultsLocked(d defaults, read, write bool) error {
	before := x.client.member.defaultsLocked()
	if !read {
		d.read = before.read
	}
	switch {
	case !write:
		d.write = before.write
	case d.write == nil && before.write != nil && x.client.set.Version.AtLeast(5, 0):
		return mongoerr.Errorf(mongoerr.IllegalOperation, "The global default write concern cannot be unset once it is set.")
	}
	d.at, d.wall = x.client.member.Data.Newest(), time.Now().UnixMilli()
	return x.keepLocked(d)
}

// keepsDefaults returns why the server has no defaults, nil if it has.
func (x *call) keepsDefaults() error {
	switch {
	case x.client.set.Standalone:
		return mongoerr.Errorf(51300, "'%s' is not supported on standalone nodes.", x.command.name)
	case x.client.cluster.sharded && x.client.router == nil:
		return mongoerr.Errorf(51301, "'%s' is not supported on shard nodes.", x.command.name)
	}
	return x.adminOnly()
}

// defaultRead returns the read concern that may be the default, nil if it is to be none.
func defaultRead(doc []byte) ([]byte, error) {
	if len(doc) <= len(query.EmptyDocument) {
		return nil, nil
	}
	var c command
	if err := c.parseReadConcern(&wire.Element{Type: bson.TypeEmbeddedDocument, Value: doc}); err != nil {
		return nil, err
	}
	for _, name := range [...]string{"afterClusterTime", "atClusterTime"} {
		if has(doc, name) {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "'%s' is not suitable for the default read concern", name)
		}
	}
	switch {
	case c.readConcern == linearizableConcern || c.readConcern == snapshotConcern:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "level: '%s' is not suitable for the default read concern", c.readConcern)
	case has(doc, "provenance"):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'provenance' must be unset in default read concern")
	}
	return bytes.Clone(doc), nil
}

// keepLocked writes the defaults to where the set keeps them.
func (x *call) keepLocked(d defaults) error {
	_, dst := wire.BeginDocument(nil)
	doc, key, err := store.Prepared(d.append(wire.AppendString(dst, "_id", defaultsID)))
	if err != nil {
		return err
	}
	e := &store.Entry{Kind: store.Put, NS: settingsNamespace, Key: key, Before: x.client.member.settingLocked(key), After: doc, Whole: true}
	return x.appendLocked(e, -1, nil)
}

// appendDefaults writes the defaults into the reply, since 5.0 with those that nobody has set.
func (x *call) appendDefaults() {
	x.client.set.Lock()
	d, majority := x.client.member.defaultsLocked(), x.client.set.MajorityByDefault
	x.client.set.Unlock()
	local, readFrom, writeFrom := d.wall, "global", "global"
	if d.at == 0 {
		local = time.Now().UnixMilli()
	}
	sources := x.client.set.Version.AtLeast(5, 0)
	if d.read == nil && sources {
		_, dst := wire.BeginDocument(nil)
		d.read, readFrom = wire.EndDocument(wire.AppendString(dst, "level", "local"), 0), "implicit"
	}
	if d.write == nil {
		writeFrom = "implicit"
	}
	if d.write == nil && majority {
		_, dst := wire.BeginDocument(nil)
		dst = wire.AppendInt32((&writeconcern.Concern{}).AppendW(dst), "wtimeout", 0)
		d.write = wire.EndDocument(dst, 0)
	}
	_, dst := wire.BeginDocument(nil)
	whole := d.append(dst)
	x.result.out = append(x.result.out, whole[4:len(whole)-1]...)
	if sources {
		x.result.out = wire.AppendString(x.result.out, "defaultWriteConcernSource", writeFrom)
		x.result.out = wire.AppendString(x.result.out, "defaultReadConcernSource", readFrom)
	}
	x.result.out = wire.AppendDateTime(x.result.out, "localUpdateWallClockTime", local)
}
