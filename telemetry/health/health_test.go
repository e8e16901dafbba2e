package health

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

func TestState(t *testing.T) {
	up, down := telemetry.Pool{Ready: true}, telemetry.Pool{}
	for _, c := range []struct {
		pools  []telemetry.Pool
		want   string
		status int
	}{
		{nil, Down, http.StatusServiceUnavailable},
		{[]telemetry.Pool{down, down}, Down, http.StatusServiceUnavailable},
		{[]telemetry.Pool{down, up}, Degraded, http.StatusOK},
		{[]telemetry.Pool{up, up}, OK, http.StatusOK},
	} {
		if got := State(c.pools); got != c.want {
			t.Errorf("%v is %s, want %s", c.pools, got, c.want)
		}
		answer := httptest.NewRecorder()
		Handler(func() []telemetry.Pool { return c.pools }).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		if answer.Code != c.status {
			t.Errorf("%v is answered with %d, want %d", c.pools, answer.Code, c.status)
		}
	}
}

func TestTheAnswerHasAllOfAPool(t *testing.T) {
	known := telemetry.Pool{
		Address: "a:1", Service: "kv", Ready: true, InUse: 1, Idle: 2, Pending: 3, Waiting: 4, OldestWait: 5 * time.Millisecond,
		LongestWait: 6 * time.Millisecond, Min: 7, Max: 8, Made: 9, Failed: 10, TimedOut: 11, Closed: map[string]uint64{"idle": 12},
	}
	answer := httptest.NewRecorder()
	Handler(func() []telemetry.Pool { return []telemetry.Pool{known} }).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	want := `{"status":"ok","pools":[{"address":"a:1","service":"kv","ready":true,"inUse":1,"idle":2,"pending":3,"waiting":4,"oldestWaitMS":5,` +
		`"longestWaitMS":6,"min":7,"max":8,"made":9,"failed":10,"timedOut":11,"closed":{"idle":12}}]}` + "\n"
	if got := answer.Body.String(); got != want {
		t.Errorf("the answer is\n%s, want\n%s", got, want)
	}
	if got := answer.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("the answer is %s", got)
	}
}

// A map that is nil must not become null, which readers of JSON take for no object.
func TestTheAnswerLeavesOutWhatIsEmpty(t *testing.T) {
	answers := make(map[string]bool)
	for _, closed := range []map[string]uint64{nil, {}} {
		answer := httptest.NewRecorder()
		pools := []telemetry.Pool{{Address: "a:1", Closed: closed}}
		Handler(func() []telemetry.Pool { return pools }).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		answers[answer.Body.String()] = true
		if text := answer.Body.String(); strings.Contains(text, "null") || strings.Contains(text, "closed") || strings.Contains(text, "service") {
			t.Error(text)
		}
	}
	if len(answers) != 1 {
		t.Errorf("%v", answers)
	}
}

func TestAClientThatKnowsNoServerHasAnEmptyList(t *testing.T) {
	answer := httptest.NewRecorder()
	Handler(func() []telemetry.Pool { return nil }).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if got, want := answer.Body.String(), `{"status":"down","pools":[]}`+"\n"; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
	if got := answer.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("a cache may keep the answer: %q", got)
	}
}
