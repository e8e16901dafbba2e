package holdfastotel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/telemetry"
)

// has reports whether a span has an attribute.
func has(s sdktrace.ReadOnlySpan, name string) bool {
	return slices.ContainsFunc(s.Attributes(), func(a attribute.KeyValue) bool { return string(a.Key) == name })
}

// An operation whose last attempt had no answer has the exception itself, whatever the attempt before it had; and so has one whose last attempt has no
// span because it is sensitive.
func TestTheLastAttemptSaysWhoseExceptionItIs(t *testing.T) {
	for name, last := range map[string]struct {
		result    telemetry.Result
		sensitive bool
		want      bool
	}{
		"an answer":           {telemetry.Result{Err: errors.New("refused"), Code: 2}, false, false},
		"no answer":           {telemetry.Result{Err: errors.New("lost")}, false, true},
		"a sensitive command": {telemetry.Result{Err: errors.New("refused"), Code: 18}, true, true},
	} {
		recorder := tracetest.NewSpanRecorder()
		tracer := newSpans(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer(""), 0)
		o := &telemetry.Operation{System: telemetry.MongoDB, Name: "find"}
		ctx := tracer.OperationBegan(t.Context(), o)
		attempt := func(a telemetry.Attempt, r telemetry.Result) {
			a.Operation = o
			tracer.AttemptEnded(tracer.AttemptBegan(ctx, &a), &a, &r)
		}
		attempt(telemetry.Attempt{Name: "find"}, telemetry.Result{Err: errors.New("refused"), Code: 91})
		attempt(telemetry.Attempt{Name: "find", Sensitive: last.sensitive}, last.result)
		tracer.OperationEnded(ctx, o, last.result.Err)
		spans := recorder.Ended()
		if got := has(spans[len(spans)-1], "exception.message"); got != last.want {
			t.Errorf("%s: the operation has an exception: %v", name, got)
		}
	}
}

// The span of an attempt is below that of its operation also if another tracer has made a span of its own the current one.
func TestAnAttemptIsBelowItsOperationBesideAnotherTracer(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	other := &telemetry.Tracer{OperationBegan: func(ctx context.Context, _ *telemetry.Operation) context.Context {
		ctx, span := provider.Tracer("").Start(ctx, "other")
		span.End()
		return ctx
	}}
	tracer := telemetry.Join(newSpans(provider.Tracer(""), 0), other)
	o := &telemetry.Operation{System: telemetry.MongoDB, Name: "find"}
	ctx := tracer.OperationBegan(t.Context(), o)
	a := &telemetry.Attempt{Operation: o, Name: "attempt"}
	tracer.AttemptEnded(tracer.AttemptBegan(ctx, a), a, &telemetry.Result{})
	tracer.OperationEnded(ctx, o, nil)
	ids := map[string]trace.SpanID{}
	for _, s := range recorder.Ended() {
		ids[s.Name()] = s.Parent().SpanID()
		if s.Name() == "find " && ids["attempt"] != s.SpanContext().SpanID() {
			t.Errorf("the attempt is below %v, the operation is %v", ids["attempt"], s.SpanContext().SpanID())
		}
	}
	if len(ids) != 3 {
		t.Errorf("the spans are %v", ids)
	}
}

// Attempts share the attributes of their message, and none of them has those of another one.
func TestAttemptsDoNotShareWhatIsTheirOwn(t *testing.T) {
	roomy := append(make([]attribute.KeyValue, 0, 100), ofMessage(message{"insert", subject{telemetry.MongoDB, "insert", "d", "c"}, "a:1"})...)
	of := func(id int64, batch int) []attribute.KeyValue {
		return ofAttempt(roomy, &telemetry.Attempt{Connection: telemetry.Connection{ID: id}, Batch: batch}, 0)
	}
	first := of(1, 1)
	text := fmt.Sprint(first)
	second := of(2, 2)
	if got := fmt.Sprint(first); got != text {
		t.Errorf("the first attempt has %s, before the second one it had %s", got, text)
	}
	if len(second) != len(first)+1 { // the conventions: the size of a batch is never 1
		t.Errorf("the attempts have %v and %v", first, second)
	}
}

func TestNotTooManyDescriptionsAreKept(t *testing.T) {
	var d descriptions[int, string]
	for i := range 2*maxDescribed + 1 {
		if got := d.of(i, strconv.Itoa); got != strconv.Itoa(i) {
			t.Fatalf("%d is described as %s", i, got)
		}
		if len(d.kept) > maxDescribed {
			t.Fatalf("%d are kept", len(d.kept))
		}
	}
}
