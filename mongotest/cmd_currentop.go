package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/currentOp/

// currentOp is the stage $currentOp with a filter: all fields that are not about the operations to look at.
func cmdCurrentOp(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	at, filter := wire.BeginDocument(nil)
	for i := range x.command.args {
		if e := &x.command.args[i]; string(e.Key) != "$all" && string(e.Key) != "$ownOps" {
			filter = wire.AppendValue(filter, string(e.Key), e.Type, e.Value)
		}
	}
	f, err := x.matcher(wire.EndDocument(filter, at))
	if err != nil {
		return err
	}
	x.client.set.Lock()
	ops := x.operationsLocked(query.Value{})
	locked := x.client.router == nil && x.client.member.FsyncLocks > 0
	x.client.set.Unlock()
	list, dst := wire.BeginArray(x.result.out, "inprog")
	n := 0
	for _, op := range ops {
		ok, err := f.matches(op)
		if err != nil {
			return err
		}
		if ok {
			dst = wire.AppendDocument(dst, wire.ArrayKey(n), op)
			n++
		}
	}
	x.result.out = wire.EndDocument(dst, list)
	if locked {
		x.result.out = wire.AppendBool(x.result.out, "fsyncLock", true)
		x.result.out = wire.AppendString(x.result.out, "info", "use db.fsyncUnlock() to terminate the fsync write/snapshot lock")
	}
	return nil
}

// operationsLocked describes the command itself, those that have been evaluated for some 10 ms, and what is idle as far as the options of
// $currentOp ask for it. On a mongos nothing is idle: its members tell that.
func (x *call) operationsLocked(options query.Value) [][]byte {
	docs := append([][]byte{x.operation()}, x.client.cluster.running.Descriptions()...)
	m := x.client.member
	if m == nil || x.client.router != nil {
		return docs
	}
	if v := query.Lookup(options.Data, "idleSessions"); v.Missing() || v.True() {
		docs = append(docs, m.idleSessionsLocked()...)
	}
	if query.Lookup(options.Data, "idleCursors").True() {
		docs = append(docs, m.idleCursorsLocked()...)
	}
	return docs
}

// https://www.mongodb.com/docs/manual/reference/command/killOp/

// killOp ends what currentOp tells of.
func cmdKillOp(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	for i := range x.command.args {
		if name := string(x.command.args[i].Key); name != "op" {
			return fields.Unknown(x.command.name, name)
		}
	}
	ids, err := x.operationIDs(x.arg("op"))
	if err != nil {
		return err
	}
	for _, id := range ids {
		x.client.cluster.running.Kill(id)
	}
	x.result.out = wire.AppendString(x.result.out, "info", "attempting to kill op")
	return nil
}

// operationIDs reads the id of an operation or, since 8.3, several.
func (x *call) operationIDs(op query.Value) ([]int32, error) {
	if !x.client.set.Version.AtLeast(8, 3) {
		return oldOperationID(op)
	}
	ops := []query.Value{op}
	if op.IsArray() {
		ops = query.Elements(op.Data)
	}
	var ids []int32
	for _, v := range ops {
		if !v.IsNumber() {
			return nil, mongoerr.Errorf(12212701, `"op" field must be a number or an array of numbers`)
		}
		id, _ := v.Integer()
		ids = append(ids, int32(id))
	}
	return ids, nil
}
