package couchbase_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/telemetry"
)

// A tracer is told of each operation, of each time that it was sent, and why it was sent again.
func ExampleConfig() {
	servers, err := couchbasetest.Run(couchbasetest.InMemory())
	ok(err)
	defer servers.Close()
	cluster, err := couchbase.Open(servers.ConnectionString(), couchbase.Config{
		Dial: servers.Dialer().DialContext,
		Tracer: &telemetry.Tracer{
			AttemptEnded: func(_ context.Context, a *telemetry.Attempt, r *telemetry.Result) {
				fmt.Println(a.Name, "attempt", a.Number, "status", r.Code)
			},
			Decided: func(_ context.Context, d *telemetry.Decision) {
				if d.StopReason == "" && d.Stage == "answered" {
					fmt.Println("it is sent again:", d.Reason)
				}
			},
			OperationEnded: func(_ context.Context, o *telemetry.Operation, err error) {
				fmt.Println(o.Name, "on", o.Service, "of", o.Namespace, "ended:", err)
			},
		},
	}, couchbase.ClusterOptions{
		Username: servers.Username(), Password: servers.Password(), TimeoutsConfig: couchbase.TimeoutsConfig{KVTimeout: time.Minute},
	})
	ok(err)
	defer cluster.Close(nil)
	ok(cluster.Bucket("default").WaitUntilReady(time.Minute, nil))
	servers.Use(memd.OpAdd, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	// Output:
	// insert attempt 0 status 134
	// it is sent again: KV_TEMPORARY_FAILURE
	// insert attempt 1 status 0
	// insert on kv of default ended: <nil>
}

// PoolStats says what the client has of connections.
func ExampleCluster_PoolStats() {
	_, cluster, end := exampleCluster()
	ok(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	for _, pool := range cluster.PoolStats() {
		fmt.Println(pool.Service, pool.Ready, pool.InUse, pool.Idle)
	}
	end()
	fmt.Println(cluster.PoolStats()[0].Closed)
	// Output:
	// kv true 0 1
	// map[shutdown:1]
}
