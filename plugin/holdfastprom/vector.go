package holdfastprom

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// vector is a histogram or a counter with all its series.
type vector struct {
	prometheus.Collector
	with func(labels []string) metrics.Record
}

func newHistogram(d metrics.Definition) vector {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: nameOf(d), Help: d.Description, Buckets: d.Boundaries}, labelsOf(d))
	return vector{v, func(labels []string) metrics.Record {
		series := v.WithLabelValues(labels...)
		return func(_ context.Context, value float64) { series.Observe(value) }
	}}
}

func newCounter(d metrics.Definition) vector {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: nameOf(d), Help: d.Description}, labelsOf(d))
	return vector{v, func(labels []string) metrics.Record {
		series := v.WithLabelValues(labels...)
		return func(_ context.Context, value float64) { series.Add(value) }
	}}
}

// nameOf is the name of a metric by the rules of Prometheus (https://prometheus.io/docs/practices/naming/): with the unit, and with "total" for a
// counter. Units in braces only explain, and are not in names.
func nameOf(d metrics.Definition) string {
	name := underscored(d.Name)
	if d.Unit == "s" {
		name += "_seconds"
	}
	if d.Kind == metrics.Counter {
		name += "_total"
	}
	return name
}

func labelsOf(d metrics.Definition) []string {
	labels := make([]string, len(d.Attributes))
	for i, a := range d.Attributes {
		labels[i] = underscored(a)
	}
	return labels
}

func underscored(name string) string { return strings.ReplaceAll(name, ".", "_") }
