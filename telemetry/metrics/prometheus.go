package metrics

import "strings"

// PrometheusName returns the name of a metric by the rules of Prometheus (https://prometheus.io/docs/practices/naming/): with the unit, and
// with "total" for a counter. Units in braces only explain, and are not in names.
func (d Definition) PrometheusName() string {
	name := underscored(d.Name)
	if d.Unit == "s" {
		name += "_seconds"
	}
	if d.Kind == Counter {
		name += "_total"
	}
	return name
}

// PrometheusLabels returns the names of the attributes as labels of Prometheus, in their order.
func (d Definition) PrometheusLabels() []string {
	labels := make([]string, len(d.Attributes))
	for i, a := range d.Attributes {
		labels[i] = underscored(a)
	}
	return labels
}

func underscored(name string) string { return strings.ReplaceAll(name, ".", "_") }
