package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Backend is what keeps the values of metrics. Its functions must be safe for concurrent use.
type Backend struct {
	// Series returns what records the values of a histogram or of a counter with these values of its attributes, "" for one that is absent. It
	// is called once for each series, and what it returns for each measurement. All values are valid UTF-8. It may keep them.
	Series func(d Definition, attributes []string) Record
	// Overflow is called instead of Series for each measurement of a metric that has MaxSeries already. Nil means that Series is: then the
	// backend has a limit of its own.
	Overflow func(d Definition, attributes []string) Record
}

// Record records a value of a series. The context is that of the operation.
type Record func(ctx context.Context, value float64)

// Source makes measurements of what the clients tell that have its tracer. It is safe for concurrent use.
type Source struct {
	series []series // by their Metric

	mu      sync.Mutex
	clients map[*telemetry.Client]bool // those that were opened and not closed
}

// New returns a source for a backend.
func New(b Backend) *Source {
	s := &Source{series: make([]series, len(definitions)), clients: make(map[*telemetry.Client]bool)}
	for i, d := range definitions {
		s.series[i].definition, s.series[i].backend = d, b
		s.series[i].all = make(map[values]*made)
	}
	return s
}

// Tracer returns a tracer for the configurations of all clients that are to be measured together.
func (s *Source) Tracer() *telemetry.Tracer {
	return &telemetry.Tracer{
		ClientOpened:   s.clientOpened,
		ClientClosed:   s.clientClosed,
		OperationEnded: s.operationEnded,
		Decided:        s.decided,
		Pool:           s.pool,
		Passive:        true,
	}
}

func (s *Source) operationEnded(ctx context.Context, o *telemetry.Operation, _ error) {
	v := ofOperation(o)
	s.series[OperationDuration].of(&v)(ctx, time.Since(o.Began).Seconds())
	if o.Rows >= 0 && o.ErrorType == "" {
		s.series[ReturnedRows].of(&v)(ctx, float64(o.Rows))
	}
}

func (s *Source) decided(ctx context.Context, d *telemetry.Decision) {
	if d.StopReason != "" {
		s.series[RetryStopped].ofOne(d.StopReason)(ctx, 1)
		return
	}
	v := values{d.Reason, d.Stage}
	if d.Operation != nil {
		v[2] = d.Operation.Name
	}
	v[3], v[4] = Server(d.Address)
	s.series[RetryAttempts].of(&v)(ctx, 1)
}

// timedOut is the reason of a checkout whose time was over, in the words of the specification of Connection Monitoring and Pooling.
const timedOut = "timeout"

func (s *Source) pool(ctx context.Context, e *telemetry.PoolEvent) {
	switch e.Kind {
	case telemetry.PoolCreated: // so that the first timeout shows as a growth
		s.series[ConnectionTimeouts].ofOne(e.Address)(ctx, 0)
	case telemetry.ConnectionReady:
		s.series[ConnectionCreateTime].ofOne(e.Address)(ctx, e.Took.Seconds())
	case telemetry.CheckedOut:
		s.series[ConnectionWaitTime].ofOne(e.Address)(ctx, e.Took.Seconds())
	case telemetry.CheckedIn:
		s.series[ConnectionUseTime].ofOne(e.Address)(ctx, e.Took.Seconds())
	case telemetry.CheckoutFailed:
		if e.Reason == timedOut {
			s.series[ConnectionTimeouts].ofOne(e.Address)(ctx, 1)
		}
	case telemetry.PoolReady, telemetry.PoolCleared, telemetry.PoolClosed,
		telemetry.ConnectionCreated, telemetry.ConnectionClosed, telemetry.CheckoutBegan:
	}
}
