package couchbase

import (
	"encoding/json"
	"time"
)

// AnalyticsResult is the result of an analytics query. It must be closed, or read to its end. It is not safe for concurrent use.
type AnalyticsResult struct{ stream rowStream }

// Next reads the next row. It returns false at the end and after an error, which [AnalyticsResult.Err] returns.
func (r *AnalyticsResult) Next() bool { return r.stream.next() }

// Row decodes the current row. It returns [ErrNoResult] if there is none.
func (r *AnalyticsResult) Row(valuePtr any) error { return r.stream.row(valuePtr) }

// One decodes the first row and reads all others. It returns [ErrNoResult] if there is none.
func (r *AnalyticsResult) One(valuePtr any) error { return r.stream.one(valuePtr) }

// Err returns the error that ended the rows, a pointer to an [AnalyticsError], or nil.
func (r *AnalyticsResult) Err() error { return r.stream.err() }

// Close ends the query if it is still under way, and returns what Err does.
func (r *AnalyticsResult) Close() error { return r.stream.close() }

// MetaData returns what the result has beside its rows. It is known after the last row.
func (r *AnalyticsResult) MetaData() (*AnalyticsMetaData, error) {
	b, err := r.stream.metaData()
	if err != nil {
		return nil, err
	}
	return readAnalyticsMetaData(b)
}

// Raw returns the result as bytes. The AnalyticsResult cannot be used any more.
func (r *AnalyticsResult) Raw() *AnalyticsResultRaw { return &AnalyticsResultRaw{r.stream.give()} }

// AnalyticsResultRaw is a result as bytes. It must be closed, or read to its end.
type AnalyticsResultRaw struct{ stream rowStream }

// NextBytes returns the next row, or nil at the end and after an error.
func (arr *AnalyticsResultRaw) NextBytes() []byte { return arr.stream.nextBytes() }

// Err returns the error that ended the rows, or nil.
func (arr *AnalyticsResultRaw) Err() error { return arr.stream.err() }

// Close ends the query if it is still under way, and returns what Err does.
func (arr *AnalyticsResultRaw) Close() error { return arr.stream.close() }

// MetaData returns what the result has beside its rows, as one JSON object. It is known after the last row.
func (arr *AnalyticsResultRaw) MetaData() ([]byte, error) { return arr.stream.metaData() }

// AnalyticsMetaData is what a result has beside its rows.
type AnalyticsMetaData struct {
	RequestID       string
	ClientContextID string
	Metrics         AnalyticsMetrics
	Signature       any // the types of the columns
	Warnings        []AnalyticsWarning
}

// AnalyticsMetrics are the service's measurements of a query.
type AnalyticsMetrics struct {
	ElapsedTime      time.Duration // with the time in queues
	ExecutionTime    time.Duration
	ResultCount      uint64
	ResultSize       uint64 // bytes
	MutationCount    uint64
	SortCount        uint64
	ErrorCount       uint64
	WarningCount     uint64
	ProcessedObjects uint64
}

// AnalyticsWarning is a warning of the service.
type AnalyticsWarning struct {
	Code    uint32
	Message string
}

func readAnalyticsMetaData(b []byte) (*AnalyticsMetaData, error) {
	var m serviceMetaData
	if err := json.Unmarshal(b, &m); err != nil {
		return nil, err
	}
	meta := &AnalyticsMetaData{
		RequestID: m.RequestID, ClientContextID: m.ClientContextID, Signature: m.Signature,
		Metrics: AnalyticsMetrics{
			ElapsedTime: time.Duration(m.Metrics.ElapsedTime), ExecutionTime: time.Duration(m.Metrics.ExecutionTime),
			ResultCount: m.Metrics.ResultCount, ResultSize: m.Metrics.ResultSize, MutationCount: m.Metrics.MutationCount,
			SortCount: m.Metrics.SortCount, ErrorCount: m.Metrics.ErrorCount, WarningCount: m.Metrics.WarningCount,
			ProcessedObjects: m.Metrics.ProcessedObjects,
		},
	}
	for _, w := range m.Warnings {
		meta.Warnings = append(meta.Warnings, AnalyticsWarning{Code: w.Code, Message: w.Message})
	}
	return meta, nil
}
