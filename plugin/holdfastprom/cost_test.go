package holdfastprom_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/threadtime"
	"github.com/holdfast-db/holdfast/plugin/holdfastprom"
	"github.com/holdfast-db/holdfast/telemetry"
)

// operation returns what tells a tracer of one operation with one attempt, as a client does.
func operation(tracer *telemetry.Tracer) func() {
	ctx := context.Background()
	o := &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "shop", Collection: "orders", Began: time.Now(), Rows: 1}
	begin := &telemetry.PoolEvent{Kind: telemetry.CheckoutBegan, Address: "db:27017"}
	out := &telemetry.PoolEvent{Kind: telemetry.CheckedOut, Address: "db:27017", ID: 1, Took: time.Microsecond}
	back := &telemetry.PoolEvent{Kind: telemetry.CheckedIn, Address: "db:27017", ID: 1, Took: time.Millisecond}
	return func() {
		tracer.Pool(ctx, begin)
		tracer.Pool(ctx, out)
		tracer.Pool(ctx, back)
		tracer.OperationEnded(ctx, o, nil)
	}
}

func TestMetricsAllocateNothing(t *testing.T) {
	n := testing.AllocsPerRun(1000, operation(holdfastprom.New().Tracer()))
	fmt.Printf("figure prom-metrics-allocs %v\n", n)
	if n != 0 {
		t.Errorf("the measurements of an operation allocate %v times", n)
	}
}

// The CPU that metrics add to an operation, beside that of a tracer that does nothing, in turns.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures the speed")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	nothing := &telemetry.Tracer{
		Pool:           func(context.Context, *telemetry.PoolEvent) {},
		OperationEnded: func(context.Context, *telemetry.Operation, error) {},
	}
	of := []func(){operation(holdfastprom.New().Tracer()), operation(nothing)}
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
	fmt.Printf("figure prom-metrics-ns %d\n", (least[0]-least[1]).Nanoseconds()/operations)
}
