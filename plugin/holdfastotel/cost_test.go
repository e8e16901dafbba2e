package holdfastotel_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-db/holdfast/internal/base/threadtime"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
	"github.com/holdfast-db/holdfast/telemetry"
)

// operation returns what tells a tracer of one operation with one attempt, as a client does.
func operation(tracer *telemetry.Tracer) func() {
	ctx := context.Background()
	o := &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "shop", Collection: "orders", Began: time.Now(), Rows: 1}
	a := &telemetry.Attempt{Operation: o, Name: "find", Namespace: "shop", Collection: "orders", Began: o.Began, Connection: telemetry.Connection{Address: "db:27017", ID: 1}}
	r := &telemetry.Result{Took: time.Millisecond, Rows: 1}
	begin := &telemetry.PoolEvent{Kind: telemetry.CheckoutBegan, Address: "db:27017"}
	out := &telemetry.PoolEvent{Kind: telemetry.CheckedOut, Address: "db:27017", ID: 1, Took: time.Microsecond}
	back := &telemetry.PoolEvent{Kind: telemetry.CheckedIn, Address: "db:27017", ID: 1, Took: time.Millisecond}
	pool := tracer.Pool
	if pool == nil {
		pool = func(context.Context, *telemetry.PoolEvent) {}
	}
	return func() {
		ctx := ctx
		if tracer.OperationBegan != nil {
			ctx = tracer.OperationBegan(ctx, o)
		}
		pool(ctx, begin)
		pool(ctx, out)
		if tracer.AttemptBegan != nil {
			ctx = tracer.AttemptBegan(ctx, a)
		}
		if tracer.AttemptEnded != nil {
			tracer.AttemptEnded(ctx, a, r)
		}
		pool(ctx, back)
		tracer.OperationEnded(ctx, o, nil)
	}
}

// traced returns a tracer that makes traces only. They are exported to nowhere.
func traced(t *testing.T) *telemetry.Tracer {
	t.Helper()
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter()))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	tracer, err := holdfastotel.New(holdfastotel.Options{Enabled: true, TracerProvider: provider, MeterProvider: metricnoop.NewMeterProvider()})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// The measurements of an operation allocate nothing, with the SDK too.
func TestMetricsAllocateNothing(t *testing.T) {
	tracer, _ := measured(t)
	tracer.OperationBegan, tracer.AttemptBegan = nil, nil // traces are not looked at
	n := testing.AllocsPerRun(1000, operation(tracer))
	fmt.Printf("figure otel-metrics-allocs %v\n", n)
	if n != 0 {
		t.Errorf("the measurements of an operation allocate %v times", n)
	}
}

// The CPU of what traces and metrics add to an operation, in turns.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures the speed")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	withMetrics, _ := measured(t)
	withMetrics.OperationBegan, withMetrics.AttemptBegan = nil, nil
	names, of := []string{"metrics", "traces"}, []func(){operation(withMetrics), operation(traced(t))}
	const rounds, operations = 50, 1000
	least := []time.Duration{time.Hour, time.Hour}
	for range rounds {
		for i, f := range of {
			start := threadtime.Now()
			for range operations {
				f()
			}
			least[i] = min(least[i], threadtime.Now()-start)
		}
	}
	for i, name := range names {
		fmt.Printf("figure otel-%s-ns %d\n", name, least[i].Nanoseconds()/operations)
	}
}
