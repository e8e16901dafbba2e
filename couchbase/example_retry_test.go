package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The status with which a node says that it is too busy.
const temporaryFailure = couchbasetest.Status(0x86)

// The strategy of the cluster is the best-effort one; its waits can be replaced.
func ExampleBestEffortRetryStrategy() {
	waits := couchbase.BackoffCalculator(func(retries uint32) time.Duration {
		return min(time.Millisecond<<min(retries, 10), 500*time.Millisecond)
	})
	strategy := couchbase.NewBestEffortRetryStrategy(waits)
	servers, cluster, end := exampleClusterWith(couchbase.ClusterOptions{RetryStrategy: strategy})
	defer end()
	servers.Use(couchbasetest.AnyOpcode, couchbasetest.Times(3, couchbasetest.Fault{Status: temporaryFailure}))
	fmt.Println(insert(cluster.Bucket("default").DefaultCollection(), "a", 1))
	// Output:
	// <nil>
}

var errTooBusy = errors.New("the cluster is too busy")

// fewRetries retries twice, and only what may be sent again.
type fewRetries struct{}

func (fewRetries) RetryAfter(request couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	switch {
	case reason == couchbase.NotReadyRetryReason: // the bucket is being opened
		return &couchbase.WithDurationRetryAction{WithDuration: time.Millisecond}
	case !request.Idempotent() && !reason.AllowsNonIdempotentRetry():
		return &couchbase.NoRetryRetryAction{}
	case len(request.RetryReasons()) > 0 && request.RetryAttempts() >= 2:
		return &couchbase.FailedRetryAction{Err: errTooBusy}
	}
	return &couchbase.WithDurationRetryAction{WithDuration: time.Millisecond}
}

func ExampleRetryStrategy() {
	servers, cluster, end := exampleCluster()
	defer end()
	ok(cluster.Bucket("default").WaitUntilReady(time.Minute, nil))
	c := cluster.Bucket("default").DefaultCollection()
	remove := servers.Use(couchbasetest.AnyOpcode, couchbasetest.Always(couchbasetest.Fault{Status: temporaryFailure}))
	_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{RetryStrategy: fewRetries{}})
	fmt.Println("the strategy's error:", errors.Is(err, errTooBusy))
	var failed *couchbase.KeyValueError
	if errors.As(err, &failed) {
		fmt.Println("retries:", failed.RetryAttempts, failed.RetryReasons[0] == couchbase.KVTemporaryFailureRetryReason)
	}
	remove()
	_, err = c.Upsert("a", 1, &couchbase.UpsertOptions{RetryStrategy: fewRetries{}})
	fmt.Println(err)
	// Output:
	// the strategy's error: true
	// retries: 2 true
	// <nil>
}

func ExampleRetryReason() {
	for _, reason := range []couchbase.RetryReason{
		couchbase.KVLockedRetryReason, couchbase.SocketCloseInFlightRetryReason, couchbase.KVNotMyVBucketRetryReason,
	} {
		fmt.Println(reason.Description(), reason.AllowsNonIdempotentRetry(), reason.AlwaysRetry())
	}
	// Output:
	// KV_LOCKED true false
	// SOCKET_CLOSED_WHILE_IN_FLIGHT false false
	// KV_NOT_MY_VBUCKET true true
}

// explaining prints what is retried, and leaves the decision to another strategy.
type explaining struct{ couchbase.RetryStrategy }

func (s explaining) RetryAfter(request couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	if details, has := request.(couchbase.RetryRequestDetails); has {
		fmt.Println(details.Operation(), reason.Description(), errors.Is(details.Err(), couchbase.ErrTemporaryFailure))
	}
	return s.RetryStrategy.RetryAfter(request, reason)
}

func ExampleRetryRequestDetails() {
	servers, cluster, end := exampleCluster()
	defer end()
	ok(cluster.Bucket("default").WaitUntilReady(time.Minute, nil))
	servers.Use(couchbasetest.AnyOpcode, couchbasetest.FaultOnce(couchbasetest.Fault{Status: temporaryFailure}))
	_, err := cluster.Bucket("default").DefaultCollection().Upsert("a", 1, &couchbase.UpsertOptions{
		RetryStrategy: explaining{couchbase.NewBestEffortRetryStrategy(nil)},
	})
	fmt.Println(err)
	// Output:
	// upsert KV_TEMPORARY_FAILURE true
	// <nil>
}
