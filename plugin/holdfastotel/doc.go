// Package holdfastotel makes OpenTelemetry traces and metrics of what Holdfast clients do. It uses the API of OpenTelemetry alone: the program chooses
// the SDK and its exporters.
//
//	tracer, err := holdfastotel.New(holdfastotel.Options{Enabled: true})
//	...
//	client, err := mongo.Open(uri, mongo.Config{Tracer: tracer})
//	cluster, err := couchbase.Open(connStr, couchbase.Config{Tracer: tracer}, clusterOptions)
//
// Traces and metrics are on, with the global providers, or those of [Options]. Give one tracer to all clients of the program.
//
// # Traces of MongoDB
//
// An operation is a span of the kind client, from before a server is selected until the application gets the result. Each message that is sent for it
// is a span below that one: an operation that was retried has several. The operations of a transaction are below a span "transaction". Spans are
// children of the span in the context of the operation, a transaction's of that in the context of its first operation or of WithTransaction.
//
// Names and attributes are those of the OpenTelemetry specification of MongoDB's drivers
// (https://github.com/mongodb/specifications/blob/master/source/open-telemetry/open-telemetry.md), with error.type and, on the spans of
// messages, db.operation.name of OpenTelemetry's semantic conventions (https://opentelemetry.io/docs/specs/semconv/db/mongodb/).
//
// # Traces of Couchbase
//
// An operation is a span of the kind client too, and has below it "request_encoding", the transcoder of a write, and "dispatch_to_server" for each time
// that the request was on a connection. Names and attributes are those of Couchbase's RFC 0067: the old ones, which gocb has always had, unless
// [Options].StabilityOptIn chooses the stable ones, or both.
//
// # Metrics
//
// They are those of package telemetry/metrics: db.client.operation.duration, what becomes of connections, and, with the prefix "holdfast.", retries,
// why there was none, the budget and the breakers. Their instrumentation scope is github.com/holdfast-db/holdfast. Pools, budgets and breakers are
// asked for when the SDK collects; nothing runs in between. The exemplar of a bucket, if the SDK keeps any, has the ids of the operation's span.
//
// # Environment variables
//
//	OTEL_GO_INSTRUMENTATION_MONGODB_ENABLED                 1, true or yes: as Options.Enabled, for both databases
//	OTEL_GO_INSTRUMENTATION_MONGODB_QUERY_TEXT_MAX_LENGTH   a number: as Options.QueryTextMaxLength, for MongoDB
//	OTEL_SEMCONV_STABILITY_OPT_IN                           database, database/dup: as Options.StabilityOptIn, for Couchbase
//
// # Secrets
//
// There is no span for a command that may have credentials, and no command's text unless it is asked for. A text has the values of the application's
// documents and filters. Couchbase's spans have the text of a statement only if its values are parameters. The text of an error, which a span that failed
// has, may have the id of a Couchbase document in it. No metric has an id, a document, a statement or the text of an error in it.
package holdfastotel
