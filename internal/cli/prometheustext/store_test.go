package prometheustext

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// page returns what a store serves, in lines.
func page(s *Store) []string {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return strings.Split(w.Body.String(), "\n")
}

func has(t *testing.T, s *Store, want ...string) {
	t.Helper()
	lines := page(s)
	for _, line := range want {
		if !slices.Contains(lines, line) {
			t.Errorf("there is no line %q in\n%s", line, strings.Join(lines, "\n"))
		}
	}
}

func TestAStoreWithoutValuesIsEmpty(t *testing.T) {
	if lines := page(New()); len(lines) != 1 || lines[0] != "" {
		t.Errorf("%q", lines)
	}
}

func TestTheContentTypeNamesTheVersionOfTheFormat(t *testing.T) {
	w := httptest.NewRecorder()
	New().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got := w.Result().Header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Error(got)
	}
}

// A value at a boundary belongs to its bucket; each bucket has the values of those before it; an absent attribute has no label.
func TestAHistogram(t *testing.T) {
	s := New()
	d := metrics.Definitions()[metrics.ReturnedRows]
	record := s.series(d, []string{"mongodb", "shop", "carts", "find", "", "", "", ""})
	for _, rows := range []float64{1, 2, 20000} {
		record(t.Context(), rows)
	}
	const labels = `db_system_name="mongodb",db_namespace="shop",db_collection_name="carts",db_operation_name="find"`
	const name = "db_client_response_returned_rows"
	has(t, s, "# TYPE "+name+" histogram", name+`_bucket{`+labels+`,le="1"} 1`, name+`_bucket{`+labels+`,le="2"} 2`,
		name+`_bucket{`+labels+`,le="10000"} 2`, name+`_bucket{`+labels+`,le="+Inf"} 3`, name+`_sum{`+labels+`} 20003`, name+`_count{`+labels+`} 3`)
}

func TestACounterHasItsUnitAndTotal(t *testing.T) {
	s := New()
	s.Tracer().Decided(t.Context(), &telemetry.Decision{StopReason: "not \"retry\\able\"\n"})
	s.Tracer().Pool(t.Context(), &telemetry.PoolEvent{Kind: telemetry.PoolCreated, Address: "a:1"})
	has(t, s, "# TYPE holdfast_retry_stopped_total counter", `holdfast_retry_stopped_total{stop_reason="not \"retry\\able\"\n"} 1`,
		`db_client_connection_timeouts_total{db_client_connection_pool_name="a:1"} 0`)
}

func TestStatesAreReadWhenTheyAreWanted(t *testing.T) {
	s := New()
	used := 1
	tokens := 2.5
	client := &telemetry.Client{
		Pools: func() []telemetry.Pool {
			return []telemetry.Pool{{Address: "b:1", InUse: used}, {Address: "a:1", Idle: 3}}
		},
		Limits: func() telemetry.Limits {
			return telemetry.Limits{Budget: &tokens}
		},
	}
	s.Tracer().ClientOpened(client)
	has(t, s, "# TYPE db_client_connection_count gauge", "holdfast_retry_budget_tokens 2.5",
		`db_client_connection_count{db_client_connection_pool_name="b:1",db_client_connection_state="used"} 1`)
	used = 2
	has(t, s, `db_client_connection_count{db_client_connection_pool_name="b:1",db_client_connection_state="used"} 2`)
	lines := page(s)
	if !slices.IsSorted(slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "db_client_connection_count{") })) {
		t.Errorf("the series have no order: %q", lines)
	}
}

func TestSeriesThatThereIsNoPlaceForAreOne(t *testing.T) {
	s := New()
	d := metrics.Definitions()[metrics.RetryStopped]
	s.overflow(d, []string{"a"})(t.Context(), 1)
	s.overflow(d, []string{"b"})(t.Context(), 1)
	has(t, s, `holdfast_retry_stopped_total{stop_reason="_OTHER"} 2`)
}

func TestValuesAreRecordedAtTheSameTime(t *testing.T) {
	s := New()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			record := s.series(metrics.Definitions()[metrics.RetryStopped], []string{"a"})
			for range 1000 {
				record(t.Context(), 1)
			}
		})
	}
	all.Go(func() { page(s) })
	all.Wait()
	has(t, s, `holdfast_retry_stopped_total{stop_reason="a"} 4000`)
}
