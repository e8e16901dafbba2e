package holdfastprom_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

type dashboard struct {
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// labelsOfSeries returns the labels of each name that a query may have: a histogram has three.
func labelsOfSeries(t *testing.T) map[string][]string {
	t.Helper()
	c, registry := registered(t)
	use(c.Tracer(), 1)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for _, f := range families {
		labels := []string{"job", "instance"} // which Prometheus adds
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		if f.GetMetric()[0].GetHistogram() == nil {
			all[f.GetName()] = labels
			continue
		}
		all[f.GetName()+"_bucket"], all[f.GetName()+"_count"], all[f.GetName()+"_sum"] = append(slices.Clone(labels), "le"), labels, labels
	}
	return all
}

// variables stand for what Grafana puts into a query.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$namespace", ".*")

// used returns the metrics of a query, and the labels that it selects and groups them by.
func used(t *testing.T, query string) map[string][]string {
	t.Helper()
	expr, err := parser.ParseExpr(variables.Replace(query))
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	found := make(map[string][]string)
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			for _, m := range s.LabelMatchers {
				if m.Name != "__name__" {
					found[s.Name] = append(found[s.Name], m.Name)
				}
			}
			for _, above := range path {
				if a, ok := above.(*parser.AggregateExpr); ok {
					found[s.Name] = append(found[s.Name], a.Grouping...)
				}
			}
		}
		return nil
	})
	return found
}

var (
	inLegend = regexp.MustCompile(`{{(\w+)}}`)
	inValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
)

// Each query of the dashboard is one of PromQL, of metrics and labels that the collector has.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	d, series := readDashboard(t), labelsOfSeries(t)
	asked := make(map[string]bool)
	check := func(where, metric string, labels []string) {
		has, ok := series[metric]
		if !ok {
			t.Errorf("%s: there is no metric %s", where, metric)
		}
		for _, l := range labels {
			if ok && !slices.Contains(has, l) {
				t.Errorf("%s: %s has no label %s", where, metric, l)
			}
		}
		asked[metric] = true
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			for metric, labels := range used(t, target.Expr) {
				for _, l := range inLegend.FindAllStringSubmatch(target.LegendFormat, -1) {
					labels = append(labels, l[1])
				}
				check(p.Title, metric, labels)
			}
		}
	}
	for _, v := range d.Templating.List[1:] { // after the data source
		m := inValues.FindStringSubmatch(v.Definition)
		if m == nil {
			t.Fatalf("the variable %s is %s", v.Name, v.Definition)
		}
		check(v.Name, m[1], m[2:])
	}
	for _, want := range []string{
		"db_client_operation_duration_seconds_count", "db_client_operation_duration_seconds_bucket", "holdfast_retry_attempts_total", "holdfast_retry_stopped_total",
		"db_client_connection_count", "db_client_connection_pending_requests", "db_client_connection_wait_time_seconds_bucket", "holdfast_breaker_state", "holdfast_retry_budget_tokens",
	} {
		if !asked[want] {
			t.Errorf("no panel shows %s", want)
		}
	}
}

// Panels have an id of their own, and do not cover each other.
func TestThePanelsOfTheDashboard(t *testing.T) {
	d := readDashboard(t)
	at := make(map[[2]int]string)
	ids := make(map[int]bool)
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		if (p.Type == "row") != (len(p.Targets) == 0) {
			t.Errorf("%s is a %s with %d queries", p.Title, p.Type, len(p.Targets))
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				place := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if at[place] != "" || place[0] >= 24 {
					t.Fatalf("%s covers %s at %v", p.Title, at[place], place)
				}
				at[place] = p.Title
			}
		}
	}
	if len(ids) < 10 {
		t.Errorf("there are %d panels", len(ids))
	}
}

// The test of the queries finds what is wrong.
func TestWhatAQueryUses(t *testing.T) {
	got := used(t, `histogram_quantile(0.9, sum by (le, a) (rate(x_bucket{b="$job"}[$__rate_interval]))) / max by (c) (y)`)
	if len(got) != 2 || !slices.Equal(got["x_bucket"], []string{"b", "le", "a"}) || !slices.Equal(got["y"], []string{"c"}) {
		t.Errorf("it uses %v", got)
	}
}
