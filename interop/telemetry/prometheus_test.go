package telemetry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startPrometheus starts a Prometheus server that scrapes a service once a second, and returns its address as a URL.
func startPrometheus(t *testing.T, service string) string {
	t.Helper()
	folder, address := t.TempDir(), freeAddress(t)
	config := fmt.Sprintf("scrape_configs:\n- job_name: service\n  scrape_interval: 1s\n  static_configs:\n  - targets: ['%s']\n",
		strings.TrimPrefix(service, "http://"))
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), "prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+address, "--log.level=error")
	server.Stderr = os.Stderr
	server.Cancel, server.WaitDelay = func() error { return server.Process.Signal(os.Interrupt) }, patience
	if err := server.Start(); err != nil {
		t.Fatalf("the package prometheus of Debian is needed: %v", err)
	}
	t.Cleanup(func() { _ = server.Wait() })
	return "http://" + address
}

// query is a query of the dashboard.
type query struct{ panel, text string }

// dashboardQueries returns the queries of the dashboard, with what Grafana would put instead of its variables.
func dashboardQueries(t *testing.T) []query {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "plugin", "holdfastprom", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$job", "service", "$namespace", ".*")
	var queries []query
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			queries = append(queries, query{panel.Title, variables.Replace(target.Expr)})
		}
	}
	if len(queries) < 10 {
		t.Fatalf("the dashboard has the queries %q", queries)
	}
	return queries
}

// answers reports whether Prometheus has a value for a query. While it starts it has none.
func answers(t *testing.T, server, text string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+"/api/v1/query?query="+url.QueryEscape(text), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Value []any }
		}
	}
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
		return false
	}
	if answer.Error != "" {
		t.Fatalf("%s: %s", text, answer.Error)
	}
	return len(answer.Data.Result) > 0
}

// Each query of the dashboard has a value, from a service whose operations succeeded, were retried, and failed.
func TestPrometheusAnswersTheDashboard(t *testing.T) {
	service := startService(t, "")
	server := startPrometheus(t, service)
	ask(t, http.MethodPost, service+"/failover")
	ask(t, http.MethodGet, service+"/visits")
	ask(t, http.MethodPost, service+"/refuse")
	refused(t, service+"/visits")
	retry := time.NewTicker(200 * time.Millisecond)
	defer retry.Stop()
	limit := time.After(patience)
	for missing := dashboardQueries(t); ; {
		ask(t, http.MethodGet, service+"/visits")
		for len(missing) > 0 && answers(t, server, missing[0].text) {
			missing = missing[1:]
		}
		if len(missing) == 0 {
			return
		}
		select {
		case <-retry.C:
		case <-limit:
			t.Fatalf("Prometheus has no value for the panel %q: %s", missing[0].panel, missing[0].text)
		}
	}
}

// refused sends a request that the service cannot fulfil.
func refused(t *testing.T, url string) {
	t.Helper()
	reply, err := http.Get(url) //nolint:noctx // the service answers
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("%s: %s", url, reply.Status)
	}
}

// The health check shows the pools of the service.
func TestTheHealthOfTheService(t *testing.T) {
	service := startService(t, "")
	ask(t, http.MethodGet, service+"/visits")
	var health struct {
		Status string
		Pools  []struct {
			Address string
			Ready   bool
			Made    int
		}
	}
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, service+"/health")), &health); err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, p := range health.Pools {
		made += p.Made
	}
	if len(health.Pools) != 3 || made == 0 {
		t.Errorf("the health is %+v", health)
	}
}
