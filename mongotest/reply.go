package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// writeFailure writes the reply's document for an error.
func (x *call) writeFailure(e *mongoerr.Error, point pointAction) {
	x.result.out = wire.AppendDouble(x.result.out, "ok", 0)
	name, message := x.client.set.Version.Express(e)
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
func (x *call) finish() {
	x.record(0)
	if x.result.writeError != nil {
		code := x.result.writeError.Code
		x.client.cluster.journal.Mark(x.result.entries, func(e *journal.Entry) { e.WriteConcernErrorCode = code })
	}
	if x.client.set.Standalone {
		return
	}
	if x.result.state && x.client.router == nil && x.client.set.Version.HasTopologyVersion() {
		x.appendTopologyVersion()
	}
	x.appendTimes()
}

var noSignature = make([]byte, 20)

// appendTimes writes $clusterTime, signed with nothing as without authentication, and operationTime.
func (x *call) appendTimes() {
	t := x.operationTime()
	if t == 0 {
		return // there is no oplog yet
	}
	known := max(t, store.Timestamp(x.client.set.ClientClusterTime.Load()))
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
func (x *call) operationTime() store.Timestamp {
	if x.client.member != nil {
		return x.client.member.Data.Newest()
	}
	return store.Timestamp(x.client.set.Clock.Load())
}

func (x *call) appendTopologyVersion() {
	x.client.set.Lock()
	id, counter := x.client.process.ProcessID, x.client.process.Counter
	x.client.set.Unlock()
	x.result.out = appendTopologyVersion(x.result.out, id, counter)
}

func appendTopologyVersion(dst []byte, id bson.ObjectID, counter int64) []byte {
	at, dst := wire.BeginEmbedded(dst, "topologyVersion")
	dst = wire.AppendObjectID(dst, "processId", id)
	dst = wire.AppendInt64(dst, "counter", counter)
	return wire.EndDocument(dst, at)
}

func appendOpTime(dst []byte, key string, e *store.Entry) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendTimestamp(dst, "ts", e.TS.Seconds(), e.TS.Increment())
	dst = wire.AppendInt64(dst, "t", e.Term)
	return wire.EndDocument(dst, at)
}
