package couchbase

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
	"github.com/holdfast-db/holdfast/retry"
)

// AnalyticsScanConsistency is how up to date the data must be that an analytics query reads.
type AnalyticsScanConsistency uint

// The consistencies of analytics queries.
const (
	// AnalyticsScanConsistencyNotBounded: the data as they are.
	AnalyticsScanConsistencyNotBounded AnalyticsScanConsistency = iota + 1
	// AnalyticsScanConsistencyRequestPlus: the data with all that was written before the query.
	AnalyticsScanConsistencyRequestPlus
)

// AnalyticsOptions are the options of [Cluster.AnalyticsQuery] and [Scope.AnalyticsQuery].
type AnalyticsOptions struct {
	// ClientContextID names the query in the logs of client and service. "" means a random UUID.
	ClientContextID string

	Priority             bool // the query goes before those without priority
	PositionalParameters []any
	NamedParameters      map[string]any // with or without the dollar sign
	Readonly             bool           // the statement changes nothing, so it may be retried like a read
	ScanConsistency      AnalyticsScanConsistency

	// Raw has further parameters of the service's API. They win over the other options.
	Raw map[string]any

	Timeout       time.Duration // until the first row, with all retries; then of the wait for each further row; 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's

	ParentSpan RequestSpan
	Context    context.Context // its end ends the query; nil: it has no end

	// Internal: User is not supported.
	Internal struct {
		User string
	}
}

// AnalyticsQuery runs a statement of the analytics service. The result must be closed, or read to its end.
func (c *Cluster) AnalyticsQuery(statement string, opts *AnalyticsOptions) (*AnalyticsResult, error) {
	return c.http.analytics(keyspace{}, statement, opts)
}

// AnalyticsQuery runs a statement of the analytics service. It finds the collections of the scope by their names.
func (s *Scope) AnalyticsQuery(statement string, opts *AnalyticsOptions) (*AnalyticsResult, error) {
	return s.bucket.cluster.http.analytics(s.keyspace(), statement, opts)
}

func (h *httpServices) analytics(in keyspace, statement string, opts *AnalyticsOptions) (*AnalyticsResult, error) {
	if opts == nil {
		opts = new(AnalyticsOptions)
	}
	parameters, err := opts.parameters()
	if err != nil {
		return nil, &AnalyticsError{InnerError: err, Statement: statement}
	}
	op, err := h.begin("analytics", ServiceTypeAnalytics, in, httpOptions{
		timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context, id: opts.ClientContextID,
		statement: statement, parametrized: len(opts.PositionalParameters) > 0 || len(opts.NamedParameters) > 0,
	}, h.timeouts.AnalyticsTimeout)
	if err != nil {
		return nil, &AnalyticsError{InnerError: err, Statement: statement}
	}
	op.attributes(attributeBucket, in.bucket, attributeScope, in.scope)
	parameters["statement"], parameters["client_context_id"] = statement, op.call.ID
	if in.scope != "" {
		parameters["query_context"] = in.queryContext()
	}
	fail := func(err error) error { return analyticsError(err, statement, op.call.ID, h.scheme) }
	rows, err := op.rows(func() (*services.Rows, error) {
		return h.client.Stream(op.ctx, opts.request(op.call, parameters))
	}, fail)
	if err != nil {
		return nil, err
	}
	return &AnalyticsResult{rowStream{rows: rows, fail: fail}}, nil
}

// request returns the request with the fields of its body.
func (o *AnalyticsOptions) request(call services.Call, parameters map[string]any) *services.Request {
	r := &services.Request{
		Call: call, Service: clustermap.Analytics, Method: http.MethodPost, Path: "/query/service",
		Header: http.Header{"Analytics-Priority": {"0"}},
		Body: func(left time.Duration) ([]byte, error) {
			parameters["timeout"] = left.String()
			return json.Marshal(parameters)
		},
	}
	if o.Priority {
		r.Header.Set("Analytics-Priority", "-1")
	}
	if o.Readonly {
		r.Idempotency = retry.ReadOnly
	}
	return r
}

// parameters returns the fields of the request's body.
func (o *AnalyticsOptions) parameters() (map[string]any, error) {
	if o.Internal.User != "" {
		return nil, invalid("Internal.User is not supported")
	}
	p := make(map[string]any)
	switch o.ScanConsistency {
	case 0:
	case AnalyticsScanConsistencyNotBounded:
		p["scan_consistency"] = "not_bounded"
	case AnalyticsScanConsistencyRequestPlus:
		p["scan_consistency"] = "request_plus"
	default:
		return nil, invalid("ScanConsistency is %d: there is no such consistency", o.ScanConsistency)
	}
	if o.Readonly {
		p["readonly"] = true
	}
	arguments(p, o.PositionalParameters, o.NamedParameters)
	maps.Copy(p, o.Raw)
	return p, nil
}

// analyticsError returns the error of an analytics query.
func analyticsError(err error, statement, id, scheme string) error {
	f := failureOf(err)
	e := &AnalyticsError{
		InnerError: f, Statement: statement, ClientContextID: id, Endpoint: endpoint(scheme, f.Address), RetryReasons: f.retryReasons(),
		RetryAttempts: uint32(f.Retries), ErrorText: f.text(), HTTPStatusCode: f.status(),
	}
	for _, entry := range f.entries() {
		e.Errors = append(e.Errors, AnalyticsErrorDesc{Code: entry.Code, Message: entry.Message})
	}
	return e
}
