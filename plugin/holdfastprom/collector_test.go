package holdfastprom_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/holdfast-db/holdfast/plugin/holdfastprom"
	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

func TestTheMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, registry := registered(t)
		compare(t, gather(t, registry), "")
		use(c.Tracer(), 1)
		use(c.Tracer(), 2)
		compare(t, gather(t, registry), `
		|db_client_operation_duration_seconds couchbase_collection_name=c couchbase_scope_name=s couchbase_service=kv db_namespace=b db_operation_name=get db_system_name=couchbase 0
		|db_client_operation_duration_seconds db_collection_name=orders db_namespace=shop db_operation_name=find db_system_name=mongodb 2
		|db_client_operation_duration_seconds db_collection_name=orders db_namespace=shop db_operation_name=find db_system_name=mongodb error_type=91 2
		|db_client_response_returned_rows db_collection_name=orders db_namespace=shop db_operation_name=find db_system_name=mongodb 6
		|db_client_connection_count db_client_connection_pool_name=db:27017 db_client_connection_state=idle 4
		|db_client_connection_count db_client_connection_pool_name=db:27017 db_client_connection_state=used 2
		|db_client_connection_idle_max db_client_connection_pool_name=db:27017 10
		|db_client_connection_idle_min db_client_connection_pool_name=db:27017 8
		|db_client_connection_max db_client_connection_pool_name=db:27017 10
		|db_client_connection_pending_requests db_client_connection_pool_name=db:27017 6
		|db_client_connection_timeouts_total db_client_connection_pool_name=db:27017 2
		|db_client_connection_create_time_seconds db_client_connection_pool_name=db:27017 2
		|db_client_connection_wait_time_seconds db_client_connection_pool_name=db:27017 2
		|db_client_connection_use_time_seconds db_client_connection_pool_name=db:27017 2
		|holdfast_retry_attempts_total db_operation_name=find reason=NETWORK_ERROR server_address=db server_port=27017 stage=in flight 2
		|holdfast_retry_stopped_total stop_reason=not idempotent 2
		|holdfast_retry_budget_tokens 7.5
		|holdfast_breaker_state server_address=db server_port=27017 1
		|`)
	})
}

// The types, the buckets and the names are right by Prometheus' own rules. One name ends as that of a part of a histogram: OpenTelemetry wants it so.
func TestTheKindsOfTheMetrics(t *testing.T) {
	c, registry := registered(t)
	use(c.Tracer(), 1)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil || len(problems) != 1 || problems[0].Metric != "db_client_connection_count" {
		t.Errorf("the problems are %v, %v", problems, err)
	}
	kinds := map[metrics.Kind]string{metrics.Histogram: "HISTOGRAM", metrics.Counter: "COUNTER", metrics.UpDownCounter: "GAUGE", metrics.Gauge: "GAUGE"}
	for _, d := range metrics.Definitions() {
		name := strings.ReplaceAll(d.Name, ".", "_")
		found := false
		for _, f := range families {
			if suffix, ok := strings.CutPrefix(f.GetName(), name); ok && slices.Contains([]string{"", "_seconds", "_total"}, suffix) {
				found = true
				var bounds []float64
				for _, b := range f.GetMetric()[0].GetHistogram().GetBucket() {
					bounds = append(bounds, b.GetUpperBound())
				}
				if f.GetType().String() != kinds[d.Kind] || !slices.Equal(bounds, d.Boundaries) || f.GetHelp() != d.Description {
					t.Errorf("%s is a %v with the buckets %v: %s", f.GetName(), f.GetType(), bounds, f.GetHelp())
				}
			}
		}
		if !found {
			t.Errorf("there is no %s", d.Name)
		}
	}
}

// What is an id, or may be a secret, is in no label: the number of series does not grow with the number of operations.
func TestNoMetricHasAnID(t *testing.T) {
	c, registry := registered(t)
	for n := range 100 {
		use(c.Tracer(), int64(n))
	}
	all := gather(t, registry)
	if len(all) != 18 {
		t.Errorf("there are %d series", len(all))
	}
	for _, line := range all {
		if strings.Contains(line, "secret") {
			t.Error(line)
		}
	}
}

func ended(tracer *telemetry.Tracer, collection string) {
	tracer.OperationEnded(context.Background(), &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "d", Collection: collection, Rows: -1}, nil)
}

// What there is no place for is counted, in one series.
func TestTheNumberOfSeriesHasALimit(t *testing.T) {
	c, registry := registered(t)
	tracer := c.Tracer()
	for i := range metrics.MaxSeries + 10 {
		ended(tracer, fmt.Sprint(i))
	}
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	series := families[0].GetMetric()
	if len(series) != metrics.MaxSeries+1 {
		t.Errorf("there are %d series", len(series))
	}
	for _, m := range series {
		if label := m.GetLabel()[0]; label.GetValue() == "_OTHER" {
			if n := m.GetHistogram().GetSampleCount(); n != 10 {
				t.Errorf("%d measurements have no place of their own", n)
			}
			return
		}
	}
	t.Error("what has no place is not counted")
}

// Prometheus' library panics at a label that is not UTF-8.
func TestTheNamesOfCollectionsMayBeAnything(t *testing.T) {
	c, registry := registered(t)
	ended(c.Tracer(), "a\xffb")
	ended(c.Tracer(), `"\n{}`)
	if all := gather(t, registry); len(all) != 2 || !strings.Contains(all[1], "a\uFFFDb") {
		t.Errorf("the series are %q", all)
	}
}

func TestItMayBeCollectedWhileClientsWork(t *testing.T) {
	c, registry := registered(t)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := range 50 {
				use(c.Tracer(), int64(n))
				if i%10 == 0 {
					gather(t, registry)
				}
			}
		})
	}
	all.Wait()
	if !slices.Contains(gather(t, registry), "holdfast_retry_stopped_total stop_reason=not idempotent 200") {
		t.Error("something is not counted")
	}
}

// More labels come from the registry.
func TestMoreLabels(t *testing.T) {
	c, registry := holdfastprom.New(), prometheus.NewPedanticRegistry()
	prometheus.WrapRegistererWith(prometheus.Labels{"client": "reports"}, registry).MustRegister(c)
	use(c.Tracer(), 1)
	for _, line := range gather(t, registry) {
		if !strings.Contains(line, " client=reports ") {
			t.Error(line)
		}
	}
}
