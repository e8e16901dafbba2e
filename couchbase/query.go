package couchbase

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/services"
)

// QueryScanConsistency is how up to date the indexes must be that a query uses.
type QueryScanConsistency uint

// The consistencies of queries.
const (
	// QueryScanConsistencyNotBounded: the indexes as they are.
	QueryScanConsistencyNotBounded QueryScanConsistency = iota + 1
	// QueryScanConsistencyRequestPlus: the indexes with all that was written before the query.
	QueryScanConsistencyRequestPlus
)

// QueryProfileMode is how much the service tells about the work that a query made.
type QueryProfileMode string

// The modes of profiles.
const (
	QueryProfileModeNone    QueryProfileMode = "off"
	QueryProfileModePhases  QueryProfileMode = "phases"
	QueryProfileModeTimings QueryProfileMode = "timings"
)

// QueryUseReplicaLevel says whether a query may read from replicas.
type QueryUseReplicaLevel uint

// The levels. Not set means the cluster's own setting.
const (
	QueryUseReplicaLevelNotSet QueryUseReplicaLevel = iota
	QueryUseReplicaLevelOff
	QueryUseReplicaLevelOn
)

// QueryOptions are the options of [Cluster.Query] and [Scope.Query].
type QueryOptions struct {
	ScanConsistency QueryScanConsistency
	ConsistentWith  *MutationState // the indexes must have these mutations; it excludes ScanConsistency
	Profile         QueryProfileMode

	ScanCap        uint32        // entries that the indexer may send ahead; 0: the service's default
	PipelineBatch  uint32        // documents that are fetched at once; 0: the service's default
	PipelineCap    uint32        // documents between two operators; 0: the service's default
	ScanWait       time.Duration // how long the indexer may wait for the consistency; 0: the service's default
	Readonly       bool          // the statement changes nothing, so it may be retried like a read; the service checks it
	MaxParallelism uint32        // 0: the service's default

	// ClientContextID names the query in the logs of client and service. "" means a random UUID.
	ClientContextID      string
	PositionalParameters []any
	NamedParameters      map[string]any // with or without the dollar sign
	Metrics              bool           // the meta-data shall have metrics

	// Raw has further parameters of the service's API. They win over the other options.
	Raw map[string]any

	// Adhoc means that the statement is not prepared. Others are, once for all their runs.
	Adhoc         bool
	Timeout       time.Duration // until the first row, with all retries; then of the wait for each further row; 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's

	FlexIndex      bool // indexes of the search service may be used
	PreserveExpiry bool // changed documents keep their expiry

	ParentSpan RequestSpan
	Context    context.Context // its end ends the query; nil: it has no end

	UseReplica QueryUseReplicaLevel

	// Internal: Endpoint is the only node that is asked, for example "http://host:8093". User is not supported.
	Internal struct {
		User     string
		Endpoint string
	}
}

// Query runs a statement of the query service. The result must be closed, or read to its end.
func (c *Cluster) Query(statement string, opts *QueryOptions) (*QueryResult, error) {
	return c.http.query(keyspace{}, statement, opts)
}

// Query runs a statement of the query service. It finds the collections of the scope by their names.
func (s *Scope) Query(statement string, opts *QueryOptions) (*QueryResult, error) {
	return s.bucket.cluster.http.query(s.keyspace(), statement, opts)
}

// keyspace returns the scope as a part of the cluster.
func (s *Scope) keyspace() keyspace { return keyspace{bucket: s.bucket.name, scope: s.name} }

func (h *httpServices) query(in keyspace, statement string, opts *QueryOptions) (*QueryResult, error) {
	if opts == nil {
		opts = new(QueryOptions)
	}
	parameters, err := opts.parameters()
	if err != nil {
		return nil, &QueryError{InnerError: err, Statement: statement}
	}
	op, err := h.begin("query", ServiceTypeQuery, in, httpOptions{
		timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context, id: opts.ClientContextID,
		statement: statement, parametrized: len(opts.PositionalParameters) > 0 || len(opts.NamedParameters) > 0,
	}, h.timeouts.QueryTimeout)
	if err != nil {
		return nil, &QueryError{InnerError: err, Statement: statement}
	}
	op.attributes(attributeBucket, in.bucket, attributeScope, in.scope)
	op.call.Address = address(opts.Internal.Endpoint)
	fail := func(err error) error { return queryError(err, statement, op.call.ID, h.scheme) }
	rows, err := op.rows(func() (*services.Rows, error) {
		return h.client.Query(op.ctx, &services.Query{
			Call: op.call, Statement: statement, Context: in.queryContext(), Parameters: parameters, ReadOnly: opts.Readonly, Adhoc: opts.Adhoc,
		})
	}, fail)
	if err != nil {
		return nil, err
	}
	return &QueryResult{stream: rowStream{rows: rows, fail: fail}, scheme: h.scheme}, nil
}

// address returns the host and port of an endpoint, which may be a URL.
func address(endpoint string) string {
	_, host, found := strings.Cut(endpoint, "://")
	if !found {
		host = endpoint
	}
	return strings.TrimSuffix(host, "/")
}

// parameters returns the fields of the request's body.
func (o *QueryOptions) parameters() (map[string]any, error) {
	if o.Internal.User != "" {
		return nil, invalid("Internal.User is not supported")
	}
	p := make(map[string]any)
	if err := o.consistency(p); err != nil {
		return nil, err
	}
	switch o.UseReplica {
	case QueryUseReplicaLevelNotSet:
	case QueryUseReplicaLevelOff:
		p["use_replica"] = "off"
	case QueryUseReplicaLevelOn:
		p["use_replica"] = "on"
	default:
		return nil, invalid("UseReplica is %d: there is no such level", o.UseReplica)
	}
	if o.Profile != "" {
		p["profile"] = o.Profile
	}
	for name, n := range map[string]uint32{
		"scan_cap": o.ScanCap, "pipeline_batch": o.PipelineBatch, "pipeline_cap": o.PipelineCap, "max_parallelism": o.MaxParallelism,
	} {
		if n > 0 {
			p[name] = strconv.FormatUint(uint64(n), 10)
		}
	}
	if o.ScanWait != 0 {
		p["scan_wait"] = o.ScanWait.String()
	}
	if !o.Metrics {
		p["metrics"] = false
	}
	if o.FlexIndex {
		p["use_fts"] = true
	}
	if o.PreserveExpiry {
		p["preserve_expiry"] = true
	}
	arguments(p, o.PositionalParameters, o.NamedParameters)
	maps.Copy(p, o.Raw)
	return p, nil
}

// consistency adds the fields about the indexes.
func (o *QueryOptions) consistency(p map[string]any) error {
	if o.ScanConsistency != 0 && o.ConsistentWith != nil {
		return invalid("ScanConsistency and ConsistentWith exclude each other")
	}
	if o.ScanWait < 0 {
		return invalid("ScanWait is %v: it must not be negative", o.ScanWait)
	}
	switch {
	case o.ConsistentWith != nil:
		p["scan_consistency"], p["scan_vectors"] = "at_plus", o.ConsistentWith
	case o.ScanConsistency == QueryScanConsistencyNotBounded:
		p["scan_consistency"] = "not_bounded"
	case o.ScanConsistency == QueryScanConsistencyRequestPlus:
		p["scan_consistency"] = "request_plus"
	case o.ScanConsistency != 0:
		return invalid("ScanConsistency is %d: there is no such consistency", o.ScanConsistency)
	}
	return nil
}

// arguments adds the values of a statement's placeholders.
func arguments(p map[string]any, positional []any, named map[string]any) {
	if len(positional) > 0 {
		p["args"] = positional
	}
	for name, value := range named {
		if !strings.HasPrefix(name, "$") {
			name = "$" + name
		}
		p[name] = value
	}
}

// queryError returns the error of a query.
func queryError(err error, statement, id, scheme string) error {
	f := failureOf(err)
	e := &QueryError{
		InnerError: f, Statement: statement, ClientContextID: id, Endpoint: endpoint(scheme, f.Address), RetryReasons: f.retryReasons(),
		RetryAttempts: uint32(f.Retries), ErrorText: f.text(), HTTPStatusCode: f.status(),
	}
	for _, entry := range f.entries() {
		e.Errors = append(e.Errors, QueryErrorDesc{Code: entry.Code, Message: entry.Message, Retry: entry.Retry, Reason: entry.Reason})
	}
	return e
}

// endpoint returns the URL of a node, "" for none.
func endpoint(scheme, address string) string {
	if address == "" {
		return ""
	}
	return fmt.Sprintf("%s://%s", scheme, address)
}
