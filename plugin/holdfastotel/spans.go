package holdfastotel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/telemetry"
)

// spans makes the spans of clients. It is safe for concurrent use.
type spans struct {
	tracer    trace.Tracer
	maxLength int // of a command's text; 0 for none
	starts    descriptions[subject, start]
	messages  descriptions[message, []attribute.KeyValue]
}

// newSpans returns a tracer that makes the spans of MongoDB clients.
func newSpans(tracer trace.Tracer, maxLength int) *telemetry.Tracer {
	s := &spans{tracer: tracer, maxLength: maxLength}
	return &telemetry.Tracer{
		OperationBegan: s.operationBegan, OperationEnded: s.operationEnded,
		AttemptBegan: s.attemptBegan, AttemptEnded: s.attemptEnded,
		TransactionBegan: s.transactionBegan, TransactionEnded: s.transactionEnded,
	}
}

// The spans are found by keys of their own: what is the current span of a context may be the span of another tracer.
type (
	operationKey   struct{}
	transactionKey struct{}
)

// operation is the span of an operation. One goroutine at a time uses it.
type operation struct {
	trace.Span
	attempt  trace.Span // the latest one, nil if it has no span
	answered bool       // the latest attempt ended with an error of the server, which its own span has
}

var kindClient = trace.WithSpanKind(trace.SpanKindClient)

func (s *spans) operationBegan(ctx context.Context, o *telemetry.Operation) context.Context {
	if o.System != telemetry.MongoDB {
		return ctx
	}
	parent := ctx
	if o.Transaction != nil {
		if t, ok := o.Transaction.Value(transactionKey{}).(trace.Span); ok {
			parent = trace.ContextWithSpan(ctx, t)
		}
	}
	as := s.starts.of(subject{o.System, o.Name, o.Namespace, o.Collection}, startOf)
	made, span := s.tracer.Start(parent, as.name, as.options...)
	return context.WithValue(made, operationKey{}, &operation{Span: span})
}

// spanOf returns the span of an operation, nil if it has none: it is one of another database, or what the client does for itself. The context may be
// made from that of another operation.
func spanOf(ctx context.Context, o *telemetry.Operation) *operation {
	if o == nil || o.System != telemetry.MongoDB {
		return nil
	}
	span, _ := ctx.Value(operationKey{}).(*operation)
	return span
}

func (s *spans) operationEnded(ctx context.Context, told *telemetry.Operation, err error) {
	o := spanOf(ctx, told)
	if o == nil {
		return
	}
	if err != nil {
		fail(o.Span, err, told.ErrorType)
		if !o.answered {
			o.SetAttributes(exception(err)...)
		}
	}
	o.End()
}

func (s *spans) attemptBegan(ctx context.Context, a *telemetry.Attempt) context.Context {
	o := spanOf(ctx, a.Operation)
	if o == nil {
		return ctx
	}
	if o.attempt, o.answered = nil, false; a.Sensitive {
		return ctx
	}
	parent := ctx
	if current := trace.SpanContextFromContext(ctx); current.SpanID() != o.SpanContext().SpanID() { // that of another tracer
		parent = trace.ContextWithSpan(ctx, o.Span)
	}
	made, span := s.tracer.Start(parent, a.Name, kindClient)
	if span.IsRecording() {
		about := message{a.Operation.Name, subject{a.Operation.System, a.Name, a.Namespace, a.Collection}, a.Connection.Address}
		span.SetAttributes(ofAttempt(s.messages.of(about, ofMessage), a, s.maxLength)...)
	}
	o.attempt = span
	return made
}

func (s *spans) attemptEnded(ctx context.Context, a *telemetry.Attempt, r *telemetry.Result) {
	o := spanOf(ctx, a.Operation)
	if o == nil || o.attempt == nil {
		return
	}
	span := o.attempt
	if id := r.Cursor; id != 0 && a.Cursor == 0 {
		span.SetAttributes(cursorID(id))
	}
	if r.Err != nil {
		code := statusCode(r.Code)
		fail(span, r.Err, code)
		span.SetAttributes(exception(r.Err)...)
		if code != "" {
			span.SetAttributes(responseStatus(code))
		}
		o.answered = r.Code != 0
	}
	span.End()
}

func (s *spans) transactionBegan(ctx context.Context, started time.Time) context.Context {
	made, span := s.tracer.Start(ctx, "transaction", kindClient, trace.WithTimestamp(started), trace.WithAttributes(systemMongoDB))
	return context.WithValue(made, transactionKey{}, span)
}

func (s *spans) transactionEnded(ctx context.Context, _ bool, err error) {
	span, ok := ctx.Value(transactionKey{}).(trace.Span)
	if !ok {
		return
	}
	if err != nil {
		fail(span, err, "")
	}
	span.End()
}

// fail gives a span the state of what failed. Kind is the code of the server's error or the like, empty if there is none.
func fail(span trace.Span, err error, kind string) {
	span.SetStatus(codes.Error, err.Error())
	span.SetAttributes(errorType(err, kind))
}
