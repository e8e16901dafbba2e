// Package holdfastprom makes Prometheus metrics of what Holdfast clients do.
//
//	collector := holdfastprom.New()
//	prometheus.MustRegister(collector)
//	client, err := mongo.Open(uri, mongo.Config{Tracer: collector.Tracer()})
//
// The metrics are those of package telemetry/metrics, which holdfastotel has too, under the names that Prometheus' exporters of OpenTelemetry make of
// theirs: dots become underscores, and names end with the unit, or with "total".
//
//	db_client_operation_duration_seconds             histogram
//	db_client_response_returned_rows                 histogram
//	db_client_connection_count                       gauge, by db_client_connection_state: idle, used
//	db_client_connection_idle_max, _idle_min, _max   gauges
//	db_client_connection_pending_requests            gauge
//	db_client_connection_timeouts_total              counter
//	db_client_connection_create_time_seconds         histogram
//	db_client_connection_wait_time_seconds           histogram
//	db_client_connection_use_time_seconds            histogram
//	holdfast_retry_attempts_total                    counter, by reason, stage, db_operation_name, server_address, server_port
//	holdfast_retry_stopped_total                     counter, by stop_reason
//	holdfast_retry_budget_tokens                     gauge
//	holdfast_breaker_state                           gauge, by server_address, server_port: 0 closed, 1 half-open, 2 open
//
// Metrics of operations have the labels db_system_name, db_namespace, db_collection_name, db_operation_name and error_type, those of Couchbase
// couchbase_service, couchbase_scope_name and couchbase_collection_name instead of db_collection_name; metrics of connections have
// db_client_connection_pool_name, the server's "host:port". A label without a value is absent. No label has an id, a part of a document or of a
// statement, or the text of an error.
//
// The file dashboard.json is a dashboard for Grafana: import it, and choose the data source at its top.
//
// # Cardinality
//
// A metric has at most metrics.MaxSeries series. What would be another one is counted in a series whose labels are all "_OTHER": an alert on that label
// shows that a program uses more collections than its metrics can tell apart.
package holdfastprom
