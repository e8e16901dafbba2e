package metrics_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// A backend that prints. The tracer goes into the configuration of a client; here its functions are called by hand.
func Example() {
	source := metrics.New(metrics.Backend{
		Series: func(d metrics.Definition, attributes []string) metrics.Record {
			return func(_ context.Context, value float64) {
				if d.Kind == metrics.Counter {
					fmt.Println(d.Metric == metrics.ConnectionTimeouts, d.Name, attributes, value)
				}
			}
		},
	})
	tracer := source.Tracer()
	tracer.ClientOpened(&telemetry.Client{
		System: telemetry.MongoDB,
		Pools:  func() []telemetry.Pool { return []telemetry.Pool{{Address: "db:27017", Waiting: 2}} },
		Limits: func() telemetry.Limits { return telemetry.Limits{} },
	})
	tracer.Pool(context.Background(), &telemetry.PoolEvent{Kind: telemetry.CheckoutFailed, Address: "db:27017", Reason: "timeout", Took: time.Second})
	source.Read(func(d metrics.Definition, attributes []string, value float64) {
		if d.Metric == metrics.ConnectionPendingRequests {
			fmt.Println(d.Name, attributes, value)
		}
	})
	// Output:
	// true db.client.connection.timeouts [db:27017] 1
	// db.client.connection.pending_requests [db:27017] 2
}
