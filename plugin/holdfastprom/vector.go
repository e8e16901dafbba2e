package holdfastprom

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// vector is a histogram or a counter with all its series.
type vector struct {
	prometheus.Collector
	with func(labels []string) metrics.Record
}

func newHistogram(d metrics.Definition) vector {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.PrometheusName(), Help: d.Description, Buckets: d.Boundaries}, d.PrometheusLabels())
	return vector{v, func(labels []string) metrics.Record {
		series := v.WithLabelValues(labels...)
		return func(_ context.Context, value float64) { series.Observe(value) }
	}}
}

func newCounter(d metrics.Definition) vector {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.PrometheusName(), Help: d.Description}, d.PrometheusLabels())
	return vector{v, func(labels []string) metrics.Record {
		series := v.WithLabelValues(labels...)
		return func(_ context.Context, value float64) { series.Add(value) }
	}}
}
