//go:build spec_holdfast

package spec

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
	"github.com/holdfast-db/holdfast/telemetry"
)

// longText is longer than the text of any command of a case.
const longText = 1 << 20

// tracing traces a client with the plugin for OpenTelemetry.
func tracing(queryText bool) (*telemetry.Tracer, func() []unified.Span, error) {
	recorder := tracetest.NewSpanRecorder()
	o := holdfastotel.Options{Enabled: true, TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))}
	if queryText {
		o.QueryTextMaxLength = longText
	}
	tracer, err := holdfastotel.New(o)
	return tracer, func() []unified.Span { return below(recorder, trace.SpanID{}) }, err
}

// below returns the spans below another one, or those that are below none, in the order in which they began. One that has not ended is left out.
func below(recorder *tracetest.SpanRecorder, parent trace.SpanID) []unified.Span {
	var list []unified.Span
	for _, s := range recorder.Started() {
		if s.Parent().SpanID() != parent || s.EndTime().IsZero() {
			continue
		}
		span := unified.Span{Name: s.Name(), Nested: below(recorder, s.SpanContext().SpanID())}
		for _, a := range s.Attributes() {
			span.Attributes = append(span.Attributes, bson.E{Key: string(a.Key), Value: a.Value.AsInterface()})
		}
		list = append(list, span)
	}
	return list
}
