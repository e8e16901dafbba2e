// Package metrics makes the measurements of metrics from what Holdfast clients tell. It knows no library for metrics: a [Backend] has what to
// do with a measurement. plugin/holdfastotel and plugin/holdfastprom are such backends, and so have the same metrics.
//
//	source := metrics.New(metrics.Backend{Series: ...})
//	source.Tracer()    for the configurations of all clients
//	source.Read(...)   whenever the states of pools, budgets and breakers are wanted
//
// [Definitions] lists the metrics. Their names, units and attributes are those of OpenTelemetry's semantic conventions v1.44.0
// (https://opentelemetry.io/docs/specs/semconv/db/database-metrics/), of Couchbase's RFC 0067 revision 27, and our own with the prefix
// "holdfast.", for which there is no convention.
//
// # Attributes
//
// No value of an attribute is an id, a part of a document or of a statement, or the text of an error: those have no bound, and may be secret.
// What remains is bounded by the servers, by the program, and by the collections that it uses. See [MaxSeries] for programs that use many.
package metrics
