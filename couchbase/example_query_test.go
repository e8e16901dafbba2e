package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// The test cluster answers each query with the rows that the example gives it.
func ExampleCluster_Query() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Query, couchbasetest.HTTPAnswer{
		Rows:     []any{map[string]any{"owner": "Ada"}, map[string]any{"owner": "Bob"}},
		Warnings: []couchbasetest.HTTPProblem{{Code: 7, Message: "an old function"}},
	})
	result, err := cluster.Query("SELECT owner FROM accounts WHERE balance > $least", &couchbase.QueryOptions{
		NamedParameters: map[string]any{"least": 5},
		ScanConsistency: couchbase.QueryScanConsistencyRequestPlus,
		Profile:         couchbase.QueryProfileModeTimings,
		UseReplica:      couchbase.QueryUseReplicaLevelOff,
		Readonly:        true, // so it may be sent again
		Metrics:         true,
		Timeout:         time.Minute,
	})
	ok(err)
	for result.Next() {
		var row struct{ Owner string }
		ok(result.Row(&row))
		fmt.Println(row.Owner)
	}
	ok(result.Err()) // a result may end with an error after some rows
	meta, err := result.MetaData()
	ok(err)
	printMetaData(meta)
	// Output:
	// Ada
	// Bob
	// success rows: 2 warnings: [{7 an old function}]
}

func printMetaData(meta *couchbase.QueryMetaData) {
	fmt.Println(meta.Status, "rows:", meta.Metrics.ResultCount, "warnings:", meta.Warnings)
}

// Raw returns rows as the bytes that the service sent.
func ExampleQueryResult_Raw() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1, 2}})
	result, err := cluster.Query("SELECT RAW n FROM default", nil)
	ok(err)
	fmt.Println("the node is known:", result.Internal().Endpoint() != "")
	raw := result.Raw()
	for row := raw.NextBytes(); row != nil; row = raw.NextBytes() {
		fmt.Printf("%s\n", row)
	}
	ok(raw.Err())
	ok(raw.Close())
	// Output:
	// the node is known: true
	// 1
	// 2
}

func ExampleQueryError() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Query, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 3000, Message: "syntax error"}}})
	_, err := cluster.Bucket("default").DefaultScope().Query("SELEKT 1", &couchbase.QueryOptions{Adhoc: true})
	var failed *couchbase.QueryError
	if errors.As(err, &failed) {
		fmt.Println(failed.Statement, failed.Errors[0].Code, failed.Errors[0].Message)
	}
	fmt.Println(errors.Is(err, couchbase.ErrParsingFailure))
	// Output:
	// SELEKT 1 3000 syntax error
	// true
}

func ExampleQueryIndexManager() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{
		map[string]any{"name": "by_owner", "using": "gsi", "state": "online", "keyspace_id": "default", "index_key": []string{"owner"}},
	}})
	manager := cluster.QueryIndexes()
	ok(manager.WatchIndexes("default", []string{"by_owner"}, time.Minute, &couchbase.WatchQueryIndexOptions{WatchPrimary: false}))
	indexes, err := manager.GetAllIndexes("default", &couchbase.GetAllQueryIndexesOptions{Timeout: time.Minute})
	ok(err)
	for _, index := range indexes {
		fmt.Println(index.Name, index.Type == couchbase.QueryIndexTypeGsi, index.State, index.IndexKey)
	}

	ofCollection := cluster.Bucket("default").DefaultCollection().QueryIndexes()
	indexes, err = ofCollection.GetAllIndexes(nil)
	ok(err)
	fmt.Println(len(indexes))
	// Output:
	// by_owner true online [owner]
	// 1
}
