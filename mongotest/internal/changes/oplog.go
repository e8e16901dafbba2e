package changes

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/core/replica-set-oplog/

// oplogVersion is that of the format of the oplog's documents.
const oplogVersion = 2

// OplogDocument returns the document that local.oplog.rs has for an entry of the log. Previous is the entry of the same session and
// transaction number before it, nil for none.
func OplogDocument(v version.Version, e, previous *store.Entry) []byte {
	at, dst := wire.BeginDocument(nil)
	if e.Session != nil {
		dst = wire.AppendDocument(dst, "lsid", []byte(e.Session.LSID))
		dst = wire.AppendInt64(dst, "txnNumber", e.Session.Txn)
	}
	dst = operationOf(v, e).append(dst)
	if e.Session != nil && e.Session.Stmt >= 0 {
		dst = wire.AppendInt32(dst, "stmtId", e.Session.Stmt)
	}
	if e.FromMigrate {
		dst = wire.AppendBool(dst, "fromMigrate", true)
	}
	dst = wire.AppendTimestamp(dst, "ts", e.TS.Seconds(), e.TS.Increment())
	dst = wire.AppendInt64(dst, "t", e.Term)
	if v.HashesOplog() {
		dst = wire.AppendInt64(dst, "h", int64(e.TS)*0x5851f42d4c957f2d)
	}
	dst = wire.AppendInt64(dst, "v", oplogVersion)
	dst = wire.AppendDateTime(dst, "wall", e.Written/int64(time.Millisecond))
	if e.Session != nil {
		dst = appendOpTime(dst, "prevOpTime", previous)
	}
	return wire.EndDocument(dst, at)
}

// appendOpTime writes the place of an entry in the oplog, or that there is none.
func appendOpTime(dst []byte, key string, e *store.Entry) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	if e == nil {
		dst = wire.AppendInt64(wire.AppendTimestamp(dst, "ts", 0, 0), "t", -1)
	} else {
		dst = wire.AppendInt64(wire.AppendTimestamp(dst, "ts", e.TS.Seconds(), e.TS.Increment()), "t", e.Term)
	}
	return wire.EndDocument(dst, at)
}

// oplogOperation is what a document of the oplog says was done.
type oplogOperation struct {
	op, ns string
	ui     store.UUID // zero for none
	o, o2  []byte     // o2 is nil for none
}

func (op *oplogOperation) append(dst []byte) []byte {
	dst = wire.AppendString(wire.AppendString(dst, "op", op.op), "ns", op.ns)
	if op.ui != (store.UUID{}) {
		dst = wire.AppendBinary(dst, "ui", bson.TypeBinaryUUID, op.ui[:])
	}
	dst = wire.AppendDocument(dst, "o", op.o)
	if op.o2 != nil {
		dst = wire.AppendDocument(dst, "o2", op.o2)
	}
	return dst
}

func operationOf(v version.Version, e *store.Entry) *oplogOperation {
	switch {
	case e.Op == store.Group:
		return &oplogOperation{op: "c", ns: "admin.$cmd", o: applyOps(v, e.Parts)}
	case e.Op == store.Noop:
		return &oplogOperation{op: "n", o: e.Note()}
	case e.View:
		return operationOnView(e)
	case e.Op == store.Put || e.Op == store.Remove:
		return operationOnDocument(v, e)
	}
	db, coll, _ := strings.Cut(e.NS, ".")
	op := &oplogOperation{op: "c", ns: db + ".$cmd", ui: e.Collection}
	op.o, op.o2 = catalogCommand(e, coll)
	return op
}

// applyOps is how a transaction stands in the oplog.
func applyOps(v version.Version, parts []*store.Entry) []byte {
	whole, dst := wire.BeginDocument(nil)
	at, dst := wire.BeginArray(dst, "applyOps")
	for i, part := range parts {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		dst = wire.EndDocument(operationOf(v, part).append(d), one)
	}
	return wire.EndDocument(wire.EndDocument(dst, at), whole)
}

func operationOnDocument(v version.Version, e *store.Entry) *oplogOperation {
	op := &oplogOperation{ns: e.NS, ui: e.Collection, o2: documentKey(e)}
	switch {
	case e.Op == store.Remove:
		op.op, op.o, op.o2 = "d", op.o2, nil
	case e.Before == nil:
		op.op, op.o = "i", e.After
		if !v.HasImages() {
			op.o2 = nil
		}
	case e.Whole:
		op.op, op.o = "u", e.After
	case v.TellsCuts():
		op.op, op.o = "u", diffUpdate(e.Before, e.After)
	default:
		op.op, op.o = "u", setUpdate(e.Before, e.After)
	}
	return op
}

// operationOnView writes a view as what it is for the real server: a document of system.views.
func operationOnView(e *store.Entry) *oplogOperation {
	db, _, _ := strings.Cut(e.NS, ".")
	op := &oplogOperation{op: "i", ns: db + ".system.views"}
	at, key := wire.BeginDocument(nil)
	key = wire.EndDocument(wire.AppendString(key, "_id", e.NS), at)
	if e.Op == store.Drop {
		op.op, op.o = "d", key
		return op
	}
	at, dst := wire.BeginDocument(nil)
	o := e.Change.After.Options
	dst = wire.AppendString(wire.AppendString(dst, "_id", e.NS), "viewOn", o.ViewOn)
	op.o = wire.EndDocument(wire.AppendValue(dst, "pipeline", bson.TypeArray, o.Pipeline), at)
	if e.Op != store.Create {
		op.op, op.o2 = "u", key
	}
	return op
}

// catalogCommand is the command by which a change of a collection as a whole stands in the oplog.
func catalogCommand(e *store.Entry, coll string) (o, o2 []byte) {
	at, dst := wire.BeginDocument(nil)
	switch e.Op {
	case store.EmptyDatabase:
		dst = wire.AppendInt32(dst, "dropDatabase", 1)
	case store.Create:
		dst = wire.AppendString(dst, "create", coll)
		about := creation(e.Change)
		dst = append(dst, about[4:len(about)-1]...)
	case store.Drop:
		dst = wire.AppendString(dst, "drop", coll)
	case store.Rename:
		dst = wire.AppendString(wire.AppendString(dst, "renameCollection", e.NS), "to", e.Change.To)
		dst = wire.AppendBool(dst, "stayTemp", false)
		if e.Change.Target != nil {
			dst = wire.AppendBinary(dst, "dropTarget", bson.TypeBinaryUUID, e.Change.Target[:])
		}
	case store.Alter:
		dst, o2 = appendAlteration(dst, e.Change, coll)
	case store.Noop, store.Put, store.Remove, store.Group: // operationOf deals with them
	}
	return wire.EndDocument(dst, at), o2
}

// appendAlteration writes the command that changed a collection's definition.
func appendAlteration(dst []byte, c *store.Change, coll string) (command, o2 []byte) {
	if c.Asked != nil {
		dst = wire.AppendString(dst, "collMod", coll)
		return append(dst, c.Asked[4:len(c.Asked)-1]...), stateBefore(c)
	}
	for _, ix := range c.Before.Indexes {
		if c.After.Named(ix.Name) == nil {
			return wire.AppendString(wire.AppendString(dst, "dropIndexes", coll), "index", ix.Name), ix.Raw
		}
	}
	dst = wire.AppendString(dst, "commitIndexBuild", coll)
	at, dst := wire.BeginArray(dst, "indexes")
	n := 0
	for _, ix := range c.After.Indexes {
		if c.Before.Named(ix.Name) == nil {
			dst = wire.AppendDocument(dst, wire.ArrayKey(n), ix.Raw)
			n++
		}
	}
	return wire.EndDocument(dst, at), nil
}

// setUpdate tells an update as servers before 5.0 do: by the paths that were set and unset.
func setUpdate(before, after []byte) []byte {
	d := compareDocuments(before, after, false)
	whole, dst := wire.BeginDocument(nil)
	dst = wire.AppendInt32(dst, "$v", 1)
	if len(d.removed) > 0 {
		at, fields := wire.BeginEmbedded(dst, "$unset")
		for _, path := range d.removed {
			fields = wire.AppendBool(fields, path, true)
		}
		dst = wire.EndDocument(fields, at)
	}
	if len(d.updated) > 0 {
		at, fields := wire.BeginEmbedded(dst, "$set")
		for _, e := range d.updated {
			fields = wire.AppendValue(fields, string(e.Key), e.Type, e.Value)
		}
		dst = wire.EndDocument(fields, at)
	}
	return wire.EndDocument(dst, whole)
}

// diffUpdate tells an update as servers since 5.0 do.
func diffUpdate(before, after []byte) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendInt32(dst, "$v", oplogVersion)
	dst = wire.AppendDocument(dst, "diff", documentDiff(query.ObjectOf(before), query.ObjectOf(after)))
	return wire.EndDocument(dst, at)
}
