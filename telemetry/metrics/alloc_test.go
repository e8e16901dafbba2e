package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// What an operation of a client costs is paid by each.
func TestNoMeasurementAllocates(t *testing.T) {
	record := func(context.Context, float64) {}
	tracer := metrics.New(metrics.Backend{Series: func(metrics.Definition, []string) metrics.Record { return record }}).Tracer()
	ctx, o, err := t.Context(), find(), errors.New("broken")
	o.Rows = 1
	out := &telemetry.PoolEvent{Kind: telemetry.CheckedOut, Address: "a:1", Took: time.Millisecond}
	d := &telemetry.Decision{Operation: o, Address: "a:1", Reason: "NETWORK_ERROR", Stage: "in flight"}
	for name, f := range map[string]func(){
		"an operation":             func() { tracer.OperationEnded(ctx, o, nil) },
		"an operation that failed": func() { tracer.OperationEnded(ctx, o, err) },
		"a checkout":               func() { tracer.Pool(ctx, out) },
		"a decision":               func() { tracer.Decided(ctx, d) },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
