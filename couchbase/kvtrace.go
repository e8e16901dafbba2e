package couchbase

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// instruments watch the operations of a cluster: its tracer, meter and orphan reporter. With the default ones a key-value operation
// costs two readings of the clock and an addition.
type instruments struct {
	tracer    RequestTracer
	threshold *ThresholdLoggingTracer // the tracer, if it is one of those
	meter     Meter
	logging   *LoggingMeter // the meter, if it is one of those
	recorders [kvOperations]atomic.Pointer[latencies]
	orphans   *reporter // nil: they are not reported
	ownTracer bool
	ownMeter  bool
}

func newInstruments(s *settings, labels func() clusterLabels) *instruments {
	i := &instruments{tracer: s.tracer, meter: s.meter}
	if i.tracer == nil {
		i.tracer, i.ownTracer = NewThresholdLoggingTracer(nil), true
	}
	if i.meter == nil {
		i.meter, i.ownMeter = NewLoggingMeter(nil), true
	}
	if t, ok := i.tracer.(*ThresholdLoggingTracer); ok && t != nil {
		i.threshold = t
		t.AddRef()
	}
	i.logging, _ = i.meter.(*LoggingMeter)
	i.name(s.conventions, labels)
	if !s.orphans.Disabled {
		size := int(s.orphans.SampleSize)
		if size == 0 {
			size = 10
		}
		i.orphans = &reporter{title: "Orphaned Responses", interval: s.orphans.ReportInterval, size: size}
		s.cluster.KV.OnOrphan = i.orphan
	}
	return i
}

// name gives what the tracer and the meter are told its names, if they are the application's: no report of this package has names.
func (i *instruments) name(c conventions, labels func() clusterLabels) {
	_, silent := i.tracer.(*NoopTracer)
	if i.threshold == nil && !silent {
		i.tracer = &labellingTracer{c.tracer(i.tracer), labels}
	}
	if _, silent = i.meter.(*NoopMeter); i.logging == nil && !silent {
		i.meter = &labellingMeter{c.meter(i.meter), labels}
	}
}

// close ends the reports.
func (i *instruments) close() {
	if i.threshold != nil {
		i.threshold.DecRef()
	}
	if i.ownMeter {
		i.logging.close()
	}
	if i.orphans != nil {
		i.orphans.close()
	}
}

// orphan adds a reply whose caller had left to the report.
func (i *instruments) orphan(o kv.Orphan) {
	r := reportedRequest{
		Name: o.Opcode.String(), OperationID: operationID(o.Opaque), LastServer: o.ServerDuration.Microseconds(),
		TotalServer: o.ServerDuration.Microseconds(), LocalID: o.Conn.ID(), LocalSocket: o.Conn.Local(), RemoteSocket: o.Conn.Remote(),
	}
	if !o.Started.IsZero() {
		r.Total = time.Since(o.Started).Microseconds()
	}
	i.orphans.add("kv", r)
}

// spanned reports whether an operation makes spans. With the threshold tracer, and without a parent, measuring is enough.
func (i *instruments) spanned(parent RequestSpan) bool { return i.threshold == nil || parent != nil }

// measured records an operation that has ended.
func (i *instruments) measured(c *kvCall, elapsed time.Duration, err error) {
	us := uint64(max(elapsed.Microseconds(), 0))
	if i.logging != nil {
		recorder := i.recorders[c.kind.index].Load()
		if recorder == nil {
			recorder = i.logging.recorder("kv", c.kind.name)
			i.recorders[c.kind.index].Store(recorder)
		}
		recorder.RecordValue(us)
		return
	}
	recorder, failed := i.meter.ValueRecorder(meterOperations, map[string]string{
		attributeService: "kv", attributeOperation: c.kind.name, attributeBucket: c.collection.bucket.name, attributeScope: c.collection.scope,
		attributeCollection: c.collection.name, tagOutcome: kvOutcome(err),
	})
	if failed == nil && recorder != nil {
		recorder.RecordValue(us)
	}
}

// The tag of measurements that says how an operation ended, and its values that are no name of an error.
const (
	tagOutcome     = "outcome"
	outcomeSuccess = "Success"
	outcomeOther   = "CouchbaseError"
)

// kvOutcome is the result of an operation in measurements: "Success", or the name of its error in one word.
func kvOutcome(err error) string {
	if err == nil {
		return outcomeSuccess
	}
	var f *failure
	if !errors.As(err, &f) {
		return outcomeOther
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(f.kind.Error()) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// slow adds an operation without spans to the threshold report, if it was slow.
func (i *instruments) slow(c *kvCall, elapsed, timeout time.Duration, err error) {
	if elapsed <= i.threshold.KVThreshold {
		return
	}
	r := reportedRequest{Name: c.kind.name, Total: elapsed.Microseconds(), Timeout: timeout.Milliseconds()}
	var e *operation.Error
	if errors.As(err, &e) {
		r.OperationID, r.LocalID = operationID(e.Opaque), e.ConnID
		r.LocalSocket, r.RemoteSocket = e.DispatchedFrom, e.DispatchedTo
	} else if conn := c.result.Conn; conn != nil {
		p := &c.result.Packet
		r.OperationID, r.LocalID = operationID(p.Opaque), conn.ID()
		r.LocalSocket, r.RemoteSocket = conn.Local(), conn.Remote()
		if data, found, frameErr := memd.FindFrame(p.Frames, memd.FrameServerDuration); found && frameErr == nil {
			server, _ := memd.ServerDuration(data)
			r.LastServer, r.TotalServer = server.Microseconds(), server.Microseconds()
		}
	}
	i.threshold.slow.add("kv", r)
}

// begin begins the span of an operation. It returns nil if the operation makes none.
func (i *instruments) begin(kind *kvOperation, c *Collection, parent RequestSpan, d durability) RequestSpan {
	if !i.spanned(parent) {
		return nil
	}
	var above RequestSpanContext
	if parent != nil {
		above = parent.Context()
	}
	span := i.tracer.RequestSpan(above, kind.name)
	for _, a := range []struct{ key, value string }{
		{attributeSystem, "couchbase"},
		{attributeService, "kv"},
		{attributeOperation, kind.name},
		{attributeBucket, c.bucket.name},
		{attributeScope, c.scope},
		{attributeCollection, c.name},
		{attributeDurability, d.name()},
	} {
		if a.value != "" {
			span.SetAttribute(a.key, a.value)
		}
	}
	return span
}

type spanKey struct{}

// dispatchTracer makes the spans of attempts.
type dispatchTracer struct{ tracer RequestTracer }

var _ operation.Tracer = dispatchTracer{}

// Dispatching begins the span of an attempt, under that of its operation, which is in the context.
func (t dispatchTracer) Dispatching(ctx context.Context, _ *operation.Operation, _ int, _ *kv.Conn) func(operation.Dispatch) {
	above, ok := ctx.Value(spanKey{}).(RequestSpan)
	if !ok {
		return nil
	}
	span := t.tracer.RequestSpan(above.Context(), spanDispatch)
	return func(d operation.Dispatch) {
		host, port, _ := net.SplitHostPort(d.Conn.Remote())
		localHost, localPort, _ := net.SplitHostPort(d.Conn.Local())
		for _, a := range []struct{ key, value string }{
			{attributeSystem, "couchbase"},
			{attributeTransport, "IP.TCP"},
			{attributeOperationID, operationID(d.Opaque)},
			{attributeLocalID, d.Conn.ID()},
			{attributePeerName, host},
			{attributePeerPort, port},
			{attributeHostName, localHost},
			{attributeHostPort, localPort},
		} {
			span.SetAttribute(a.key, a.value)
		}
		server, serverPort, _ := net.SplitHostPort(d.Conn.Address())
		stableOnly(span, stableServerAddress, server)
		stableOnly(span, stableServerPort, serverPort)
		span.SetAttribute(attributeRetries, d.Attempt)
		if d.Server > 0 {
			span.SetAttribute(attributeServerDuration, d.Server.Microseconds())
		}
		span.End()
	}
}
