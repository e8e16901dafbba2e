package holdfastprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// Collector has the metrics of all clients that have its tracer. It is a [prometheus.Collector], which a program registers once. It is safe for
// concurrent use.
type Collector struct {
	source   *metrics.Source
	recorded map[metrics.Metric]vector           // when something happens
	read     map[metrics.Metric]*prometheus.Desc // when Prometheus asks
}

var _ prometheus.Collector = (*Collector)(nil)

// New returns a collector of no clients yet. To give its metrics more labels, register it by [prometheus.WrapRegistererWith].
func New() *Collector {
	c := &Collector{recorded: make(map[metrics.Metric]vector), read: make(map[metrics.Metric]*prometheus.Desc)}
	for _, d := range metrics.Definitions() {
		switch d.Kind {
		case metrics.Histogram:
			c.recorded[d.Metric] = newHistogram(d)
		case metrics.Counter:
			c.recorded[d.Metric] = newCounter(d)
		case metrics.UpDownCounter, metrics.Gauge:
			c.read[d.Metric] = prometheus.NewDesc(d.PrometheusName(), d.Description, d.PrometheusLabels(), nil)
		}
	}
	c.source = metrics.New(metrics.Backend{Series: c.series, Overflow: c.overflow})
	return c
}

// Tracer returns the tracer for the configurations of clients.
func (c *Collector) Tracer() *telemetry.Tracer { return c.source.Tracer() }

func (c *Collector) series(d metrics.Definition, labels []string) metrics.Record {
	return c.recorded[d.Metric].with(labels)
}

// other is the value of all labels of the series that stands for those that there is no place for.
const other = "_OTHER"

func (c *Collector) overflow(d metrics.Definition, labels []string) metrics.Record {
	for i := range labels {
		labels[i] = other
	}
	return c.series(d, labels)
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, v := range c.recorded {
		v.Describe(to)
	}
	for _, d := range c.read {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. It waits for no network.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	for _, v := range c.recorded {
		v.Collect(to)
	}
	c.source.Read(func(d metrics.Definition, labels []string, value float64) {
		to <- prometheus.MustNewConstMetric(c.read[d.Metric], prometheus.GaugeValue, value, labels...)
	})
}
