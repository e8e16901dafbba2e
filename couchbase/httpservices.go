package couchbase

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
	"github.com/holdfast-db/holdfast/retry"
)

// httpServices runs the operations of a cluster on its HTTP services.
type httpServices struct {
	client   *services.Client
	timeouts TimeoutsConfig // with the defaults
	strategy RetryStrategy  // nil: best effort
	tracer   RequestTracer
	meter    Meter
	scheme   string // of the endpoints in errors: "http" or "https"
}

// newHTTPServices returns the HTTP services of a cluster. close must be called.
func newHTTPServices(s *settings, cfg Config, c *cluster.Cluster) (*httpServices, error) {
	h := &httpServices{timeouts: s.timeouts, strategy: s.strategy, tracer: s.tracer, meter: s.meter, scheme: "http"}
	if h.tracer == nil {
		h.tracer = &NoopTracer{}
	}
	if h.meter == nil {
		h.meter = &NoopMeter{}
	}
	if s.cluster.KV.TLS != nil {
		h.scheme = "https"
	}
	credential := func(ctx context.Context, service clustermap.Service, address string) (services.Credential, error) {
		answer, err := s.credentials.of(ctx, serviceTypes[service], endpoint(h.scheme, address))
		return services.Credential{Username: answer.pair.Username, Password: answer.pair.Password, Token: answer.token}, err
	}
	var err error
	h.client, err = services.New(services.Config{
		Nodes: serviceNodes{c}, Dial: cfg.Dial, TLS: s.cluster.KV.TLS, Credential: credential, Agent: Identifier(),
		Strategy: retry.BestEffort(retry.BackoffOptions{}), Observer: cfg.Observer, ConnectTimeout: s.http.connectTimeout,
		IdleTimeout: s.http.idleTimeout, MaxIdle: s.http.maxIdle, MaxIdlePerNode: s.http.maxIdlePerHost, MaxPerNode: s.http.maxPerHost,
	})
	return h, err
}

// serviceTypes has the names of the services in this package.
var serviceTypes = map[clustermap.Service]ServiceType{
	clustermap.KeyValue: ServiceTypeKeyValue, clustermap.Management: ServiceTypeManagement, clustermap.Views: ServiceTypeViews,
	clustermap.Query: ServiceTypeQuery, clustermap.Search: ServiceTypeSearch, clustermap.Analytics: ServiceTypeAnalytics,
}

// close ends all operations and connections.
func (h *httpServices) close() { h.client.Close() }

// httpOptions are the options that all operations on HTTP services have.
type httpOptions struct {
	timeout  time.Duration
	strategy RetryStrategy
	parent   RequestSpan
	ctx      context.Context
	id       string // the caller's own, or ""
}

// httpOperation is one operation on an HTTP service.
type httpOperation struct {
	on   *httpServices
	ctx  context.Context
	call services.Call
	span RequestSpan
	// labels are those of the measurement.
	labels map[string]string
	began  time.Time
}

// keyspace says in which part of a cluster an operation is. The zero value is the whole cluster.
type keyspace struct{ bucket, scope, collection string }

// queryContext returns the context in which a statement of the scope finds its collections.
func (k keyspace) queryContext() string {
	if k.scope == "" {
		return ""
	}
	return fmt.Sprintf("default:`%s`.`%s`", k.bucket, k.scope)
}

// begin begins an operation. end must be called.
func (h *httpServices) begin(name string, service ServiceType, in keyspace, o httpOptions, otherwise time.Duration) (*httpOperation, error) {
	if o.timeout < 0 {
		return nil, invalid("Timeout is %v: it must not be negative", o.timeout)
	}
	if o.timeout == 0 {
		o.timeout = otherwise
	}
	if o.ctx == nil {
		o.ctx = context.Background()
	}
	if o.id == "" {
		o.id = newID()
	}
	if o.strategy == nil {
		o.strategy = h.strategy
	}
	op := &httpOperation{on: h, ctx: o.ctx, began: time.Now()}
	var parent RequestSpanContext
	if o.parent != nil {
		parent = o.parent.Context()
	}
	op.span = h.tracer.RequestSpan(parent, name)
	op.labels = map[string]string{attributeService: spanServices[service], attributeOperation: name}
	in.label(op.labels)
	op.span.SetAttribute(attributeSystem, "couchbase")
	op.span.SetAttribute(attributeService, spanServices[service])
	op.call = services.Call{Name: name, ID: o.id, Timeout: o.timeout, Strategy: engineStrategy(o.ctx, o.strategy), OnDispatch: op.dispatched}
	return op, nil
}

// spanServices has the names of the services in spans and measurements.
var spanServices = map[ServiceType]string{
	ServiceTypeQuery: "query", ServiceTypeAnalytics: "analytics", ServiceTypeSearch: "search", ServiceTypeViews: "views",
	ServiceTypeManagement: "management",
}

// label adds the names that are known.
func (k keyspace) label(labels map[string]string) {
	for name, value := range map[string]string{attributeBucket: k.bucket, attributeScope: k.scope, attributeCollection: k.collection} {
		if value != "" {
			labels[name] = value
		}
	}
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// attributes gives the span further attributes, which are pairs of names and values.
func (op *httpOperation) attributes(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			op.span.SetAttribute(pairs[i], pairs[i+1])
		}
	}
}

// statement gives the span the statement. By the stable names only one with parameters is shown: others may have secrets in them.
func (op *httpOperation) statement(text string, parametrized bool) {
	op.span.SetAttribute("db.statement", text)
	if parametrized {
		stableOnly(op.span, stableStatement, text)
	}
}

// dispatched begins the span of one attempt.
func (op *httpOperation) dispatched(d services.Dispatch) func(error) {
	span := op.on.tracer.RequestSpan(op.span.Context(), spanDispatch)
	span.SetAttribute(attributeSystem, "couchbase")
	span.SetAttribute(attributeTransport, "IP.TCP")
	span.SetAttribute(attributeOperationID, op.call.ID)
	span.SetAttribute(attributePeerName, hostOf(d.Remote))
	span.SetAttribute(attributePeerPort, portOf(d.Remote))
	span.SetAttribute(attributeRetries, d.Retries)
	return func(error) { span.End() }
}

// end ends an operation: its span and its measurement.
func (op *httpOperation) end(err error) {
	op.span.End()
	op.labels[tagOutcome] = outcome(err)
	recorder, failed := op.on.meter.ValueRecorder(meterOperations, op.labels)
	if failed == nil && recorder != nil {
		recorder.RecordValue(uint64(max(time.Since(op.began).Microseconds(), 0)))
	}
}
