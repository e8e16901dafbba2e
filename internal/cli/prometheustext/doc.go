// Package prometheustext keeps the metrics of clients, and serves them in Prometheus's text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format), without Prometheus's library. The metrics and their names are
// those of plugin/holdfastprom. Only text/plain version 0.0.4 is served, whatever the reader asks for.
//
// store.go has the values, family.go those of one metric, and write.go the format.
package prometheustext
