package couchbase

import (
	"encoding/json"
	"slices"
	"time"
)

// QueryStatus is the state of a query at the end of its result.
type QueryStatus string

// The states.
const (
	QueryStatusRunning   QueryStatus = "running"
	QueryStatusSuccess   QueryStatus = "success"
	QueryStatusErrors    QueryStatus = "errors"
	QueryStatusCompleted QueryStatus = "completed"
	QueryStatusStopped   QueryStatus = "stopped"
	QueryStatusTimeout   QueryStatus = "timeout"
	QueryStatusClosed    QueryStatus = "closed"
	QueryStatusFatal     QueryStatus = "fatal"
	QueryStatusAborted   QueryStatus = "aborted"
	QueryStatusUnknown   QueryStatus = "unknown" // one that this client does not know
)

var queryStatuses = []QueryStatus{
	QueryStatusRunning, QueryStatusSuccess, QueryStatusErrors, QueryStatusCompleted, QueryStatusStopped, QueryStatusTimeout,
	QueryStatusClosed, QueryStatusFatal, QueryStatusAborted,
}

// QueryResult is the result of a query. It must be closed, or read to its end. It is not safe for concurrent use.
type QueryResult struct {
	stream rowStream
	scheme string
}

// Next reads the next row. It returns false at the end and after an error, which [QueryResult.Err] returns.
func (r *QueryResult) Next() bool { return r.stream.next() }

// Row decodes the current row. It returns [ErrNoResult] if there is none.
func (r *QueryResult) Row(valuePtr any) error { return r.stream.row(valuePtr) }

// One decodes the first row and reads all others. It returns [ErrNoResult] if there is none.
func (r *QueryResult) One(valuePtr any) error { return r.stream.one(valuePtr) }

// Err returns the error that ended the rows, a pointer to a [QueryError], or nil.
func (r *QueryResult) Err() error { return r.stream.err() }

// Close ends the query if it is still under way, and returns what Err does.
func (r *QueryResult) Close() error { return r.stream.close() }

// MetaData returns what the result has beside its rows. It is known after the last row.
func (r *QueryResult) MetaData() (*QueryMetaData, error) {
	b, err := r.stream.metaData()
	if err != nil {
		return nil, err
	}
	return readQueryMetaData(b)
}

// Raw returns the result as bytes. The QueryResult cannot be used any more.
func (r *QueryResult) Raw() *QueryResultRaw { return &QueryResultRaw{r.stream.give()} }

// QueryResultInternal has what applications seldom need.
type QueryResultInternal struct{ endpoint string }

// Internal returns what applications seldom need.
func (r *QueryResult) Internal() *QueryResultInternal {
	return &QueryResultInternal{endpoint(r.scheme, r.stream.rows.Address())}
}

// Endpoint returns the URL of the node that answers.
func (r *QueryResultInternal) Endpoint() string { return r.endpoint }

// QueryResultRaw is a result as bytes. It must be closed, or read to its end.
type QueryResultRaw struct{ stream rowStream }

// NextBytes returns the next row, or nil at the end and after an error.
func (qrr *QueryResultRaw) NextBytes() []byte { return qrr.stream.nextBytes() }

// Err returns the error that ended the rows, or nil.
func (qrr *QueryResultRaw) Err() error { return qrr.stream.err() }

// Close ends the query if it is still under way, and returns what Err does.
func (qrr *QueryResultRaw) Close() error { return qrr.stream.close() }

// MetaData returns what the result has beside its rows, as one JSON object. It is known after the last row.
func (qrr *QueryResultRaw) MetaData() ([]byte, error) { return qrr.stream.metaData() }

// QueryMetaData is what a result has beside its rows.
type QueryMetaData struct {
	RequestID       string
	ClientContextID string
	Status          QueryStatus
	Metrics         QueryMetrics // only with [QueryOptions.Metrics]
	Signature       any          // the types of the columns
	Warnings        []QueryWarning
	Profile         any // only with [QueryOptions.Profile]
}

// QueryMetrics are the service's measurements of a query.
type QueryMetrics struct {
	ElapsedTime   time.Duration // with the time in queues
	ExecutionTime time.Duration
	ResultCount   uint64
	ResultSize    uint64 // bytes
	MutationCount uint64
	SortCount     uint64
	ErrorCount    uint64
	WarningCount  uint64
}

// QueryWarning is a warning of the service.
type QueryWarning struct {
	Code    uint32
	Message string
}

// serviceMetrics are the measurements of the query and the analytics service.
type serviceMetrics struct {
	ElapsedTime      goDuration `json:"elapsedTime"`
	ExecutionTime    goDuration `json:"executionTime"`
	ResultCount      uint64     `json:"resultCount"`
	ResultSize       uint64     `json:"resultSize"`
	MutationCount    uint64     `json:"mutationCount"`
	SortCount        uint64     `json:"sortCount"`
	ErrorCount       uint64     `json:"errorCount"`
	WarningCount     uint64     `json:"warningCount"`
	ProcessedObjects uint64     `json:"processedObjects"`
}

// goDuration is a duration that is written as Go does. One that cannot be read is zero: a measurement must not spoil a result.
type goDuration time.Duration

func (d *goDuration) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		parsed, _ := time.ParseDuration(text)
		*d = goDuration(parsed)
	}
	return nil
}

// serviceMetaData is what the query and the analytics service send beside the rows.
type serviceMetaData struct {
	RequestID       string         `json:"requestID"`
	ClientContextID string         `json:"clientContextID"`
	Status          QueryStatus    `json:"status"`
	Metrics         serviceMetrics `json:"metrics"`
	Signature       any            `json:"signature"`
	Profile         any            `json:"profile"`
	Warnings        []struct {
		Code    uint32 `json:"code"`
		Message string `json:"msg"`
	} `json:"warnings"`
}

func readQueryMetaData(b []byte) (*QueryMetaData, error) {
	var m serviceMetaData
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	if !slices.Contains(queryStatuses, m.Status) {
		m.Status = QueryStatusUnknown
	}
	meta := &QueryMetaData{
		RequestID: m.RequestID, ClientContextID: m.ClientContextID, Status: m.Status, Signature: m.Signature, Profile: m.Profile,
		Metrics: QueryMetrics{
			ElapsedTime: time.Duration(m.Metrics.ElapsedTime), ExecutionTime: time.Duration(m.Metrics.ExecutionTime),
			ResultCount: m.Metrics.ResultCount, ResultSize: m.Metrics.ResultSize, MutationCount: m.Metrics.MutationCount,
			SortCount: m.Metrics.SortCount, ErrorCount: m.Metrics.ErrorCount, WarningCount: m.Metrics.WarningCount,
		},
	}
	for _, w := range m.Warnings {
		meta.Warnings = append(meta.Warnings, QueryWarning{Code: w.Code, Message: w.Message})
	}
	return meta, nil
}
