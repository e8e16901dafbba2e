package bench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	first "go.mongodb.org/mongo-driver/event"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.opentelemetry.io/contrib/instrumentation/go.mongodb.org/mongo-driver/mongo/otelmongo"
	"go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

// counted is an exporter that counts spans.
type counted struct{ atomic.Int64 }

func (c *counted) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	c.Add(int64(len(spans)))
	return nil
}

func (*counted) Shutdown(context.Context) error { return nil }

// TestTraced measures FindOne with traces: ours with holdfastotel, which makes two spans, the official driver with contrib's otelmongo, which makes one;
// both with the SDK's batches and the same exporter. Otelmongo is that of the driver's first version, which gets the events of the second through an
// adapter: it is the one that has a release.
func TestTraced(t *testing.T) {
	skipIfRace(t)
	server, spans := startServer(t), &counted{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	tracer, err := holdfastotel.New(holdfastotel.Options{Enabled: true, TracerProvider: provider, MeterProvider: noop.NewMeterProvider()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mongo.Open("mongodb://"+server.Plain+"/?replicaSet=canned&maxPoolSize=32", mongo.Config{Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	monitor := ofFirst(otelmongo.NewMonitor(otelmongo.WithTracerProvider(provider)))
	ours, theirs := ours(t, c), connectOfficial(t, plainly(server, manyOnMany).SetMonitor(monitor))
	r, many := result{costs: make(map[string][]cost)}, load{workers: manyOnMany}
	for range rounds(allRounds) {
		r.costs[oursClient] = append(r.costs[oursClient], many.cost(t, nil, ours.findOne, sampled(operations)))
		r.costs[officialClient] = append(r.costs[officialClient], many.cost(t, nil, theirs.findOne, sampled(operations)))
	}
	printHead()
	pair{r}.print("findone, traced")
	holdTimeBar(t, "otel-findone-vs-official", pair{r}.ratio(cpu), 0.5)
	if err := provider.ForceFlush(t.Context()); err != nil || spans.Load() == 0 {
		t.Errorf("%d spans were exported: %v", spans.Load(), err)
	}
}

// Contrib's otelmongo works with our client as it is: it sees the messages.
func TestOtelmongoSeesTheMessages(t *testing.T) {
	server, recorder := startServer(t), tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	monitor := ofFirst(otelmongo.NewMonitor(otelmongo.WithTracerProvider(provider)))
	c := connectOurs(t, plainly(server, 1).SetMonitor(monitor))
	if err := c.findOne(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, span := range recorder.Ended() {
		names = append(names, span.Name())
	}
	if want := []string{canned.Collection + ".find"}; !slices.Equal(names, want) {
		t.Errorf("the spans are %q, want %q", names, want)
	}
}

// ofFirst returns a monitor for the second version of the driver that tells one for the first.
func ofFirst(m *first.CommandMonitor) *event.CommandMonitor {
	finished := func(e event.CommandFinishedEvent) first.CommandFinishedEvent {
		return first.CommandFinishedEvent{
			Duration: e.Duration, CommandName: e.CommandName, DatabaseName: e.DatabaseName, RequestID: e.RequestID, ConnectionID: e.ConnectionID,
			ServerConnectionID64: e.ServerConnectionID,
		}
	}
	return &event.CommandMonitor{
		Started: func(ctx context.Context, e *event.CommandStartedEvent) {
			m.Started(ctx, &first.CommandStartedEvent{
				Command: []byte(e.Command), DatabaseName: e.DatabaseName, CommandName: e.CommandName, RequestID: e.RequestID,
				ConnectionID: e.ConnectionID, ServerConnectionID64: e.ServerConnectionID,
			})
		},
		Succeeded: func(ctx context.Context, e *event.CommandSucceededEvent) {
			m.Succeeded(ctx, &first.CommandSucceededEvent{CommandFinishedEvent: finished(e.CommandFinishedEvent), Reply: []byte(e.Reply)})
		},
		Failed: func(ctx context.Context, e *event.CommandFailedEvent) {
			m.Failed(ctx, &first.CommandFailedEvent{CommandFinishedEvent: finished(e.CommandFinishedEvent), Failure: fmt.Sprint(e.Failure)})
		},
	}
}
