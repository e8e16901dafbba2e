package metrics_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// The metrics of OpenTelemetry's semantic conventions, "Semantic conventions for database client metrics", v1.44.0, and our own.
func TestTheMetrics(t *testing.T) {
	const seconds, rows = "[0.001 0.005 0.01 0.05 0.1 0.5 1 5 10]", "[1 2 5 10 20 50 100 200 500 1000 2000 5000 10000]"
	want := []struct {
		name       string
		kind       metrics.Kind
		unit       string
		integer    bool
		boundaries string
	}{
		metrics.OperationDuration:         {"db.client.operation.duration", metrics.Histogram, "s", false, seconds},
		metrics.ReturnedRows:              {"db.client.response.returned_rows", metrics.Histogram, "{row}", true, rows},
		metrics.ConnectionCount:           {"db.client.connection.count", metrics.UpDownCounter, "{connection}", true, "[]"},
		metrics.ConnectionIdleMax:         {"db.client.connection.idle.max", metrics.UpDownCounter, "{connection}", true, "[]"},
		metrics.ConnectionIdleMin:         {"db.client.connection.idle.min", metrics.UpDownCounter, "{connection}", true, "[]"},
		metrics.ConnectionMax:             {"db.client.connection.max", metrics.UpDownCounter, "{connection}", true, "[]"},
		metrics.ConnectionPendingRequests: {"db.client.connection.pending_requests", metrics.UpDownCounter, "{request}", true, "[]"},
		metrics.ConnectionTimeouts:        {"db.client.connection.timeouts", metrics.Counter, "{timeout}", true, "[]"},
		metrics.ConnectionCreateTime:      {"db.client.connection.create_time", metrics.Histogram, "s", false, seconds},
		metrics.ConnectionWaitTime:        {"db.client.connection.wait_time", metrics.Histogram, "s", false, seconds},
		metrics.ConnectionUseTime:         {"db.client.connection.use_time", metrics.Histogram, "s", false, seconds},
		metrics.RetryAttempts:             {"holdfast.retry.attempts", metrics.Counter, "{attempt}", true, "[]"},
		metrics.RetryStopped:              {"holdfast.retry.stopped", metrics.Counter, "{operation}", true, "[]"},
		metrics.RetryBudgetTokens:         {"holdfast.retry.budget.tokens", metrics.Gauge, "{token}", false, "[]"},
		metrics.BreakerState:              {"holdfast.breaker.state", metrics.Gauge, "{state}", true, "[]"},
	}
	definitions := metrics.Definitions()
	if len(definitions) != len(want) {
		t.Fatalf("there are %d metrics", len(definitions))
	}
	for i, d := range definitions {
		w := want[i]
		if d.Metric != metrics.Metric(i) || d.Name != w.name || d.Kind != w.kind || d.Unit != w.unit || d.Integer != w.integer || fmt.Sprint(d.Boundaries) != w.boundaries {
			t.Errorf("%+v, want %+v", d, w)
		}
		if d.Description == "" {
			t.Errorf("%s has no description", d.Name)
		}
	}
}
