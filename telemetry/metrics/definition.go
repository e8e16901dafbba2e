package metrics

// Kind is what the values of a metric mean.
type Kind uint8

// The kinds of metrics. Histograms and counters are recorded when something happens; up-down counters and gauges are read by [Source.Read].
const (
	Histogram     Kind = iota + 1 // a distribution
	Counter                       // a sum that only grows
	UpDownCounter                 // a sum of what there is now
	Gauge                         // a value that must not be added to others
)

// Definition is what is known of a metric before there is a value. It must not be changed.
type Definition struct {
	Metric      Metric
	Name        string
	Description string
	// Unit is "s", or one in braces such as "{row}".
	Unit string
	Kind Kind
	// Integer means that all values are whole numbers.
	Integer bool
	// Boundaries are the upper ends of a histogram's buckets, each included, without the last one, which has none.
	Boundaries []float64
	// Attributes are the names of the attributes, in the order of their values.
	Attributes []string
}

// Metric is one of the metrics. It is the index of its definition in what [Definitions] returns.
type Metric int

// The metrics.
const (
	OperationDuration Metric = iota
	ReturnedRows
	ConnectionCount
	ConnectionIdleMax
	ConnectionIdleMin
	ConnectionMax
	ConnectionPendingRequests
	ConnectionTimeouts
	ConnectionCreateTime
	ConnectionWaitTime
	ConnectionUseTime
	RetryAttempts
	RetryStopped
	RetryBudgetTokens
	BreakerState
)

// The values of the metric holdfast.breaker.state.
const (
	BreakerClosed   = 0 // attempts are permitted
	BreakerHalfOpen = 1 // one attempt is permitted, as a probe
	BreakerOpen     = 2 // no attempt is permitted
)
