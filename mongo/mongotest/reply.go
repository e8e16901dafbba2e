package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/store"
)

// writeFailure writes the reply's document for an error.
func (x *exec) writeFailure(e *mongoerr.Error, point pointAction) {
	x.out = wire.AppendDouble(x.out, "ok", 0)
	name, message := x.set.config.version.Express(e)
	x.out = wire.AppendString(x.out, "errmsg", message)
	x.out = wire.AppendInt32(x.out, "code", e.Code)
	x.out = wire.AppendString(x.out, "codeName", name)
	x.out = append(x.out, e.Extra...)
	labels := e.Labels
	if labels == nil {
		labels = point.labels
	}
	if labels == nil {
		labels = x.labelsOf(e.Code)
	}
	x.writeLabels(labels)
	x.state = x.state || mongoerr.Is(e.Code, mongoerr.StateChange) && !x.scripted
	x.record(e.Code)
}

// finish writes what ends every reply, and journals a command that did not journal its statements.
func (x *exec) finish() {
	x.record(0)
	if x.writeError != nil {
		code := x.writeError.Code
		x.set.journal.mark(x.entries, func(e *noted) { e.WriteConcernErrorCode = code })
	}
	if x.set.config.standalone {
		return
	}
	if x.state && x.mongos == nil && x.set.config.version.HasTopologyVersion() {
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
	known := max(t, store.Timestamp(x.set.heard.Load()))
	at, dst := wire.BeginEmbedded(x.out, "$clusterTime")
	dst = wire.AppendTimestamp(dst, "clusterTime", known.Seconds(), known.Increment())
	signature, dst := wire.BeginEmbedded(dst, "signature")
	dst = wire.AppendBinary(dst, "hash", 0, noSignature)
	dst = wire.AppendInt64(dst, "keyId", 0)
	dst = wire.EndDocument(dst, signature)
	dst = wire.EndDocument(dst, at)
	if x.readAt != 0 {
		t = x.readAt
	}
	x.out = wire.AppendTimestamp(dst, "operationTime", t.Seconds(), t.Increment())
}

// operationTime is the time of the member that executed the command, or of the newest one.
func (x *exec) operationTime() store.Timestamp {
	if x.member != nil {
		return x.member.data.Newest()
	}
	return store.Timestamp(x.set.clock.Load())
}

func (x *exec) appendTopologyVersion() {
	x.set.mu.Lock()
	id, counter := x.server.processID, x.server.counter
	x.set.mu.Unlock()
	x.out = appendTopologyVersion(x.out, id, counter)
}

func appendTopologyVersion(dst []byte, id bson.ObjectID, counter int64) []byte {
	at, dst := wire.BeginEmbedded(dst, "topologyVersion")
	dst = wire.AppendObjectID(dst, "processId", id)
	dst = wire.AppendInt64(dst, "counter", counter)
	return wire.EndDocument(dst, at)
}
