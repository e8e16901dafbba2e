package holdfastotel_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

// The traces and metrics of an operation whose first reply is lost. A program with global providers needs no field but Enabled.
func Example() {
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	tracer, err := holdfastotel.New(holdfastotel.Options{
		Enabled:        true,
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(spans)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(reader)),
	})
	if err != nil {
		panic(err)
	}
	set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	if err != nil {
		panic(err)
	}
	defer set.Close()
	client, err := mongo.Open(set.URI(), mongo.Config{Tracer: tracer}, options.Client().SetDialer(set.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Disconnect(context.Background())

	set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	if _, err := client.Database("shop").Collection("orders").InsertOne(context.Background(), bson.D{}); err != nil {
		panic(err)
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name, s.Status.Code)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		panic(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "db.client.operation.duration" {
			fmt.Println(m.Name, h.DataPoints[0].Count)
		}
	}
	// Output:
	// insert Error
	// insert Unset
	// insert shop.orders Unset
	// db.client.operation.duration 1
}
