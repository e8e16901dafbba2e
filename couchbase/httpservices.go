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
	"github.com/holdfast-db/holdfast/telemetry"
)

// httpServices runs the operations of a cluster on its HTTP services.
type httpServices struct {
	client   *services.Client
	timeouts TimeoutsConfig // with the defaults
	strategy RetryStrategy  // nil: best effort
	tracer   RequestTracer
	told     *telemetry.Tracer // the application's; nil: nobody is told
	labels   func() clusterLabels
	meter    Meter
	scheme   string // of the endpoints in errors: "http" or "https"
}

// newHTTPServices returns the HTTP services of a cluster. close must be called.
func newHTTPServices(s *settings, cfg Config, c *cluster.Cluster) (*httpServices, error) {
	h := &httpServices{timeouts: s.timeouts, strategy: s.strategy, tracer: s.tracer, meter: s.meter, told: cfg.Tracer, scheme: "http"}
	h.labels = func() clusterLabels { return labelsOf(c) }
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
		Pools: s.cluster.Pools,
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
	// statement is the text of a query. If it has no parameters it may have secrets in it: then only spans with the old names show it.
	statement    string
	parametrized bool
}

// httpOperation is one operation on an HTTP service.
type httpOperation struct {
	on   *httpServices
	ctx  context.Context
	call services.Call
	span RequestSpan
	// traced is nil if the application has no tracer.
	traced *traced
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

// begin begins an operation. run, or rows, must be called.
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
	op.trace(name, spanServices[service], in, o)
	var parent RequestSpanContext
	if o.parent != nil {
		parent = o.parent.Context()
	}
	op.span = h.tracer.RequestSpan(parent, name)
	op.labels = map[string]string{attributeService: spanServices[service], attributeOperation: name}
	in.label(op.labels)
	op.span.SetAttribute(attributeSystem, "couchbase")
	op.span.SetAttribute(attributeService, spanServices[service])
	op.showStatement(o)
	op.call = services.Call{Name: name, ID: o.id, Timeout: o.timeout, Strategy: engineStrategy(o.ctx, o.strategy), OnDispatch: op.dispatched}
	return op, nil
}

// trace tells the application's tracer that the operation begins.
func (op *httpOperation) trace(name, service string, in keyspace, o httpOptions) {
	if op.on.told == nil {
		return
	}
	told := telemetry.Operation{Name: name, Namespace: in.bucket, Scope: in.scope, Collection: in.collection, Service: service}
	if o.parametrized {
		told.Statement = o.statement
	}
	op.traced = trace(o.ctx, op.on.told, op.on.labels(), told)
	op.ctx = op.traced.run()
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

// showStatement gives the span the statement.
func (op *httpOperation) showStatement(o httpOptions) {
	if o.statement == "" {
		return
	}
	op.span.SetAttribute("db.statement", o.statement)
	if o.parametrized {
		stableOnly(op.span, stableStatement, o.statement)
	}
}

// dispatched begins one attempt: its span, and what a tracer is told of it.
func (op *httpOperation) dispatched(d services.Dispatch) services.Dispatched {
	ended := op.attempted(d)
	span := op.on.tracer.RequestSpan(op.span.Context(), spanDispatch)
	span.SetAttribute(attributeSystem, "couchbase")
	span.SetAttribute(attributeTransport, "IP.TCP")
	span.SetAttribute(attributeOperationID, op.call.ID)
	span.SetAttribute(attributePeerName, hostOf(d.Remote))
	span.SetAttribute(attributePeerPort, portOf(d.Remote))
	span.SetAttribute(attributeRetries, d.Retries)
	return services.Dispatched{Head: func(error) { span.End() }, Ended: ended}
}

// run runs the operation, and ends it: its span, its measurement, and what a tracer is told.
func (op *httpOperation) run(f func() error) (err error) {
	err = errPanicked
	defer func() { op.end(err) }()
	err = f()
	op.traced.returned()
	return err
}

// rows runs the operation up to the first row of its result. After a panic nothing of the result is left open.
func (op *httpOperation) rows(f func() (*services.Rows, error), fail func(error) error) (rows *services.Rows, err error) {
	ended := false
	defer func() {
		if !ended && rows != nil {
			rows.Close()
		}
	}()
	err = op.run(func() (err error) {
		if rows, err = f(); err != nil {
			return fail(err)
		}
		return nil
	})
	ended = true
	return rows, err
}

func (op *httpOperation) end(err error) {
	defer op.traced.end(err)
	op.span.End()
	op.labels[tagOutcome] = outcome(err)
	recorder, failed := op.on.meter.ValueRecorder(meterOperations, op.labels)
	if failed == nil && recorder != nil {
		recorder.RecordValue(uint64(max(time.Since(op.began).Microseconds(), 0)))
	}
}
