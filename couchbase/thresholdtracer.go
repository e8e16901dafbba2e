package couchbase

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ThresholdLoggingOptions are the options of [NewThresholdLoggingTracer]. Zero means the default.
type ThresholdLoggingOptions struct {
	Interval            time.Duration // between the first slow operation and the report; default 10 s
	SampleSize          uint32        // operations of a service in a report; default 10
	KVThreshold         time.Duration // default 500 ms; those of the other services are 1 s
	KVScanThreshold     time.Duration // of range scans, which this client does not do
	ViewsThreshold      time.Duration
	QueryThreshold      time.Duration
	SearchThreshold     time.Duration
	AnalyticsThreshold  time.Duration
	ManagementThreshold time.Duration
}

// ThresholdLoggingTracer logs the operations that took longer than a threshold (RFC 0035): some time after the first of them, the slowest
// of each service. It is the tracer of a cluster that sets none. It is safe for concurrent use; the fields must not be changed.
type ThresholdLoggingTracer struct {
	Interval            time.Duration
	SampleSize          uint32
	KVThreshold         time.Duration
	KVScanThreshold     time.Duration
	ViewsThreshold      time.Duration
	QueryThreshold      time.Duration
	SearchThreshold     time.Duration
	AnalyticsThreshold  time.Duration
	ManagementThreshold time.Duration

	references atomic.Int32
	slow       *reporter
}

var _ RequestTracer = (*ThresholdLoggingTracer)(nil)

// NewThresholdLoggingTracer returns a tracer. Nil means the defaults.
func NewThresholdLoggingTracer(opts *ThresholdLoggingOptions) *ThresholdLoggingTracer {
	if opts == nil {
		opts = &ThresholdLoggingOptions{}
	}
	t := &ThresholdLoggingTracer{
		Interval: opts.Interval, SampleSize: opts.SampleSize, KVThreshold: opts.KVThreshold, KVScanThreshold: opts.KVScanThreshold,
		ViewsThreshold: opts.ViewsThreshold, QueryThreshold: opts.QueryThreshold, SearchThreshold: opts.SearchThreshold,
		AnalyticsThreshold: opts.AnalyticsThreshold, ManagementThreshold: opts.ManagementThreshold,
	}
	setDefault(&t.Interval, 10*time.Second)
	setDefault(&t.KVThreshold, 500*time.Millisecond)
	for _, threshold := range []*time.Duration{
		&t.KVScanThreshold, &t.ViewsThreshold, &t.QueryThreshold, &t.SearchThreshold, &t.AnalyticsThreshold, &t.ManagementThreshold,
	} {
		setDefault(threshold, time.Second)
	}
	if t.SampleSize == 0 {
		t.SampleSize = 10
	}
	t.slow = &reporter{title: "Threshold Log", interval: t.Interval, size: int(t.SampleSize)}
	return t
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// AddRef notes another user of the tracer, and returns their number. A cluster is one until it is closed.
func (t *ThresholdLoggingTracer) AddRef() int32 { return t.references.Add(1) }

// DecRef notes that a user has left, and returns the number of the others. When the last one leaves, the report is logged at once, and
// there is no other one.
func (t *ThresholdLoggingTracer) DecRef() int32 {
	left := t.references.Add(-1)
	if left == 0 {
		t.slow.close()
	}
	return left
}

// threshold returns the threshold of a service by its name in spans, 0 if it has none, and its name in reports.
func (t *ThresholdLoggingTracer) threshold(service string) (time.Duration, string) {
	switch service {
	case "kv":
		return t.KVThreshold, service
	case "views":
		return t.ViewsThreshold, service
	case "query":
		return t.QueryThreshold, service
	case "search":
		return t.SearchThreshold, service
	case "analytics":
		return t.AnalyticsThreshold, service
	case "management":
		return t.ManagementThreshold, service
	default:
		return 0, ""
	}
}

// RequestSpan returns a span that measures an operation or, if its parent is a span of this tracer, a part of one.
func (t *ThresholdLoggingTracer) RequestSpan(parentContext RequestSpanContext, operationName string) RequestSpan {
	parent, _ := parentContext.(*thresholdSpan)
	return &thresholdSpan{tracer: t, parent: parent, began: time.Now(), request: reportedRequest{Name: operationName}}
}

// thresholdSpan is a span of a ThresholdLoggingTracer.
type thresholdSpan struct {
	tracer *ThresholdLoggingTracer
	parent *thresholdSpan
	began  time.Time

	mu      sync.Mutex
	service string
	request reportedRequest
	remote  socket
	local   socket
}

// socket is an address whose parts come one after the other.
type socket struct{ host, port string }

// String returns the address, "" if there is none.
func (s socket) String() string {
	if s.port == "" {
		return s.host
	}
	return s.host + ":" + s.port
}

// The names of spans and attributes (RFC 0067).
const (
	spanDispatch = "dispatch_to_server"
	spanEncoding = "request_encoding"

	attributeSystem         = "db.system"
	attributeService        = "db.couchbase.service"
	attributeOperation      = "db.operation"
	attributeBucket         = "db.name"
	attributeScope          = "db.couchbase.scope"
	attributeCollection     = "db.couchbase.collection"
	attributeClusterName    = "db.couchbase.cluster_name"
	attributeClusterUUID    = "db.couchbase.cluster_uuid"
	attributeDurability     = "db.couchbase.durability"
	attributeRetries        = "db.couchbase.retries"
	attributeOperationID    = "db.couchbase.operation_id"
	attributeLocalID        = "db.couchbase.local_id"
	attributeServerDuration = "db.couchbase.server_duration"
	attributeTransport      = "net.transport"
	attributePeerName       = "net.peer.name"
	attributePeerPort       = "net.peer.port"
	attributeHostName       = "net.host.name"
	attributeHostPort       = "net.host.port"
)

// SetAttribute keeps what reports show.
func (s *thresholdSpan) SetAttribute(key string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := value.(string)
	switch key {
	case attributeService, stableService:
		s.service = text
	case attributeOperationID, stableOperationID:
		s.request.OperationID = text
	case attributeLocalID, stableLocalID:
		s.request.LocalID = text
	case attributePeerName, stablePeerName:
		s.remote.host = text
	case attributePeerPort:
		s.remote.port = text
	case stablePeerPort:
		s.remote.port = fmt.Sprint(value)
	case attributeHostName:
		s.local.host = text
	case attributeHostPort:
		s.local.port = text
	case attributeServerDuration, stableServerDuration:
		if us, ok := value.(int64); ok {
			s.request.LastServer = us
		}
	}
}

// AddEvent does nothing: reports have no events.
func (s *thresholdSpan) AddEvent(string, time.Time) {}

// Context returns the span itself, for its children.
func (s *thresholdSpan) Context() RequestSpanContext { return s }

// End gives the time to the parent, or to the report if the operation was slow.
func (s *thresholdSpan) End() {
	elapsed := time.Since(s.began)
	s.mu.Lock()
	r := s.request
	if r.RemoteSocket == "" { // else it is a child's
		r.RemoteSocket, r.LocalSocket = s.remote.String(), s.local.String()
	}
	service := s.service
	s.mu.Unlock()
	switch threshold, name := s.tracer.threshold(service); {
	case s.parent != nil && service == "":
		s.parent.ended(r, elapsed.Microseconds())
	case threshold > 0 && elapsed > threshold:
		r.Total = elapsed.Microseconds()
		s.tracer.slow.add(name, r)
	}
}

// ended takes the time of a child.
func (s *thresholdSpan) ended(child reportedRequest, us int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch child.Name {
	case spanEncoding:
		s.request.Encode += us
	case spanDispatch:
		r := &s.request
		r.LastDispatch, r.LastServer = us, child.LastServer
		r.TotalDispatch += us
		r.TotalServer += child.LastServer
		r.LocalID, r.LocalSocket, r.RemoteSocket = child.LocalID, child.LocalSocket, child.RemoteSocket
		if child.OperationID != "" {
			r.OperationID = child.OperationID
		}
	}
}
