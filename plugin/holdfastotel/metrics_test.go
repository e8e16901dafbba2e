package holdfastotel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// measured returns a tracer without traces, and what reads its metrics.
func measured(t testing.TB) (*telemetry.Tracer, *sdkmetric.ManualReader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	tracer, err := holdfastotel.New(holdfastotel.Options{
		Enabled: true, TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tracer, reader
}

// collect returns the metrics by their names.
func collect(t *testing.T, reader *sdkmetric.ManualReader) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]metricdata.Metrics)
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != "github.com/holdfast-db/holdfast" {
			t.Errorf("the scope is %s", scope.Scope.Name)
		}
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

// points returns the series of a metric: their attributes, and their values or, of a histogram, the sums.
func points(m metricdata.Metrics) (list []string) {
	add := func(a attribute.Set, value any) {
		line := fmt.Sprint(value)
		for _, kv := range a.ToSlice() {
			line += fmt.Sprintf(" %s=%v", kv.Key, kv.Value.AsInterface())
		}
		list = append(list, line)
	}
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Sum)
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Sum)
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	}
	slices.Sort(list)
	return list
}

// use tells a tracer of one of each, with ids that no other call has.
func use(tracer *telemetry.Tracer, n int64) {
	ctx := context.Background()
	o := &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "shop", Collection: "orders", Began: time.Now().Add(-time.Second), Rows: 3, Statement: secret(n)}
	get := &telemetry.Operation{System: telemetry.Couchbase, Name: "get", Namespace: "b", Scope: "s", Collection: "c", Service: "kv", Began: time.Now(), Rows: -1}
	err := errors.New(secret(n))
	tracer.Decided(ctx, &telemetry.Decision{Operation: o, Attempt: int(n), Address: "db:27017", Stage: "in flight", Reason: "NETWORK_ERROR", Err: err})
	tracer.Decided(ctx, &telemetry.Decision{Operation: o, Attempt: int(n), Address: "db:27017", Stage: "in flight", Reason: "NETWORK_ERROR", StopReason: "not idempotent", Err: err})
	tracer.OperationEnded(ctx, o, nil)
	o.ErrorType = "91"
	tracer.OperationEnded(ctx, o, err)
	tracer.OperationEnded(ctx, get, nil)
	for kind := telemetry.PoolCreated; kind <= telemetry.CheckedIn; kind++ {
		tracer.Pool(ctx, &telemetry.PoolEvent{Kind: kind, Address: "db:27017", ID: n, Took: time.Second, Reason: "timeout", Err: err, Service: secret(n)})
	}
	budget := 7.5
	tracer.ClientOpened(&telemetry.Client{
		Pools: func() []telemetry.Pool {
			return []telemetry.Pool{{Address: "db:27017", InUse: 1, Idle: 2, Waiting: 3, Min: 4, Max: 5, Made: uint64(n), Closed: map[string]uint64{secret(n): 1}}}
		},
		Limits: func() telemetry.Limits {
			return telemetry.Limits{Budget: &budget, Breakers: []telemetry.Breaker{{Address: "db:27017", State: "half-open"}}}
		},
	})
}

func secret(n int64) string { return fmt.Sprintf("secret-%d", n) }

func TestTheMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer, reader := measured(t)
		use(tracer, 1)
		use(tracer, 2)
		const pool = " db.client.connection.pool.name=db:27017"
		const find = " db.collection.name=orders db.namespace=shop db.operation.name=find db.system.name=mongodb"
		want := map[string][]string{
			"db.client.operation.duration": {
				"0 couchbase.collection.name=c couchbase.scope.name=s couchbase.service=kv db.namespace=b db.operation.name=get db.system.name=couchbase",
				"2" + find,
				"2" + find + " error.type=91",
			},
			"db.client.response.returned_rows":      {"6" + find},
			"db.client.connection.count":            {"2" + pool + " db.client.connection.state=used", "4" + pool + " db.client.connection.state=idle"},
			"db.client.connection.idle.max":         {"10" + pool},
			"db.client.connection.idle.min":         {"8" + pool},
			"db.client.connection.max":              {"10" + pool},
			"db.client.connection.pending_requests": {"6" + pool},
			"db.client.connection.timeouts":         {"2" + pool},
			"db.client.connection.create_time":      {"2" + pool},
			"db.client.connection.wait_time":        {"2" + pool},
			"db.client.connection.use_time":         {"2" + pool},
			"holdfast.retry.attempts":               {"2 db.operation.name=find reason=NETWORK_ERROR server.address=db server.port=27017 stage=in flight"},
			"holdfast.retry.stopped":                {"2 stop_reason=not idempotent"},
			"holdfast.retry.budget.tokens":          {"7.5"},
			"holdfast.breaker.state":                {"1 server.address=db server.port=27017"},
		}
		found := collect(t, reader)
		for name, m := range found {
			if !slices.Equal(points(m), want[name]) {
				t.Errorf("%s has %q, want %q", name, points(m), want[name])
			}
		}
		if len(found) != len(want) {
			t.Errorf("there are %d metrics", len(found))
		}
	})
}

// The kind of each metric is that of its definition, and so are its unit and the buckets.
func TestTheKindsOfTheMetrics(t *testing.T) {
	tracer, reader := measured(t)
	use(tracer, 1)
	found := collect(t, reader)
	for _, d := range metrics.Definitions() {
		m := found[d.Name]
		if m.Unit != d.Unit || m.Description != d.Description {
			t.Errorf("%s has the unit %q and the description %q", d.Name, m.Unit, m.Description)
		}
		kind, integer, bounds := kindOf(m)
		if kind != d.Kind || integer != d.Integer || !slices.Equal(bounds, d.Boundaries) {
			t.Errorf("%s is a %T with the boundaries %v", d.Name, m.Data, bounds)
		}
	}
}

func kindOf(m metricdata.Metrics) (kind metrics.Kind, integer bool, bounds []float64) {
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		return metrics.Histogram, false, data.DataPoints[0].Bounds
	case metricdata.Histogram[int64]:
		return metrics.Histogram, true, data.DataPoints[0].Bounds
	case metricdata.Sum[int64]:
		if data.IsMonotonic {
			return metrics.Counter, true, nil
		}
		return metrics.UpDownCounter, true, nil
	case metricdata.Gauge[int64]:
		return metrics.Gauge, true, nil
	case metricdata.Gauge[float64]:
		return metrics.Gauge, false, nil
	}
	return 0, false, nil
}

// What is an id, or may be a secret, is in no attribute: the number of series does not grow with the number of operations.
func TestNoMetricHasAnID(t *testing.T) {
	tracer, reader := measured(t)
	for n := range 100 {
		use(tracer, int64(n))
	}
	series := 0
	for name, m := range collect(t, reader) {
		for _, p := range points(m) {
			series++
			if strings.Contains(p, "secret") {
				t.Errorf("%s has %s", name, p)
			}
			for _, a := range strings.Fields(p)[1:] {
				key, _, isAttribute := strings.Cut(a, "=")
				if isAttribute && !slices.ContainsFunc(metrics.Definitions(), func(d metrics.Definition) bool { return d.Name == name && slices.Contains(d.Attributes, key) }) {
					t.Errorf("%s has the attribute %s", name, key)
				}
			}
		}
	}
	if series != 18 { // one of each metric, two more durations, a second state of connections
		t.Errorf("there are %d series", series)
	}
}

// The metric of an operation has the error.type of its span, and the span is the example of its histogram's bucket.
func TestAnOperationsMetricAndSpanAreTheSame(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	o := holdfastotel.Options{Enabled: true, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
	in(t, o, func(w *world) {
		for i := range 3 {
			w.set.Kill(i)
		}
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		if w.coll.FindOne(ctx, bson.D{}).Err() == nil {
			w.Error("no error")
		}
		span := w.spans.Ended()[0]
		want, _ := spanAttribute(span, "error.type")
		durations := collect(w.T, reader)["db.client.operation.duration"].Data.(metricdata.Histogram[float64]).DataPoints
		if len(durations) != 1 || durations[0].Sum != 1 || len(durations[0].Exemplars) != 1 {
			w.Fatalf("the durations are %v", durations)
		}
		if got, _ := durations[0].Attributes.Value("error.type"); got.AsString() != want {
			w.Errorf("error.type is %s, that of the span %s", got.AsString(), want)
		}
		id := span.SpanContext().SpanID()
		if got := durations[0].Exemplars[0].SpanID; string(got) != string(id[:]) {
			w.Errorf("the example is %x", got)
		}
	})
}

// One of the two is off by a provider that does nothing.
func TestMetricsWithoutTracesAndTracesWithoutMetrics(t *testing.T) {
	o := holdfastotel.Options{Enabled: true, MeterProvider: metricnoop.NewMeterProvider()}
	in(t, o, func(w *world) {
		_ = w.coll.FindOne(w.ctx, bson.D{})
		if len(w.spans.Ended()) == 0 {
			w.Error("there is no span")
		}
	})
	tracer, reader := measured(t)
	tracer.OperationEnded(t.Context(), &telemetry.Operation{Name: "find", Rows: -1}, nil)
	if len(collect(t, reader)) != 1 {
		t.Error("there is no metric")
	}
}

// setGlobals sets the global providers, which a program can do once.
var setGlobals = sync.OnceValue(func() *sdkmetric.ManualReader {
	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	otel.SetTracerProvider(sdktrace.NewTracerProvider())
	return reader
})

// A program may set the global providers after it has made its clients.
func TestTheGlobalProviders(t *testing.T) {
	tracer, err := holdfastotel.New(holdfastotel.Options{Enabled: true})
	if tracer == nil || err != nil {
		t.Fatalf("%v, %v", tracer, err)
	}
	use(tracer, 1)
	reader := setGlobals()
	use(tracer, 2)
	if found := collect(t, reader); len(found) != 15 {
		t.Errorf("there are %d metrics", len(found))
	}
}

// refusing is a provider that makes no instrument of a kind, or registers no callback.
type refusing struct {
	metric.MeterProvider
	callback bool
}

func (r refusing) Meter(string, ...metric.MeterOption) metric.Meter {
	return refusingMeter{Meter: metricnoop.NewMeterProvider().Meter(""), callback: r.callback}
}

type refusingMeter struct {
	metric.Meter
	callback bool
}

func (m refusingMeter) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if m.callback {
		return m.Meter.Int64Counter(name, o...)
	}
	return nil, io.ErrUnexpectedEOF
}

func (m refusingMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	return nil, io.ErrUnexpectedEOF
}

func TestAProviderThatRefusesIsAnError(t *testing.T) {
	for _, callback := range []bool{false, true} {
		_, err := holdfastotel.New(holdfastotel.Options{Enabled: true, MeterProvider: refusing{callback: callback}})
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "metrics") {
			t.Errorf("the error is %v", err)
		}
	}
}
