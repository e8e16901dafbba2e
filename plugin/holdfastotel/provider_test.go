package holdfastotel_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

// uncomparable has spans of a type whose values Go cannot compare, as the global provider has before the program sets one.
type (
	uncomparable       struct{ noop.TracerProvider }
	uncomparableTracer struct{ noop.Tracer }
	uncomparableSpan   struct {
		noop.Span
		_ []string
	}
)

func (uncomparable) Tracer(string, ...trace.TracerOption) trace.Tracer { return uncomparableTracer{} }

func (uncomparableTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	span := uncomparableSpan{}
	return trace.ContextWithSpan(ctx, span), span
}

// A program that has not set up an SDK must not panic in its operations.
func TestAProviderWhoseSpansCannotBeCompared(t *testing.T) {
	tracer, err := holdfastotel.New(holdfastotel.Options{Enabled: true, TracerProvider: uncomparable{}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	client, err := mongo.Open(set.URI(), mongo.Config{Tracer: tracer}, options.Client().SetDialer(set.Dialer()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(context.Background())
	if _, err := client.Database("shop").Collection("orders").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
}
