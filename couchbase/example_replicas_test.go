package couchbase_test

import (
	"fmt"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The active node and the replica both answer.
func ExampleCollection_GetAllReplicas() {
	c, end := exampleCollection(couchbasetest.Nodes(2))
	defer end()
	_, err := c.Insert("a", "text", &couchbase.InsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
	ok(err)

	all, err := c.GetAllReplicas("a", &couchbase.GetAllReplicaOptions{ReadPreference: couchbase.ReadPreferenceNone})
	ok(err)
	defer func() { ok(all.Close()) }()
	replicas := map[bool]int{}
	for copied := all.Next(); copied != nil; copied = all.Next() {
		replicas[copied.IsReplica()]++
	}
	fmt.Println("active:", replicas[false], "replicas:", replicas[true])
	// Output:
	// active: 1 replicas: 1
}

// The active node is down. A replica has the document.
func ExampleCollection_GetAnyReplica() {
	servers, cluster, end := exampleCluster(couchbasetest.Nodes(2))
	defer end()
	c := cluster.Bucket("default").DefaultCollection()
	_, err := c.Insert("a", "text", &couchbase.InsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
	ok(err)
	servers.Kill(servers.Owners("default", "a")[0])

	result, err := c.GetAnyReplica("a", &couchbase.GetAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceNone})
	ok(err)
	var text string
	ok(result.Content(&text))
	fmt.Println(text, "from a replica:", result.IsReplica())
	// Output:
	// text from a replica: true
}

func ExampleCollection_LookupInAllReplicas() {
	c, end := exampleCollection(couchbasetest.Nodes(2))
	defer end()
	_, err := c.Insert("a", account{"Ada", 10}, &couchbase.InsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
	ok(err)
	specs := []couchbase.LookupInSpec{couchbase.GetSpec("balance", nil)}

	all, err := c.LookupInAllReplicas("a", specs, &couchbase.LookupInAllReplicaOptions{ReadPreference: couchbase.ReadPreferenceNone})
	ok(err)
	defer func() { ok(all.Close()) }()
	for copied := all.Next(); copied != nil; copied = all.Next() {
		var balance int
		ok(copied.ContentAt(0, &balance))
		fmt.Println(balance)
	}

	one, err := c.LookupInAnyReplica("a", specs, &couchbase.LookupInAnyReplicaOptions{ReadPreference: couchbase.ReadPreferenceNone})
	ok(err)
	fmt.Println("any node has it:", one.Exists(0))
	// Output:
	// 10
	// 10
	// any node has it: true
}
