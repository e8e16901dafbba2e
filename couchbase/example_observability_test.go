package couchbase_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// spanNames is a tracer that keeps the names of the spans that ended.
type spanNames struct {
	mu    sync.Mutex
	names []string
}

func (s *spanNames) RequestSpan(_ couchbase.RequestSpanContext, operation string) couchbase.RequestSpan {
	return &namedSpan{of: s, name: operation}
}

type namedSpan struct {
	of   *spanNames
	name string
}

func (s *namedSpan) End() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.names = append(s.of.names, s.name)
}

func (s *namedSpan) Context() couchbase.RequestSpanContext { return s }

func (s *namedSpan) AddEvent(string, time.Time) {}

func (s *namedSpan) SetAttribute(string, any) {}

func ExampleRequestTracer() {
	tracer := &spanNames{}
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{Tracer: tracer})
	_, err := cluster.Bucket("default").DefaultCollection().Upsert("a", 1, nil)
	ok(err)
	end()
	fmt.Println(slices.Contains(tracer.names, "upsert"), slices.Contains(tracer.names, "request_encoding"))
	// Output:
	// true true
}

// valueCounts is a meter that counts the values of each service and operation.
type valueCounts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *valueCounts) Counter(string, map[string]string) (couchbase.Counter, error) { return c, nil }

func (c *valueCounts) IncrementBy(uint64) {}

func (c *valueCounts) ValueRecorder(_ string, tags map[string]string) (couchbase.ValueRecorder, error) {
	return recorder{c, tags["db.couchbase.service"] + " " + tags["db.operation"]}, nil
}

type recorder struct {
	of   *valueCounts
	name string
}

func (r recorder) RecordValue(uint64) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.n[r.name]++
}

func ExampleMeter() {
	meter := &valueCounts{n: map[string]int{}}
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{Meter: meter})
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	end()
	fmt.Println(meter.n)
	// Output:
	// map[kv insert:1]
}

// stableNames counts the operations by the tags of OpenTelemetry's stable conventions.
type stableNames struct{ *valueCounts }

func (c stableNames) ValueRecorder(name string, tags map[string]string) (couchbase.ValueRecorder, error) {
	return recorder{c.valueCounts, name + " of " + tags["db.operation.name"]}, nil
}

// The names of OpenTelemetry's stable conventions for databases, in place of the old ones.
func ExampleObservabilityConfig() {
	meter := stableNames{&valueCounts{n: map[string]int{}}}
	stable := []couchbase.ObservabilitySemanticConvention{couchbase.ObservabilitySemanticConventionDatabase}
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{
		Meter: meter, ObservabilityConfig: couchbase.ObservabilityConfig{SemanticConventionOptIn: stable},
	})
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	end()
	fmt.Println(meter.n)
	// Output:
	// map[db.client.operation.duration of insert:1]
}

// A tracer and a meter that do nothing cost the least.
func ExampleNoopTracer() {
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{Tracer: &couchbase.NoopTracer{}, Meter: &couchbase.NoopMeter{}})
	defer end()
	fmt.Println(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	// Output:
	// <nil>
}

// keptLines is a logger that keeps what it is given.
type keptLines struct {
	mu  sync.Mutex
	all []string
}

func (l *keptLines) Log(level couchbase.LogLevel, _ int, format string, v ...any) error {
	if level > couchbase.LogInfo {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintf(format, v...))
	return nil
}

func (l *keptLines) contain(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.all, func(line string) bool { return strings.Contains(line, text) })
}

// The reports of slow operations and of the default meter go to the logger, the last ones when the cluster closes.
func ExampleSetLogger() {
	logger := &keptLines{}
	couchbase.SetLogger(logger)
	couchbase.SetLogRedactionLevel(couchbase.RedactPartial)
	defer couchbase.SetLogger(nil)
	defer couchbase.SetLogRedactionLevel(couchbase.RedactNone)
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{
		Tracer: couchbase.NewThresholdLoggingTracer(&couchbase.ThresholdLoggingOptions{KVThreshold: 1, SampleSize: 5}),
	})
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	end()
	fmt.Println("slow operations:", logger.contain("Threshold Log"), "metrics:", logger.contain("Metrics"))
	// Output:
	// slow operations: true metrics: true
}

// reports is a logger that passes the reports of meters on.
type reports chan string

func (r reports) Log(_ couchbase.LogLevel, _ int, format string, v ...any) error {
	if strings.HasPrefix(format, "Metrics") {
		select {
		case r <- fmt.Sprintf(format, v...):
		default: // there is a report that nobody has read
		}
	}
	return nil
}

// A meter of the application's own choice logs at its own intervals.
func ExampleLoggingMeter() {
	logged := make(reports, 1)
	couchbase.SetLogger(logged)
	defer couchbase.SetLogger(nil)
	meter := couchbase.NewLoggingMeter(&couchbase.LoggingMeterOptions{EmitInterval: 10 * time.Millisecond})
	_, cluster, end := exampleClusterWith(couchbase.ClusterOptions{Meter: meter})
	defer end()
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	fmt.Println(strings.Contains(<-logged, `"insert":{"total_count":1`))
	// Output:
	// true
}
