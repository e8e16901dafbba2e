package call

import (
	"net"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// longProfiled is how many bytes a command may have that system.profile shows as a document.
const longProfiled = 50 << 10

// appendProfiled writes the document of an operation in system.profile. What is not known is not there.
func appendProfiled(dst []byte, x *Call, ns string, op *profiled) []byte {
	at, dst := wire.BeginDocument(dst)
	dst = wire.AppendString(dst, "op", op.op)
	dst = wire.AppendString(dst, "ns", ns)
	dst = appendProfiledCommand(dst, x, op)
	cursor := query.Value{}
	if op.index < 0 && op.failure == nil && (op.op != "command" || x.Command.Name == "aggregate") {
		cursor = query.Lookup(x.Result.Out[x.Result.Body:], "cursor")
	}
	dst = appendProfiledPlan(appendProfiledCursor(dst, x, op, cursor), &op.plan)
	dst = appendProfiledCounts(dst, x, op)
	if cursor.IsDocument() && !query.Lookup(cursor.Data, "id").True() {
		dst = wire.AppendBool(dst, "cursorExhausted", true)
	}
	dst = wire.AppendInt32(dst, "numYield", int32(x.Evaluation.lock.releases))
	if cursor.IsDocument() {
		dst = wire.AppendInt32(dst, "nreturned", batchLength(cursor))
	}
	if op.failure != nil {
		dst = appendProfiledFailure(dst, x, op.failure)
	}
	if op.index < 0 {
		dst = wire.AppendInt32(dst, "responseLength", int32(len(x.Result.Out)-x.Result.Body))
	}
	dst = wire.AppendString(dst, "protocol", "op_msg")
	dst = wire.AppendInt32(dst, "millis", int32(op.took.Milliseconds()))
	if op.plan.Summary != "" {
		dst = wire.AppendString(dst, "planSummary", op.plan.Summary)
	}
	dst = wire.AppendDateTime(dst, "ts", time.Now().UnixMilli())
	return wire.EndDocument(appendProfiledClient(dst, x), at)
}

// appendProfiledCommand writes the command or the statement, a long one as text. An update tells both of its flags.
func appendProfiledCommand(dst []byte, x *Call, op *profiled) []byte {
	if len(op.command) > longProfiled {
		at, dst := wire.BeginEmbedded(dst, "command")
		dst = wire.AppendString(dst, "$truncated", query.Beginning(query.Document(op.command).Whole(), longProfiled))
		if c := x.Command.comment; !c.Missing() {
			dst = wire.AppendValue(dst, "comment", c.Type, c.Data)
		}
		return wire.EndDocument(dst, at)
	}
	at, dst := wire.BeginEmbedded(dst, "command")
	dst = append(dst, op.command[4:len(op.command)-1]...)
	for _, flag := range [...]string{"multi", "upsert"} {
		if op.op == "update" && op.index >= 0 && query.Lookup(op.command, flag).Missing() {
			dst = wire.AppendBool(dst, flag, false)
		}
	}
	return wire.EndDocument(dst, at)
}

// appendProfiledCursor writes which cursor an operation opened or went on with, and of a getMore the command that opened it.
func appendProfiledCursor(dst []byte, x *Call, op *profiled, cursor query.Value) []byte {
	id, _ := query.Lookup(cursor.Data, "id").Integer()
	if op.op == "getmore" {
		if x.Result.Opener != nil {
			dst = wire.AppendDocument(dst, "originatingCommand", x.Result.Opener)
		}
		id, _ = x.Command.First.Integer()
	}
	if id == 0 {
		return dst
	}
	return wire.AppendInt64(dst, "cursorid", id)
}

// appendProfiledPlan writes how much a search looked at.
func appendProfiledPlan(dst []byte, p *Plan) []byte {
	if p.Summary == "" {
		return dst
	}
	dst = wire.AppendInt32(wire.AppendInt32(dst, "keysExamined", p.Keys), "docsExamined", p.Docs)
	if p.Sorts {
		dst = wire.AppendBool(dst, "hasSortStage", true)
	}
	if p.Competed {
		dst = wire.AppendBool(dst, "fromMultiPlanner", true)
	}
	return dst
}

// appendProfiledCounts writes how many documents a write found and changed.
func appendProfiledCounts(dst []byte, x *Call, op *profiled) []byte {
	switch o := op.did; op.op {
	case "insert":
		return wire.AppendInt32(dst, "ninserted", o.N)
	case "remove":
		return wire.AppendInt32(dst, "ndeleted", o.N)
	case "update":
		upserts := int32(len(o.Upserted))
		dst = wire.AppendInt32(dst, "nMatched", o.N-upserts)
		return appendUpserts(wire.AppendInt32(dst, "nModified", o.Modified), x, upserts)
	}
	last := query.Lookup(x.Result.Out[x.Result.Body:], "lastErrorObject")
	if !strings.EqualFold(x.Command.Name, "findAndModify") || !last.IsDocument() {
		return dst
	}
	n, _ := query.Lookup(last.Data, "n").Integer()
	existing := query.Lookup(last.Data, "updatedExisting")
	switch {
	case existing.Missing():
		return wire.AppendInt32(dst, "ndeleted", int32(n))
	case existing.True():
		return wire.AppendInt32(dst, "nMatched", int32(n))
	}
	return appendUpserts(wire.AppendInt32(wire.AppendInt32(dst, "nMatched", 0), "nModified", 0), x, int32(n))
}

func appendUpserts(dst []byte, x *Call, n int32) []byte {
	switch {
	case x.Client.Set.Version.AtLeast(5, 0):
		return wire.AppendInt32(dst, "nUpserted", n)
	case n > 0:
		return wire.AppendBool(dst, "upsert", true)
	}
	return dst
}

// batchLength returns how many documents a reply has.
func batchLength(cursor query.Value) int32 {
	batch := query.Lookup(cursor.Data, "firstBatch")
	if batch.Missing() {
		batch = query.Lookup(cursor.Data, "nextBatch")
	}
	n := int32(0)
	for it := wire.Elements(batch.Data); it.Next(); {
		n++
	}
	return n
}

func appendProfiledFailure(dst []byte, x *Call, e *mongoerr.Error) []byte {
	name, message := x.Client.Set.Version.Express(e)
	dst = wire.AppendDouble(dst, "ok", 0)
	dst = wire.AppendString(dst, "errMsg", message)
	dst = wire.AppendString(dst, "errName", name)
	return wire.AppendInt32(dst, "errCode", e.Code)
}

// appendProfiledClient writes who sent the command.
func appendProfiledClient(dst []byte, x *Call) []byte {
	if host, _, err := net.SplitHostPort(x.Client.address()); err == nil {
		dst = wire.AppendString(dst, "client", host)
	}
	if x.Client.AppName != "" {
		dst = wire.AppendString(dst, "appName", x.Client.AppName)
	}
	at, dst := wire.BeginArray(dst, "allUsers")
	name := ""
	if u := x.Client.User; u != nil {
		var one int
		one, dst = wire.BeginEmbedded(dst, "0")
		dst = wire.EndDocument(wire.AppendString(wire.AppendString(dst, "user", u.Name), "db", u.DB), one)
		name = u.Name + "@" + u.DB
	}
	return wire.AppendString(wire.EndDocument(dst, at), "user", name)
}
