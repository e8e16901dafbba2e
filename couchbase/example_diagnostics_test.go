package couchbase_test

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// WaitUntilReady lets a program begin its work when the nodes can be reached.
func ExampleBucket_WaitUntilReady() {
	_, cluster, end := exampleCluster(couchbasetest.Nodes(2))
	defer end()
	ok(cluster.Bucket("default").WaitUntilReady(time.Minute, &couchbase.WaitUntilReadyOptions{
		DesiredState: couchbase.ClusterStateOnline,
		ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue},
	}))
	report, err := cluster.Diagnostics(&couchbase.DiagnosticsOptions{ReportID: "after the start"})
	ok(err)
	fmt.Println(report.ID, report.State == couchbase.ClusterStateOnline, connected(report))
	// Output:
	// after the start true 2
}

// connected counts the connections to the nodes.
func connected(report *couchbase.DiagnosticsResult) int {
	n := 0
	for _, connection := range report.Services["kv"] {
		if connection.State == couchbase.EndpointStateConnected {
			n++
		}
	}
	return n
}

// Ping sends a request to each node, unlike Diagnostics.
func ExampleBucket_Ping() {
	_, cluster, end := exampleCluster()
	defer end()
	bucket := cluster.Bucket("default")
	ok(bucket.WaitUntilReady(time.Minute, nil))
	report, err := bucket.Ping(&couchbase.PingOptions{
		ServiceTypes: []couchbase.ServiceType{couchbase.ServiceTypeKeyValue, couchbase.ServiceTypeQuery}, Timeout: time.Minute,
	})
	ok(err)
	fmt.Println("silent nodes:", silentNodes(report))
	// Output:
	// silent nodes: []
}

// silentNodes returns the addresses that did not answer.
func silentNodes(report *couchbase.PingResult) []string {
	var silent []string
	for _, endpoints := range report.Services {
		for _, endpoint := range endpoints {
			if endpoint.State != couchbase.PingStateOk {
				silent = append(silent, endpoint.Remote)
			}
		}
	}
	return silent
}

// A layer above this package asks whether the servers know a feature.
func ExampleBucket_Internal() {
	_, cluster, end := exampleCluster()
	defer end()
	bucket := cluster.Bucket("default")
	ok(bucket.WaitUntilReady(time.Minute, nil))
	status, err := bucket.Internal().CapabilityStatus(couchbase.CapabilityDurableWrites)
	ok(err)
	fmt.Println(status == couchbase.CapabilityStatusSupported)
	// Output:
	// true
}

func ExampleCluster_Internal() {
	_, cluster, end := exampleCluster(couchbasetest.Nodes(2))
	defer end()
	nodes, err := cluster.Internal().GetNodesMetadata(&couchbase.GetNodesMetadataOptions{Timeout: time.Minute})
	ok(err)
	for _, node := range nodes {
		fmt.Println(node.Status)
	}
	// Output:
	// healthy
	// healthy
}
