// Package holdfastotel makes OpenTelemetry traces of what a Holdfast client does. It uses the API of OpenTelemetry alone: the program chooses the SDK
// and its exporter.
//
//	tracer, err := holdfastotel.New(holdfastotel.Options{Enabled: true})
//	...
//	client, err := mongo.Open(uri, mongo.Config{Tracer: tracer})
//
// An operation is a span of the kind client, from before a server is selected until the application gets the result. Each message that is sent for it
// is a span below that one: an operation that was retried has several. The operations of a transaction are below a span "transaction". Spans are
// children of the span in the context of the operation, a transaction's of that in the context of its first operation or of WithTransaction.
//
// Names and attributes are those of the OpenTelemetry specification of MongoDB's drivers
// (https://github.com/mongodb/specifications/blob/master/source/open-telemetry/open-telemetry.md), with error.type and, on the spans of
// messages, db.operation.name of OpenTelemetry's semantic conventions (https://opentelemetry.io/docs/specs/semconv/db/mongodb/).
//
// # Environment variables
//
//	OTEL_GO_INSTRUMENTATION_MONGODB_ENABLED                 1, true or yes: as Options.Enabled
//	OTEL_GO_INSTRUMENTATION_MONGODB_QUERY_TEXT_MAX_LENGTH   a number: as Options.QueryTextMaxLength
//
// # Secrets
//
// There is no span for a command that may have credentials, and no command's text unless it is asked for. A text has the values of the application's
// documents and filters.
package holdfastotel
