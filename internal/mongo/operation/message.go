package operation

import (
	"context"
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// build writes the whole message into the connection's buffer. Each attempt builds its own message, because the
// cluster time and the server may differ.
func (r *run) build(ctx context.Context, target cluster.Target, conn *cluster.Conn, requestID int32) ([]byte, error) {
	var flags wire.MsgFlags
	if r.op.unacknowledged() {
		flags = wire.MoreToCome
	}
	at, b := wire.BeginMsg(conn.Out[:0], requestID, 0, flags)
	doc, b := wire.BeginDocument(b)
	b, err := r.op.Command.AppendTo(b, Attempt{Number: r.number, Acknowledged: !r.op.unacknowledged(), Server: conn.Description})
	if err != nil {
		return nil, err
	}
	if b, err = r.appendCommon(ctx, b, target, conn); err != nil {
		return nil, err
	}
	b = wire.EndDocument(b, doc)
	if s, ok := r.op.Command.(Sequencer); ok {
		b = s.AppendSequences(b)
	}
	conn.Out = wire.EndMessage(b, at)
	if limit := int(conn.Description.MaxMessageSize); limit > 0 && len(conn.Out) > limit {
		return nil, fmt.Errorf("%s: a message of %d bytes, over the server's maxMessageSizeBytes of %d",
			r.op.Name, len(conn.Out), limit)
	}
	return conn.Out, nil
}

// appendCommon writes the fields that every command can have.
func (r *run) appendCommon(ctx context.Context, b []byte, t cluster.Target, conn *cluster.Conn) ([]byte, error) {
	b, err := r.appendMaxTime(ctx, b, t.Description)
	if err != nil {
		return nil, err
	}
	concern, err := r.readConcern(conn.Description)
	if err != nil {
		return nil, err
	}
	if r.op.OwnReadConcern && concern != (ReadConcern{}) {
		return nil, errOwnReadConcern
	}
	b = concern.append(b)
	if b, err = r.writeConcern(ctx).appendTo(b); err != nil {
		return nil, err
	}
	b = r.appendSession(b)
	if now := r.clockTime(); now != nil && conn.Description.Type != topology.Standalone {
		b = wire.AppendDocument(b, "$clusterTime", now)
	}
	b = appendReadPreference(b, r.op, t)
	b = r.cfg.ServerAPI.Append(b)
	return wire.AppendString(b, "$db", r.op.Database), nil
}

// clockTime returns the $clusterTime to send, nil for none.
func (r *run) clockTime() []byte {
	now := r.clock.document(r.session)
	given, ok := timestampOf(r.op.ClusterTime)
	if known, _ := timestampOf(now); ok && given > known {
		return r.op.ClusterTime
	}
	return now
}

// appendMaxTime writes maxTimeMS: the time until the deadline, minus one round trip time, rounded up, but at most
// AwaitTime. A value over the largest one that servers accept is left out: the deadline then ends the operation here.
func (r *run) appendMaxTime(ctx context.Context, b []byte, s *topology.Server) ([]byte, error) {
	await := r.op.AwaitTime
	deadline, ok := ctx.Deadline()
	if await == 0 && (!ok || r.op.OwnTimeLimit) {
		return b, nil
	}
	left := await
	if ok {
		roundTrip := s.MinRTT
		if left = time.Until(deadline) - roundTrip; left <= 0 {
			return nil, fmt.Errorf("%s: %v remain until the deadline, not more than a round trip to %s (%v): %w",
				r.op.Name, left+roundTrip, s.Address, roundTrip, context.DeadlineExceeded)
		}
		if await > 0 {
			left = min(left, await)
		}
	}
	ms := int64((left-1)/time.Millisecond) + 1
	if ms > math.MaxInt32 {
		return b, nil
	}
	return wire.AppendInt64(b, "maxTimeMS", ms), nil
}

// appendSession writes the session, and the transaction or the number of a retryable write.
func (r *run) appendSession(b []byte) []byte {
	id := r.session.id()
	if id == nil {
		return b
	}
	b = wire.AppendDocument(b, "lsid", id)
	if n := r.sentNumber(); n != 0 {
		b = wire.AppendInt64(b, "txnNumber", n)
	}
	if r.inTransaction() {
		if r.startsTransaction() {
			b = wire.AppendBool(b, "startTransaction", true)
		}
		b = wire.AppendBool(b, "autocommit", false)
	}
	return b
}

// inTransaction reports whether the command belongs to the session's transaction, or ends it.
func (r *run) inTransaction() bool { return r.transactional || r.op.ends != endsNothing }

// sentNumber returns the number of the transaction, or of the retryable write, that the command has; 0 for none.
func (r *run) sentNumber() int64 {
	if r.inTransaction() {
		return r.session.server.txnNumber
	}
	return r.txnNumber
}

var primaryPreferred = readpref.PrimaryPreferred()

// appendReadPreference writes $readPreference: Server Selection, "Passing read preference to mongos and load
// balancers". A standalone gets none. On a direct connection to a member, primary becomes primaryPreferred. Otherwise
// every mode except primary is sent unchanged; hedge only to a mongos. A write has one only if it is an aggregation.
func appendReadPreference(b []byte, op *Operation, t cluster.Target) []byte {
	writesOutput := op.Selection != nil && op.Selection.WritesOutput
	if (op.Kind == Write && !writesOutput) || t.Description.Type == topology.Standalone {
		return b
	}
	rp := op.ReadPreference
	if writesOutput && op.Selection.ForcesPrimary(t.Topology) {
		rp = nil
	}
	if rp == nil || rp.Mode() == readpref.PrimaryMode {
		if t.Topology.Type != topology.Single || t.Description.Type == topology.Mongos {
			return b
		}
		rp = primaryPreferred
	}
	at, b := wire.BeginEmbedded(b, "$readPreference")
	b = wire.AppendString(b, "mode", rp.Mode().String())
	if sets := rp.TagSets(); len(sets) > 0 {
		b = appendTagSets(b, rp)
	}
	if staleness, ok := rp.MaxStaleness(); ok && staleness >= 0 { // -1 is none
		b = wire.AppendInt32(b, "maxStalenessSeconds", int32(staleness/time.Second))
	}
	return wire.EndDocument(appendHedge(b, rp, t.Description.Type), at)
}

func appendHedge(b []byte, rp *readpref.ReadPref, server topology.ServerType) []byte {
	enabled := rp.HedgeEnabled() //nolint:staticcheck // deprecated, but supported while it exists
	if enabled == nil || server != topology.Mongos && server != topology.LoadBalancer {
		return b
	}
	at, b := wire.BeginEmbedded(b, "hedge")
	return wire.EndDocument(wire.AppendBool(b, "enabled", *enabled), at)
}

func appendTagSets(b []byte, rp *readpref.ReadPref) []byte {
	tags, b := wire.BeginArray(b, "tags")
	for i, set := range rp.TagSets() {
		at, rest := wire.BeginEmbedded(b, wire.ArrayKey(i))
		for _, t := range set {
			rest = wire.AppendString(rest, t.Name, t.Value)
		}
		b = wire.EndDocument(rest, at)
	}
	return wire.EndDocument(b, tags)
}
