package couchbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// A durable write returns when a majority of the copies has it.
func ExampleDurabilityLevel() {
	servers, cluster, end := exampleCluster(couchbasetest.Nodes(2))
	defer end()
	c := cluster.Bucket("default").DefaultCollection()
	level := couchbase.DurabilityLevelPersistToMajority
	_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: level})
	ok(err)
	replica := servers.Owners("default", "a")[1]
	document, found := servers.DocumentAt(replica, "default", "a")
	fmt.Printf("the replica has it: %v %s\n", found, document.Value)
	// Output:
	// the replica has it: true 1
}

// With one node there is no majority of two copies.
func ExampleDurabilityLevel_impossible() {
	c, end := exampleCollection(couchbasetest.Nodes(1))
	defer end()
	_, err := c.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority, Timeout: 10 * time.Second})
	fmt.Println(errors.Is(err, couchbase.ErrDurabilityImpossible))
	// Output:
	// true
}

// A mutation state makes a query see the application's own writes.
func ExampleMutationState() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
	written, err := cluster.Bucket("default").DefaultCollection().Upsert("a", 1, nil)
	ok(err)
	token := written.MutationToken()
	state := couchbase.NewMutationState(*token)
	result, err := cluster.Query("SELECT RAW n FROM default", &couchbase.QueryOptions{ConsistentWith: state})
	ok(err)
	var n int
	ok(result.One(&n))

	internal := state.Internal()
	fmt.Println(n, token.BucketName(), token.SequenceNumber(), len(internal.Tokens()))
	stored, err := json.Marshal(state) // for another process
	ok(err)
	restored := couchbase.NewMutationState()
	ok(json.Unmarshal(stored, restored))
	fmt.Println(len(restored.Internal().Tokens()))
	// Output:
	// 1 default 1 1
	// 1
}
