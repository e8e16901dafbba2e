package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/retry"
)

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

// The reply to the second increment is lost. An increment is not idempotent, so it is not sent again, and the error says that it may
// have been applied.
func Example() {
	servers, err := couchbasetest.Run(couchbasetest.Nodes(3))
	ok(err)
	defer servers.Close()
	cluster, err := couchbase.Connect(servers.ConnectionString(), couchbase.ClusterOptions{
		Username: servers.Username(), Password: servers.Password(),
	})
	ok(err)
	defer cluster.Close(nil)
	counters := cluster.Bucket("default").DefaultCollection().Binary()

	one := &couchbase.IncrementOptions{Initial: 1, Delta: 1, Timeout: 10 * time.Second}
	result, err := counters.Increment("2016-06-28", one)
	ok(err)
	fmt.Println("counter:", result.Content())

	servers.Use(couchbasetest.AnyOpcode, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true}))
	_, err = counters.Increment("2016-06-28", one)
	var history *retry.Error // the attempts: server, stage, reason and error of each, and why there was no other attempt
	if errors.As(err, &history) {
		last := history.Last()
		fmt.Println(last.Stage, last.Reason, "then:", last.StopReason)
		fmt.Println("the outcome is known:", history.OutcomeKnown())
	}
	// Output:
	// counter: 1
	// in flight SOCKET_CLOSED_WHILE_IN_FLIGHT then: not idempotent
	// the outcome is known: false
}
