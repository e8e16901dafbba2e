package couchbase

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// LoggingMeterOptions are the options of [NewLoggingMeter].
type LoggingMeterOptions struct {
	EmitInterval time.Duration // between reports; default 10 min
}

// AggregatingMeterOptions are the options of [NewAggregatingMeter].
type AggregatingMeterOptions struct {
	EmitInterval time.Duration // between reports; default 10 min
}

// LoggingMeter logs at intervals how long operations took: their number and percentiles, by service and operation. It is the meter of a
// cluster that sets none. It is safe for concurrent use.
type LoggingMeter struct {
	interval time.Duration

	mu        sync.Mutex
	recorders map[[2]string]*latencies // by service and operation
	stable    map[[2]string]bool       // whether a recorder was first asked for by the stable names
	timer     *time.Timer              // nil: nothing was recorded since the last report
	armed     atomic.Bool
	closed    bool
}

var _ Meter = (*LoggingMeter)(nil)

// NewLoggingMeter returns a meter. Nil means the defaults.
func NewLoggingMeter(opts *LoggingMeterOptions) *LoggingMeter {
	m := &LoggingMeter{recorders: make(map[[2]string]*latencies), stable: make(map[[2]string]bool)}
	if opts != nil {
		m.interval = opts.EmitInterval
	}
	setDefault(&m.interval, 10*time.Minute)
	return m
}

// NewAggregatingMeter returns a meter.
//
// Deprecated: use NewLoggingMeter.
func NewAggregatingMeter(opts *AggregatingMeterOptions) *LoggingMeter {
	return NewLoggingMeter((*LoggingMeterOptions)(opts))
}

// Counter returns a counter that does nothing: the report has no counters.
func (am *LoggingMeter) Counter(_ string, _ map[string]string) (Counter, error) {
	return noopInstrument{}, nil
}

// ValueRecorder returns the recorder of an operation, which its tags name by the old or the stable names. Those of other measurements do
// nothing, and neither does the second one of an operation that is measured by both names.
func (am *LoggingMeter) ValueRecorder(name string, tags map[string]string) (ValueRecorder, error) {
	service, operation := tags[attributeService], tags[attributeOperation]
	stable := name == stableOperations
	if stable {
		service, operation = tags[stableService], tags[stableOperation]
	}
	if name != meterOperations && !stable || service == "" || !am.first(service, operation, stable) {
		return noopInstrument{}, nil
	}
	return am.recorder(service, operation), nil
}

// first reports whether an operation was first measured by these names.
func (am *LoggingMeter) first(service, operation string, stable bool) bool {
	am.mu.Lock()
	defer am.mu.Unlock()
	key := [2]string{service, operation}
	if _, known := am.stable[key]; !known {
		am.stable[key] = stable
	}
	return am.stable[key] == stable
}

// meterOperations is the name of the measurement of all operations.
const meterOperations = "db.couchbase.operations"

func (am *LoggingMeter) recorder(service, operation string) *latencies {
	am.mu.Lock()
	defer am.mu.Unlock()
	key := [2]string{service, operation}
	r := am.recorders[key]
	if r == nil {
		r = &latencies{meter: am}
		am.recorders[key] = r
	}
	return r
}

// arm begins the interval before the next report.
func (am *LoggingMeter) arm() {
	am.mu.Lock()
	defer am.mu.Unlock()
	if !am.closed && am.armed.CompareAndSwap(false, true) {
		am.timer = time.AfterFunc(am.interval, am.report)
	}
}

// close logs what there is, and ends the reports.
func (am *LoggingMeter) close() {
	am.mu.Lock()
	am.closed = true
	if am.timer != nil {
		am.timer.Stop()
	}
	am.mu.Unlock()
	am.report()
}

// operationReport is one operation in a report.
type operationReport struct {
	Count       uint64            `json:"total_count"`
	Percentiles map[string]uint64 `json:"percentiles_us"`
}

// report logs the operations since the last report.
func (am *LoggingMeter) report() {
	am.mu.Lock()
	am.armed.Store(false)
	operations := make(map[string]map[string]operationReport)
	for key, r := range am.recorders {
		report, used := r.take()
		if !used {
			continue
		}
		if operations[key[0]] == nil {
			operations[key[0]] = make(map[string]operationReport)
		}
		operations[key[0]][key[1]] = report
	}
	am.mu.Unlock()
	if len(operations) == 0 {
		return
	}
	b, err := json.Marshal(map[string]any{"meta": map[string]any{"emit_interval_s": int64(am.interval / time.Second)}, "operations": operations})
	if err == nil {
		logf(LogInfo, "Metrics: %s", b)
	}
}

// The buckets of latencies: each power of two of microseconds has four.
const (
	bucketBits  = 2
	perPower    = 1 << bucketBits
	bucketCount = (64 - bucketBits + 1) * perPower
)

// latencies counts the durations of one operation in buckets.
type latencies struct {
	meter   *LoggingMeter
	buckets [bucketCount]atomic.Uint32
}

var _ ValueRecorder = (*latencies)(nil)

// RecordValue adds a duration in microseconds.
func (l *latencies) RecordValue(us uint64) {
	l.buckets[bucketOf(us)].Add(1)
	if !l.meter.armed.Load() {
		l.meter.arm()
	}
}

// bucketOf returns the bucket of a value.
func bucketOf(v uint64) int {
	power := bits.Len64(v)
	if power <= bucketBits {
		return int(v)
	}
	shift := power - bucketBits - 1
	return (shift+1)*perPower + int(v>>shift)&(perPower-1)
}

// limitOf returns the largest value of a bucket.
func limitOf(bucket int) uint64 {
	if bucket < perPower {
		return uint64(bucket)
	}
	shift := bucket/perPower - 1
	return uint64(perPower+bucket%perPower+1)<<shift - 1
}

// take returns the report of what was recorded, and begins anew. It reports false if there was nothing.
func (l *latencies) take() (operationReport, bool) {
	var counts [bucketCount]uint32
	report := operationReport{Percentiles: make(map[string]uint64)}
	for i := range l.buckets {
		counts[i] = l.buckets[i].Swap(0)
		report.Count += uint64(counts[i])
	}
	if report.Count == 0 {
		return report, false
	}
	for _, percentile := range []float64{50, 90, 99, 99.9, 100} {
		report.Percentiles[fmt.Sprintf("%.1f", percentile)] = quantile(&counts, report.Count, percentile)
	}
	return report, true
}

// quantile returns the value below which a percentage of the values is.
func quantile(counts *[bucketCount]uint32, total uint64, percentile float64) uint64 {
	wanted := uint64(float64(total)*percentile/100 + 0.9999)
	seen := uint64(0)
	for i, n := range counts {
		seen += uint64(n)
		if n > 0 && seen >= wanted {
			return limitOf(i)
		}
	}
	return 0
}
