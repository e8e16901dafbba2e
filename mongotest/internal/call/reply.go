package call

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/status"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// WriteFailure writes the reply's document for an error.
func (x *Call) WriteFailure(e *mongoerr.Error, point PointAction) {
	x.Result.Out = wire.AppendDouble(x.Result.Out, "ok", 0)
	name, message := x.Client.Set.Version.Express(e)
	x.Result.Out = wire.AppendString(x.Result.Out, "errmsg", message)
	x.Result.Out = wire.AppendInt32(x.Result.Out, "code", e.Code)
	x.Result.Out = wire.AppendString(x.Result.Out, "codeName", name)
	x.Result.Out = append(x.Result.Out, e.Extra...)
	if x.Result.ConcernError != nil {
		appendWriteConcernError(x)
	}
	labels := e.Labels
	if labels == nil {
		labels = point.labels
	}
	if labels == nil {
		labels = labelsOf(x, e.Code)
	}
	writeLabels(x, labels)
	x.Result.State = x.Result.State || mongoerr.Is(e.Code, mongoerr.StateChange) && !x.Result.scripted
	if e.Code != mongoerr.CommandNotFound {
		x.counted(func(c *status.Counts) { c.Errors.Add(1) })
	}
	x.Record(e.Code)
}

// Finish writes what ends every reply, and journals a command that did not journal its statements.
func (x *Call) Finish() {
	x.Record(0)
	if x.Result.ConcernError != nil {
		code := x.Result.ConcernError.Code
		x.Client.Cluster.Journal.Mark(x.Result.Entries, func(e *journal.Entry) { e.WriteConcernErrorCode = code })
	}
	if x.Client.Set.Standalone {
		return
	}
	if x.Result.State && x.Client.Router == nil && x.Client.Set.Version.HasTopologyVersion() {
		appendTopologyVersion(x)
	}
	appendTimes(x)
}

var noSignature = make([]byte, 20)

// appendTimes writes $clusterTime, signed with nothing as without authentication, and operationTime.
func appendTimes(x *Call) {
	t := operationTime(x)
	if t == 0 {
		return // there is no oplog yet
	}
	known := max(t, store.Timestamp(x.Client.Set.ClientClusterTime.Load()))
	at, dst := wire.BeginEmbedded(x.Result.Out, "$clusterTime")
	dst = wire.AppendTimestamp(dst, "clusterTime", known.Seconds(), known.Increment())
	signature, dst := wire.BeginEmbedded(dst, "signature")
	dst = wire.AppendBinary(dst, "hash", 0, noSignature)
	dst = wire.AppendInt64(dst, "keyId", 0)
	dst = wire.EndDocument(dst, signature)
	dst = wire.EndDocument(dst, at)
	if x.Result.readAt != 0 {
		t = x.Result.readAt
	}
	x.Result.Out = wire.AppendTimestamp(dst, "operationTime", t.Seconds(), t.Increment())
}

// operationTime is the time of the member that executed the command, or of the newest one.
func operationTime(x *Call) store.Timestamp {
	if x.Client.Member != nil {
		return x.Client.Member.Data.Newest()
	}
	return store.Timestamp(x.Client.Set.Clock.Load())
}

func appendTopologyVersion(x *Call) {
	x.Result.Out = WithLock(x, func(x Locked) []byte {
		return AppendTopologyVersion(x.Result.Out, x.Client.Process.ProcessID, x.Client.Process.Counter)
	})
}

// AppendTopologyVersion writes the state of a server that its hello shows.
func AppendTopologyVersion(dst []byte, id bson.ObjectID, counter int64) []byte {
	at, dst := wire.BeginEmbedded(dst, "topologyVersion")
	dst = wire.AppendObjectID(dst, "processId", id)
	dst = wire.AppendInt64(dst, "counter", counter)
	return wire.EndDocument(dst, at)
}

// AppendOpTime writes when an entry of the log was written.
func AppendOpTime(dst []byte, key string, e *store.Entry) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendTimestamp(dst, "ts", e.TS.Seconds(), e.TS.Increment())
	dst = wire.AppendInt64(dst, "t", e.Term)
	return wire.EndDocument(dst, at)
}
