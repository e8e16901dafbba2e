package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

func ExampleBucket_ViewQuery() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Views, couchbasetest.HTTPAnswer{
		Rows: []any{map[string]any{"id": "a", "key": "Ada", "value": 10}}, Fields: map[string]any{"total_rows": 3},
	})
	result, err := cluster.Bucket("default").ViewQuery("accounts", "by_owner", &couchbase.ViewOptions{
		StartKey: "A", EndKey: "B", Limit: 10,
		Order:           couchbase.ViewOrderingAscending,
		ScanConsistency: couchbase.ViewScanConsistencyRequestPlus,
		OnError:         couchbase.ViewErrorModeStop,
		Namespace:       couchbase.DesignDocumentNamespaceProduction,
	})
	ok(err)
	for result.Next() {
		row := result.Row()
		var owner string
		ok(row.Key(&owner))
		var balance int
		ok(row.Value(&balance))
		fmt.Println(row.ID, owner, balance)
	}
	ok(result.Err())
	meta, err := result.MetaData()
	ok(err)
	fmt.Println("rows of the view:", meta.TotalRows)
	// Output:
	// a Ada 10
	// rows of the view: 3
}

func ExampleViewResult_Raw() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Views, couchbasetest.HTTPAnswer{Rows: []any{map[string]any{"id": "a"}}})
	result, err := cluster.Bucket("default").ViewQuery("accounts", "by_owner", nil)
	ok(err)
	raw := result.Raw()
	fmt.Printf("%s\n", raw.NextBytes())
	ok(raw.Close())
	// Output:
	// {"id":"a"}
}

func ExampleViewError() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Views, couchbasetest.HTTPAnswer{Status: 404, Body: []byte(`{"error":"not_found","reason":"deleted"}`)})
	_, err := cluster.Bucket("default").ViewQuery("accounts", "none", nil)
	var failed *couchbase.ViewError
	if errors.As(err, &failed) {
		fmt.Println(failed.ViewName, failed.Errors[0].Message)
	}
	fmt.Println(errors.Is(err, couchbase.ErrViewNotFound))
	// Output:
	// none not_found
	// true
}

func ExampleViewIndexManager() {
	servers, cluster, end := exampleCluster()
	defer end()
	const views = `{"views":{"by_owner":{"map":"function (d) { emit(d.owner); }","reduce":"_count"}}}`
	bodyAt(servers, "/default/_design/accounts", views)
	bodyAt(servers, "/pools/default/buckets/default/ddocs", `{"rows":[{"doc":{"meta":{"id":"_design/accounts"},"json":`+views+`}}]}`)
	manager := cluster.Bucket("default").ViewIndexes()
	const production = couchbase.DesignDocumentNamespaceProduction
	document, err := manager.GetDesignDocument("accounts", production, &couchbase.GetDesignDocumentOptions{Timeout: time.Minute})
	ok(err)
	printViews(document)
	all, err := manager.GetAllDesignDocuments(production, &couchbase.GetAllDesignDocumentsOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(len(all))
	// Output:
	// accounts/by_owner _count
	// 1
}

func printViews(document *couchbase.DesignDocument) {
	for name, view := range document.Views {
		fmt.Println(document.Name+"/"+name, view.Reduce)
	}
}
