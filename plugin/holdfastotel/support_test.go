package holdfastotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

// world is a client that is traced, with a replica set in memory.
type world struct {
	*testing.T
	ctx    context.Context
	set    *mongotest.Deployment
	client *mongo.Client
	coll   *mongo.Collection
	tracer trace.Tracer // the application's
	spans  *tracetest.SpanRecorder
}

// in runs f in a bubble. The options get the provider of the spans.
func in(t *testing.T, o holdfastotel.Options, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, err := mongotest.RunReplicaSet(3, mongotest.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		w := &world{T: t, ctx: t.Context(), set: set, spans: tracetest.NewSpanRecorder()}
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans))
		o.TracerProvider, w.tracer = provider, provider.Tracer("application")
		tracer, err := holdfastotel.New(o)
		w.must(err)
		w.client, err = mongo.Open(set.URI(), mongo.Config{Tracer: tracer}, options.Client().SetDialer(set.Dialer()))
		w.must(err)
		defer w.client.Disconnect(context.Background())
		w.coll = w.client.Database("shop").Collection("orders")
		f(w)
	})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// tree returns the spans that have ended, a line for each, below their parents, with the attributes that are asked for.
func (w *world) tree(attributes ...string) string {
	var b strings.Builder
	w.below(&b, trace.SpanID{}, "", attributes)
	return b.String()
}

func (w *world) below(b *strings.Builder, parent trace.SpanID, indent string, attributes []string) {
	for _, s := range w.spans.Started() {
		if s.Parent().SpanID() != parent || s.EndTime().IsZero() {
			continue
		}
		fmt.Fprintf(b, "%s%s", indent, s.Name())
		if s.Status().Code == codes.Error {
			b.WriteString(" failed")
		}
		if s.SpanKind() != trace.SpanKindClient {
			fmt.Fprintf(b, " %v", s.SpanKind())
		}
		for _, name := range attributes {
			if v, ok := spanAttribute(s, name); ok {
				fmt.Fprintf(b, " %s=%v", name, v)
			}
		}
		b.WriteString("\n")
		w.below(b, s.SpanContext().SpanID(), indent+"  ", attributes)
	}
}

func spanAttribute(s sdktrace.ReadOnlySpan, name string) (any, bool) {
	for _, a := range s.Attributes() {
		if string(a.Key) == name {
			return a.Value.AsInterface(), true
		}
	}
	return nil, false
}

// want compares the tree with what is wanted, whose lines begin with "|".
func (w *world) want(want string, attributes ...string) {
	w.Helper()
	want = strings.TrimPrefix(strings.ReplaceAll(strings.ReplaceAll(want, "\t", ""), "|", ""), "\n")
	if got := w.tree(attributes...); got != want {
		w.Errorf("the spans are\n%swant\n%s", got, want)
	}
}
