package holdfastprom_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-db/holdfast/plugin/holdfastprom"
	"github.com/holdfast-db/holdfast/telemetry"
)

// registered returns a collector in a registry that checks what it collects.
func registered(t *testing.T) (*holdfastprom.Collector, *prometheus.Registry) {
	t.Helper()
	c, registry := holdfastprom.New(), prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	return c, registry
}

// gather returns the series of a registry, a line for each. A histogram has the sum of its values.
func gather(t *testing.T, registry *prometheus.Registry) (lines []string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			line := f.GetName()
			for _, l := range m.GetLabel() {
				if l.GetValue() != "" { // to Prometheus one that is empty is absent
					line += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
				}
			}
			lines = append(lines, fmt.Sprint(line, " ", m.GetHistogram().GetSampleSum()+m.GetCounter().GetValue()+m.GetGauge().GetValue()))
		}
	}
	return lines
}

func secret(n int64) string { return fmt.Sprintf("secret-%d", n) }

// use tells a tracer of one of each, with ids that no other call has.
func use(tracer *telemetry.Tracer, n int64) {
	ctx := context.Background()
	o := &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "shop", Collection: "orders", Began: time.Now().Add(-time.Second), Rows: 3, Statement: secret(n)}
	get := &telemetry.Operation{System: telemetry.Couchbase, Name: "get", Namespace: "b", Scope: "s", Collection: "c", Service: "kv", Began: time.Now(), Rows: -1}
	err := errors.New(secret(n))
	for _, stop := range []string{"", "not idempotent"} {
		tracer.Decided(ctx, &telemetry.Decision{Operation: o, Attempt: int(n), Address: "db:27017", Stage: "in flight", Reason: "NETWORK_ERROR", StopReason: stop, Err: err})
	}
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

// compare compares lines with what is wanted, whose lines begin with "|".
func compare(t *testing.T, lines []string, want string) {
	t.Helper()
	var wanted []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(strings.ReplaceAll(line, "|", "")); line != "" {
			wanted = append(wanted, line)
		}
	}
	slices.Sort(lines)
	slices.Sort(wanted)
	if !slices.Equal(lines, wanted) {
		t.Errorf("the series are\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(wanted, "\n"))
	}
}
