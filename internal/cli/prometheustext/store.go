package prometheustext

import (
	"bufio"
	"net/http"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// Store has the metrics of all clients that have its tracer. It is safe for concurrent use.
type Store struct {
	source   *metrics.Source
	families []*family // by their metrics.Metric
}

// New returns a store without values.
func New() *Store {
	s := &Store{}
	for _, d := range metrics.Definitions() {
		s.families = append(s.families, &family{definition: d, series: make(map[string]*series)})
	}
	s.source = metrics.New(metrics.Backend{Series: s.series, Overflow: s.overflow})
	return s
}

// Tracer returns the tracer for the configurations of clients.
func (s *Store) Tracer() *telemetry.Tracer { return s.source.Tracer() }

func (s *Store) series(d metrics.Definition, attributes []string) metrics.Record {
	return s.families[d.Metric].of(attributes).record
}

// other is the value of all attributes of the series that stands for those that there is no place for.
const other = "_OTHER"

func (s *Store) overflow(d metrics.Definition, attributes []string) metrics.Record {
	for i := range attributes {
		attributes[i] = other
	}
	return s.series(d, attributes)
}

// ServeHTTP answers with all values.
func (s *Store) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	out := bufio.NewWriter(w)
	read := make(map[metrics.Metric][]sample)
	s.source.Read(func(d metrics.Definition, attributes []string, value float64) {
		read[d.Metric] = append(read[d.Metric], sample{attributes, value})
	})
	for _, f := range s.families {
		f.write(out, read[f.definition.Metric])
	}
	_ = out.Flush() // the reader may have left
}
