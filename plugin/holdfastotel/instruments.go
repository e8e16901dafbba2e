package holdfastotel

import (
	"context"

	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// instrument is that of one metric. A histogram and a counter record; an up-down counter and a gauge are observed.
type instrument struct {
	record     func(ctx context.Context, value float64, a attributeSet)
	observe    func(o metric.Observer, value float64, a metric.ObserveOption)
	observable metric.Observable
}

// attributeSet are the attributes of a series as options for both kinds of instruments that record. They are slices so that no measurement makes one.
type attributeSet struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

func newInstrument(meter metric.Meter, d metrics.Definition) (i instrument, err error) {
	switch d.Kind {
	case metrics.Histogram:
		return newHistogram(meter, d)
	case metrics.Counter:
		return newCounter(meter, d)
	case metrics.UpDownCounter:
		o, err := meter.Int64ObservableUpDownCounter(d.Name, metric.WithUnit(d.Unit), metric.WithDescription(d.Description))
		return observed(o), err
	case metrics.Gauge:
		return newGauge(meter, d)
	}
	return instrument{}, nil
}

func newHistogram(meter metric.Meter, d metrics.Definition) (instrument, error) {
	unit, description, boundaries := metric.WithUnit(d.Unit), metric.WithDescription(d.Description), metric.WithExplicitBucketBoundaries(d.Boundaries...)
	if d.Integer {
		h, err := meter.Int64Histogram(d.Name, unit, description, boundaries)
		return instrument{record: func(ctx context.Context, value float64, a attributeSet) { h.Record(ctx, int64(value), a.record...) }}, err
	}
	h, err := meter.Float64Histogram(d.Name, unit, description, boundaries)
	return instrument{record: func(ctx context.Context, value float64, a attributeSet) { h.Record(ctx, value, a.record...) }}, err
}

func newCounter(meter metric.Meter, d metrics.Definition) (instrument, error) {
	c, err := meter.Int64Counter(d.Name, metric.WithUnit(d.Unit), metric.WithDescription(d.Description))
	return instrument{record: func(ctx context.Context, value float64, a attributeSet) { c.Add(ctx, int64(value), a.add...) }}, err
}

func newGauge(meter metric.Meter, d metrics.Definition) (instrument, error) {
	if d.Integer {
		g, err := meter.Int64ObservableGauge(d.Name, metric.WithUnit(d.Unit), metric.WithDescription(d.Description))
		return observed(g), err
	}
	g, err := meter.Float64ObservableGauge(d.Name, metric.WithUnit(d.Unit), metric.WithDescription(d.Description))
	observe := func(o metric.Observer, value float64, a metric.ObserveOption) { o.ObserveFloat64(g, value, a) }
	return instrument{observe: observe, observable: g}, err
}

// observed is an instrument whose values are whole numbers.
func observed(i metric.Int64Observable) instrument {
	observe := func(o metric.Observer, value float64, a metric.ObserveOption) { o.ObserveInt64(i, int64(value), a) }
	return instrument{observe: observe, observable: i}
}
