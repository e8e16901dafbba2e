package command

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/currentOp/

// currentOp is the stage $currentOp with a filter: all fields that are not about the operations to look at.
func cmdCurrentOp(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	at, filter := wire.BeginDocument(nil)
	for i := range x.Command.Args {
		if e := &x.Command.Args[i]; string(e.Key) != "$all" && string(e.Key) != "$ownOps" {
			filter = wire.AppendValue(filter, string(e.Key), e.Type, e.Value)
		}
	}
	f, err := x.Matcher(wire.EndDocument(filter, at))
	if err != nil {
		return err
	}
	locked := false
	ops := call.WithLock(x, func(x call.Locked) [][]byte {
		locked = x.Client.Router == nil && x.Client.Member.FsyncLocks > 0
		return operations(x, query.Value{})
	})
	list, dst := wire.BeginArray(x.Result.Out, "inprog")
	n := 0
	for _, op := range ops {
		ok, err := f.Matches(op)
		if err != nil {
			return err
		}
		if ok {
			dst = wire.AppendDocument(dst, wire.ArrayKey(n), op)
			n++
		}
	}
	x.Result.Out = wire.EndDocument(dst, list)
	if locked {
		x.Result.Out = wire.AppendBool(x.Result.Out, "fsyncLock", true)
		x.Result.Out = wire.AppendString(x.Result.Out, "info", "use db.fsyncUnlock() to terminate the fsync write/snapshot lock")
	}
	return nil
}

// operations describes the command itself, those that have been evaluated for some 10 ms, and what is idle as far as the options of
// $currentOp ask for it. On a mongos nothing is idle: its members tell that.
func operations(x call.Locked, options query.Value) [][]byte {
	docs := append([][]byte{x.Operation()}, x.Client.Cluster.Running.Descriptions()...)
	m := x.Client.Member
	if m == nil || x.Client.Router != nil {
		return docs
	}
	if v := query.Lookup(options.Data, "idleSessions"); v.Missing() || v.True() {
		docs = append(docs, idleSessions(x)...)
	}
	if query.Lookup(options.Data, "idleCursors").True() {
		docs = append(docs, idleCursors(x)...)
	}
	return docs
}

// https://www.mongodb.com/docs/manual/reference/command/killOp/

// killOp ends what currentOp tells of.
func cmdKillOp(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	for i := range x.Command.Args {
		if name := string(x.Command.Args[i].Key); name != "op" {
			return fields.Unknown(x.Command.Name, name)
		}
	}
	ids, err := operationIDs(x, x.Arg("op"))
	if err != nil {
		return err
	}
	for _, id := range ids {
		x.Client.Cluster.Running.Kill(id)
	}
	x.Result.Out = wire.AppendString(x.Result.Out, "info", "attempting to kill op")
	return nil
}

// operationIDs reads the id of an operation or, since 8.3, several.
func operationIDs(x *call.Call, op query.Value) ([]int32, error) {
	if !x.Client.Set.Version.AtLeast(8, 3) {
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
