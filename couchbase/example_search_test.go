package couchbase_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/search"
	"github.com/holdfast-db/holdfast/couchbase/vector"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// hits is what the search service of the examples answers.
const hits = `{"status":{"total":1,"successful":1},"total_hits":1,"max_score":1.5,"took":1500,"hits":[
{"index":"hotels","id":"hotel-1","score":1.5,"fields":{"name":"Sea View"},"fragments":{"name":["<mark>Sea</mark> View"]},
"locations":{"name":{"sea":[{"pos":1,"start":0,"end":3}]}}}],
"facets":{"stars":{"field":"stars","total":3,"terms":[{"term":"five","count":1}],
"numeric_ranges":[{"name":"cheap","min":0,"max":50,"count":2}],"date_ranges":[{"name":"new","start":"2026-01-01","count":3}]}}}`

func ExampleCluster_Search() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Search, couchbasetest.HTTPAnswer{Body: []byte(hits)})
	request := couchbase.SearchRequest{SearchQuery: search.NewMatchQuery("sea").Field("name")}
	result, err := cluster.Search("hotels", request, &couchbase.SearchOptions{
		Limit: 10, Fields: []string{"name"}, IncludeLocations: true,
		Highlight:       &couchbase.SearchHighlightOptions{Style: couchbase.HTMLHighlightStyle},
		ScanConsistency: couchbase.SearchScanConsistencyNotBounded,
		Facets:          map[string]search.Facet{"stars": search.NewTermFacet("stars", 3)},
	})
	ok(err)
	for result.Next() {
		printHit(result.Row())
	}
	ok(result.Err())
	meta, err := result.MetaData()
	ok(err)
	fmt.Println("complete:", complete(meta))
	facets, err := result.Facets()
	ok(err)
	printFacet(facets["stars"])
	// Output:
	// hotel-1 Sea View [<mark>Sea</mark> View]
	// "sea" is word 1
	// complete: true
	// five: 1
	// cheap: 2
	// new: 3
}

func printHit(row couchbase.SearchRow) {
	var fields struct{ Name string }
	ok(row.Fields(&fields))
	fmt.Println(row.ID, fields.Name, row.Fragments["name"])
	for term, locations := range row.Locations["name"] {
		fmt.Printf("%q is word %d\n", term, locations[0].Position)
	}
}

// complete reports whether all partitions of the index answered.
func complete(meta *couchbase.SearchMetaData) bool {
	return meta.Metrics.SuccessPartitionCount == meta.Metrics.TotalPartitionCount
}

func printFacet(facet couchbase.SearchFacetResult) {
	for _, term := range facet.Terms {
		fmt.Printf("%s: %d\n", term.Term, term.Count)
	}
	for _, numbers := range facet.NumericRanges {
		fmt.Printf("%s: %d\n", numbers.Name, numbers.Count)
	}
	for _, dates := range facet.DateRanges {
		fmt.Printf("%s: %d\n", dates.Name, dates.Count)
	}
}

// A vector search finds the documents whose vectors are near.
func ExampleScope_Search() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Search, couchbasetest.HTTPAnswer{Body: []byte(hits)})
	near := vector.NewSearch([]*vector.Query{vector.NewQuery("embedding", []float32{0.1, 0.2})}, nil)
	result, err := cluster.Bucket("default").DefaultScope().Search("hotels", couchbase.SearchRequest{VectorSearch: near}, nil)
	ok(err)
	for result.Next() {
		fmt.Println(result.Row().ID)
	}
	ok(result.Err())
	// Output:
	// hotel-1
}

func ExampleSearchResult_Raw() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Search, couchbasetest.HTTPAnswer{Body: []byte(`{"status":{},"hits":[{"id":"hotel-1"}]}`)})
	result, err := cluster.SearchQuery("hotels", search.NewMatchAllQuery(), nil)
	ok(err)
	raw := result.Raw()
	fmt.Printf("%s\n", raw.NextBytes())
	ok(raw.Close())
	// Output:
	// {"id":"hotel-1"}
}

func ExampleSearchError() {
	servers, cluster, end := exampleCluster()
	defer end()
	answerOf(servers, couchbasetest.Search, couchbasetest.HTTPAnswer{Status: 400, Body: []byte(`{"error":"index not found"}`)})
	_, err := cluster.SearchQuery("none", search.NewMatchAllQuery(), nil)
	var failed *couchbase.SearchError
	if errors.As(err, &failed) {
		fmt.Println(failed.IndexName, failed.HTTPStatusCode)
	}
	fmt.Println(errors.Is(err, couchbase.ErrIndexNotFound))
	// Output:
	// none 400
	// true
}

func ExampleSearchIndexManager() {
	servers, cluster, end := exampleCluster()
	defer end()
	const index = `{"uuid":"u","name":"hotels","sourceName":"default","type":"fulltext-index"}`
	bodyAt(servers, "/api/index", `{"indexDefs":{"indexDefs":{"hotels":`+index+`}}}`)
	bodyAt(servers, "/api/index/hotels", `{"indexDef":`+index+`}`)
	bodyAt(servers, "/api/bucket/default/scope/_default/index/hotels/count", `{"count":3}`)
	manager := cluster.SearchIndexes()
	all, err := manager.GetAllIndexes(&couchbase.GetAllSearchIndexOptions{Timeout: time.Minute})
	ok(err)
	one, err := manager.GetIndex("hotels", &couchbase.GetSearchIndexOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(len(all), one.Name, one.SourceName)

	ofScope := cluster.Bucket("default").DefaultScope().SearchIndexes()
	count, err := ofScope.GetIndexedDocumentsCount("hotels", &couchbase.GetIndexedDocumentsCountOptions{Timeout: time.Minute})
	ok(err)
	fmt.Println(count)
	// Output:
	// 1 hotels default
	// 3
}
