package holdfastotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// newMetrics returns a tracer that makes the metrics of all clients that it is given to.
func newMetrics(meter metric.Meter) (*telemetry.Tracer, error) {
	var instruments []instrument // each at the index that is its metric's number
	var observables []metric.Observable
	for _, d := range metrics.Definitions() {
		i, err := newInstrument(meter, d)
		if err != nil {
			return nil, err
		}
		instruments = append(instruments, i)
		if i.observable != nil {
			observables = append(observables, i.observable)
		}
	}
	// There is no Overflow: the SDK has a limit of series, which the program can set.
	source := metrics.New(metrics.Backend{Series: func(d metrics.Definition, attributes []string) metrics.Record {
		return recorder(instruments[d.Metric], setOf(d, attributes))
	}})
	_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		source.Read(func(d metrics.Definition, attributes []string, value float64) {
			instruments[d.Metric].observe(o, value, metric.WithAttributeSet(setOf(d, attributes)))
		})
		return nil
	}, observables...)
	return source.Tracer(), err
}

// recorder returns what records the values of one series.
func recorder(i instrument, attributes attribute.Set) metrics.Record {
	option := metric.WithAttributeSet(attributes)
	a := attributeSet{record: []metric.RecordOption{option}, add: []metric.AddOption{option}}
	return func(ctx context.Context, value float64) { i.record(ctx, value, a) }
}

// setOf returns the attributes that are present.
func setOf(d metrics.Definition, values []string) attribute.Set {
	list := make([]attribute.KeyValue, 0, len(values))
	for i, value := range values {
		if value != "" {
			list = append(list, attributeOf(d.Attributes[i], value))
		}
	}
	return attribute.NewSet(list...)
}
