package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// errors.Is says what happened, errors.As where.
func ExampleKeyValueError() {
	c, end := exampleCollection()
	defer end()
	_, err := c.Get("a", nil)
	fmt.Println(errors.Is(err, couchbase.ErrDocumentNotFound))
	var failed *couchbase.KeyValueError
	if errors.As(err, &failed) {
		fmt.Println(failed.DocumentID, failed.BucketName, failed.CollectionName, uint16(failed.StatusCode))
	}
	// Output:
	// true
	// a default _default 1
}

// After an unambiguous timeout the operation was certainly not applied.
func ExampleTimeoutError() {
	servers, cluster, end := exampleCluster()
	defer end()
	ok(cluster.Bucket("default").WaitUntilReady(time.Minute, nil))
	servers.Use(couchbasetest.AnyOpcode, couchbasetest.Always(couchbasetest.Fault{Status: temporaryFailure}))
	_, err := cluster.Bucket("default").DefaultCollection().Upsert("a", 1, &couchbase.UpsertOptions{Timeout: 200 * time.Millisecond})
	var timeout *couchbase.TimeoutError
	if errors.As(err, &timeout) {
		fmt.Println(timeout.OperationID, timeout.RetryReasons[0].Description(), timeout.TimeObserved >= 200*time.Millisecond)
	}
	fmt.Println("not applied:", errors.Is(err, couchbase.ErrUnambiguousTimeout))
	// Output:
	// Set KV_TEMPORARY_FAILURE true
	// not applied: true
}

// A layer above this package can wrap an error with details of its own, which are printed as JSON.
func ExampleGenericError() {
	err := error(couchbase.GenericError{InnerError: couchbase.ErrTemporaryFailure, Context: map[string]any{"job": "import"}})
	fmt.Println(errors.Is(err, couchbase.ErrTemporaryFailure))
	fmt.Println(err)
	// Output:
	// true
	// temporary failure | {"context":{"job":"import"}}
}
