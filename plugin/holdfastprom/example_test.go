package holdfastprom_test

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/plugin/holdfastprom"
)

// The metrics of a client. A program registers the collector with the default registry, and serves that by the package promhttp.
func Example() {
	collector := holdfastprom.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector)

	set, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	if err != nil {
		panic(err)
	}
	defer set.Close()
	client, err := mongo.Open(set.URI(), mongo.Config{Tracer: collector.Tracer()}, options.Client().SetDialer(set.Dialer()))
	if err != nil {
		panic(err)
	}
	defer client.Disconnect(context.Background())
	orders := client.Database("shop").Collection("orders")
	for range 3 {
		if _, err := orders.InsertOne(context.Background(), bson.D{}); err != nil {
			panic(err)
		}
	}

	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if f.GetName() == "db_client_operation_duration_seconds" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetHistogram().GetSampleCount())
		}
	}
	// Output: db_client_operation_duration_seconds 3
}
