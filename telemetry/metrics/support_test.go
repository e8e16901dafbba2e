package metrics_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// memory is a backend that remembers all values of each series.
type memory struct {
	mu     sync.Mutex
	values map[string][]float64
}

func (m *memory) series(d metrics.Definition, attributes []string) metrics.Record {
	name := nameOf(d, attributes)
	return func(_ context.Context, value float64) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.values[name] = append(m.values[name], value)
	}
}

// nameOf is a metric's name with the attributes that are present.
func nameOf(d metrics.Definition, attributes []string) string {
	name := d.Name
	for i, value := range attributes {
		if value != "" {
			name += fmt.Sprintf(" %s=%s", d.Attributes[i], value)
		}
	}
	return name
}

func newMemory() (*memory, *metrics.Source, *telemetry.Tracer) {
	m := &memory{values: make(map[string][]float64)}
	source := metrics.New(metrics.Backend{Series: m.series})
	return m, source, source.Tracer()
}

// want compares all series with what is wanted, a line for each, whose lines begin with "|".
func (m *memory) want(t *testing.T, want string) {
	t.Helper()
	var lines []string
	for name, values := range m.values {
		lines = append(lines, fmt.Sprint(name, " ", values))
	}
	compare(t, lines, want)
}

func compare(t *testing.T, lines []string, want string) {
	t.Helper()
	slices.Sort(lines)
	var wanted []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(strings.ReplaceAll(line, "|", "")); line != "" {
			wanted = append(wanted, line)
		}
	}
	slices.Sort(wanted)
	if !slices.Equal(lines, wanted) {
		t.Errorf("the values are\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(wanted, "\n"))
	}
}

// read returns what a source reports, a line for each series.
func read(s *metrics.Source) []string {
	var lines []string
	s.Read(func(d metrics.Definition, attributes []string, value float64) {
		lines = append(lines, fmt.Sprint(nameOf(d, attributes), " ", value))
	})
	return lines
}

// names are the attributes of all metrics.
func names() []string {
	all := make(map[string]bool)
	for _, d := range metrics.Definitions() {
		for _, a := range d.Attributes {
			all[a] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
