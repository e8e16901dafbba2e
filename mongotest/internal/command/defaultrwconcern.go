package command

import (
	"bytes"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// https://www.mongodb.com/docs/manual/reference/command/getDefaultRWConcern/

func cmdGetDefaultRWConcern(x *call.Call) error {
	if err := keepsDefaults(x); err != nil {
		return err
	}
	appendDefaults(x)
	if x.Arg("inMemory").True() {
		x.Result.Out = wire.AppendBool(x.Result.Out, "inMemory", true)
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/setDefaultRWConcern/

func cmdSetDefaultRWConcern(x *call.Call) error {
	if err := keepsDefaults(x); err != nil {
		return err
	}
	read, write := x.Arg(call.ReadDefault), x.Arg(call.WriteDefault)
	if read.Missing() && write.Missing() {
		return mongoerr.Errorf(mongoerr.BadValue, "At least one of the \"%s\" or \"%s\" fields must be present", call.ReadDefault, call.WriteDefault)
	}
	var asked call.Defaults
	var concern writeconcern.Concern
	var err error
	if asked.Read, err = defaultRead(read.Data); err == nil {
		asked.Write, err = concern.AsDefault(write.Data, x.Client.Set.Version)
	}
	if err != nil {
		return err
	}
	err = x.Writing(func(x call.Locked) error {
		if refused := x.Unsatisfiable(&concern); asked.Write != nil && refused != nil {
			return refused
		}
		return setDefaults(x, asked, !read.Missing(), !write.Missing())
	})
	if err == nil {
		x.Client.Cluster.Defaulted.Store(true)
		appendDefaults(x)
	}
	return err
}

// setDefaults writes new defaults, those of the old ones that are not to be changed among them.
func setDefaults(x call.Locked, d call.Defaults, read, write bool) error {
	before := x.Defaults()
	if !read {
		d.Read = before.Read
	}
	switch {
	case !write:
		d.Write = before.Write
	case d.Write == nil && before.Write != nil && x.Client.Set.Version.AtLeast(5, 0):
		return mongoerr.Errorf(mongoerr.IllegalOperation, "The global default write concern cannot be unset once it is set.")
	}
	d.At, d.Wall = x.Client.Member.Data.Newest(), time.Now().UnixMilli()
	return keep(x, d)
}

// keepsDefaults returns why the server has no defaults, nil if it has.
func keepsDefaults(x *call.Call) error {
	switch {
	case x.Client.Set.Standalone:
		return mongoerr.Errorf(51300, "'%s' is not supported on standalone nodes.", x.Command.Name)
	case x.Client.Cluster.Sharded && x.Client.Router == nil:
		return mongoerr.Errorf(51301, "'%s' is not supported on shard nodes.", x.Command.Name)
	}
	return x.AdminOnly()
}

// defaultRead returns the read concern that may be the default, nil if it is to be none.
func defaultRead(doc []byte) ([]byte, error) {
	if len(doc) <= len(query.EmptyDocument) {
		return nil, nil
	}
	var c call.Command
	if err := c.ParseReadConcern(&wire.Element{Type: bson.TypeEmbeddedDocument, Value: doc}); err != nil {
		return nil, err
	}
	for _, name := range [...]string{"afterClusterTime", "atClusterTime"} {
		if call.Has(doc, name) {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "'%s' is not suitable for the default read concern", name)
		}
	}
	switch {
	case c.ReadConcern == call.LinearizableConcern || c.ReadConcern == call.SnapshotConcern:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "level: '%s' is not suitable for the default read concern", c.ReadConcern)
	case call.Has(doc, "provenance"):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "'provenance' must be unset in default read concern")
	}
	return bytes.Clone(doc), nil
}

// keep writes the defaults to where the set keeps them.
func keep(x call.Locked, d call.Defaults) error {
	_, dst := wire.BeginDocument(nil)
	doc, key, err := store.Prepared(d.Append(wire.AppendString(dst, "_id", call.DefaultsID)))
	if err != nil {
		return err
	}
	e := &store.Entry{Op: store.Put, NS: call.SettingsNamespace, Key: key, Before: x.Setting(key), After: doc, Whole: true}
	return x.Append(e, -1, nil)
}

// appendDefaults writes the defaults into the reply, since 5.0 with those that nobody has set.
func appendDefaults(x *call.Call) {
	majority := false
	d := call.WithLock(x, func(x call.Locked) call.Defaults {
		majority = x.Client.Set.MajorityByDefault
		return x.Defaults()
	})
	local, readFrom, writeFrom := d.Wall, "global", "global"
	if d.At == 0 {
		local = time.Now().UnixMilli()
	}
	sources := x.Client.Set.Version.AtLeast(5, 0)
	if d.Read == nil && sources {
		_, dst := wire.BeginDocument(nil)
		d.Read, readFrom = wire.EndDocument(wire.AppendString(dst, "level", "local"), 0), "implicit"
	}
	if d.Write == nil {
		writeFrom = "implicit"
	}
	if d.Write == nil && majority {
		_, dst := wire.BeginDocument(nil)
		dst = wire.AppendInt32((&writeconcern.Concern{}).AppendW(dst), "wtimeout", 0)
		d.Write = wire.EndDocument(dst, 0)
	}
	_, dst := wire.BeginDocument(nil)
	whole := d.Append(dst)
	x.Result.Out = append(x.Result.Out, whole[4:len(whole)-1]...)
	if sources {
		x.Result.Out = wire.AppendString(x.Result.Out, "defaultWriteConcernSource", writeFrom)
		x.Result.Out = wire.AppendString(x.Result.Out, "defaultReadConcernSource", readFrom)
	}
	x.Result.Out = wire.AppendDateTime(x.Result.Out, "localUpdateWallClockTime", local)
}
