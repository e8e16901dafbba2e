package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// writeFailure writes the reply's document for an error.
func (x *exec) writeFailure(e *mongoerr.Error, point pointAction) {
	x.result.out = wire.AppendDouble(x.result.out, "ok", 0)
	name, message := x.conn.set.Version.Express(e)
	x.result.out = wire.AppendString(x.result.out, "errmsg", message)
	x.result.out = wire.AppendInt32(x.result.out, "code", e.Code)
	x.result.out = wire.AppendString(x.result.out, "codeName", name)
	x.result.out = append(x.result.out, e.Extra...)
	labels := e.Labels
	if labels == nil {
		labels = point.labels
	}
	if labels == nil {
		labels = x.labelsOf(e.Code)
	}
	x.writeLabels(labels)
	x.result.state = x.result.state || mongoerr.Is(e.Code, mongoerr.StateChange) && !x.result.scripted
	x.record(e.Code)
}

// finish writes what ends every reply, and journals a command that did not journal its statements.
func (x *exec) finish() {
	x.record(0)
	if x.result.writeError != nil {
		code := x.result.writeError.Code
		x.conn.deployment.journal.mark(x.result.entries, func(e *noted) { e.WriteConcernErrorCode = code })
	}
	if x.conn.set.Standalone {
		return
	}
	if x.result.state && x.conn.mongos == nil && x.conn.set.Version.HasTopologyVersion() {
		x.appendTopologyVersion()
	}
	x.appendTimes()
}

var noSignature = make([]byte, 20)

// appendTimes writes $clusterTime, signed with nothing as without authentication, and operationTime.
func (x *exec) appendTimes() {
	t := x.operationTime()
	if t == 0 {
		return // there is no oplog yet
	}
	known := max(t, store.Timestamp(x.conn.set.ClientClusterTime.Load()))
	at, dst := wire.BeginEmbedded(x.result.out, "$clusterTime")
	dst = wire.AppendTimestamp(dst, "clusterTime", known.Seconds(), known.Increment())
	signature, dst := wire.BeginEmbedded(dst, "signature")
	dst = wire.AppendBinary(dst, "hash", 0, noSignature)
	dst = wire.AppendInt64(dst, "keyId", 0)
	dst = wire.EndDocument(dst, signature)
	dst = wire.EndDocument(dst, at)
	if x.result.readAt != 0 {
		t = x.result.readAt
	}
	x.result.out = wire.AppendTimestamp(dst, "operationTime", t.Seconds(), t.Increment())
}

// operationTime is the time of the member that executed the command, or of the newest one.
func (x *exec) operationTime() store.Timestamp {
	if x.conn.member != nil {
		return x.conn.member.Data.Newest()
	}
	return store.Timestamp(x.conn.set.Clock.Load())
}

func (x *exec) appendTopologyVersion() {
	x.conn.set.Lock()
	id, counter := x.conn.server.process.ProcessID, x.conn.server.process.Counter
	x.conn.set.Unlock()
	x.result.out = appendTopologyVersion(x.result.out, id, counter)
}

func appendTopologyVersion(dst []byte, id bson.ObjectID, counter int64) []byte {
	at, dst := wire.BeginEmbedded(dst, "topologyVersion")
	dst = wire.AppendObjectID(dst, "processId", id)
	dst = wire.AppendInt64(dst, "counter", counter)
	return wire.EndDocument(dst, at)
}
