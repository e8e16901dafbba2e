package gocbrequests

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocb/v2/search"
	"github.com/couchbase/gocb/v2/vector"
)

func connect(t *testing.T, r *Recorder) (*gocb.Cluster, *gocb.Bucket) {
	t.Helper()
	c, err := gocb.Connect(r.ConnString(), gocb.ClusterOptions{
		Username: "user", Password: "password",
		SecurityConfig: gocb.SecurityConfig{AllowedSaslMechanisms: []gocb.SaslMechanism{gocb.PlainSaslMechanism}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(nil) })
	b := c.Bucket("b")
	if err := b.WaitUntilReady(5*time.Second, &gocb.WaitUntilReadyOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue}}); err != nil {
		t.Fatal(err)
	}
	return c, b
}

func TestExplore(t *testing.T) {
	r, err := NewRecorder(true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, b := connect(t, r)
	show := func(name string, err error) {
		for _, q := range r.Take() {
			fmt.Printf("== %s (%v)\n%s %s\n%v\n%s\n", name, err, q.Method, q.Path, q.Header, q.Body)
		}
		if err != nil {
			fmt.Println("ERR", name, err)
		}
	}
	s := b.Scope("s")
	_, err = c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true})
	show("adhoc", err)
	_, err = c.Query("SELECT 1", nil)
	show("prepared", err)
	_, err = s.Query("SELECT <1", &gocb.QueryOptions{
		Adhoc: true, ScanConsistency: gocb.QueryScanConsistencyRequestPlus, Profile: gocb.QueryProfileModeTimings, ScanCap: 1, PipelineBatch: 2, PipelineCap: 3, ScanWait: 1500 * time.Millisecond,
		Readonly: true, MaxParallelism: 4, ClientContextID: "id", PositionalParameters: []any{1, "a"}, Metrics: true, Raw: map[string]any{"raw": 1}, FlexIndex: true, PreserveExpiry: true, UseReplica: gocb.QueryUseReplicaLevelOn,
	})
	show("all options", err)
	_, err = c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, NamedParameters: map[string]any{"a": 1, "$b": 2}, UseReplica: gocb.QueryUseReplicaLevelOff, Profile: gocb.QueryProfileModeNone, ScanConsistency: gocb.QueryScanConsistencyNotBounded})
	show("named", err)
	_, err = c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, PositionalParameters: []any{1}, NamedParameters: map[string]any{"a": 1}})
	show("both", err)
	ms := gocb.NewMutationState()
	_, err = c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, ConsistentWith: ms, ScanConsistency: gocb.QueryScanConsistencyRequestPlus})
	show("both consistencies", err)
	_, err = c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, ConsistentWith: ms})
	show("consistent with", err)
	_, err = c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, ScanConsistency: 9})
	show("bad consistency", err)

	_, err = c.AnalyticsQuery("SELECT 1", nil)
	show("analytics", err)
	_, err = s.AnalyticsQuery("SELECT 1", &gocb.AnalyticsOptions{Priority: true, PositionalParameters: []any{1}, Readonly: true, ScanConsistency: gocb.AnalyticsScanConsistencyRequestPlus, Raw: map[string]any{"raw": 1}, ClientContextID: "id"})
	show("analytics options", err)
	_, err = c.AnalyticsQuery("SELECT 1", &gocb.AnalyticsOptions{NamedParameters: map[string]any{"a": 1, "$b": 2}, ScanConsistency: gocb.AnalyticsScanConsistencyNotBounded})
	show("analytics named", err)

	_, err = c.SearchQuery("idx", search.NewMatchQuery("x"), nil)
	show("search", err)
	_, err = c.SearchQuery("i/d x", search.NewMatchQuery("x").Field("f").Fuzziness(1), &gocb.SearchOptions{
		ScanConsistency: gocb.SearchScanConsistencyNotBounded, Limit: 5, Skip: 6, Explain: true, Highlight: &gocb.SearchHighlightOptions{Style: gocb.HTMLHighlightStyle, Fields: []string{"f"}},
		Fields: []string{"a", "b"}, Sort: []search.Sort{search.NewSearchSortID().Descending(true)}, Facets: map[string]search.Facet{"t": search.NewTermFacet("f", 3)},
		Raw: map[string]any{"raw": 1}, DisableScoring: true, Collections: []string{"c1"}, IncludeLocations: true,
	})
	show("search options", err)
	_, err = c.SearchQuery("idx", search.NewMatchAllQuery(), &gocb.SearchOptions{ConsistentWith: ms, Highlight: &gocb.SearchHighlightOptions{}})
	show("search consistent", err)
	_, err = s.Search("idx", gocb.SearchRequest{SearchQuery: search.NewMatchAllQuery()}, nil)
	show("scope search", err)
	_, err = c.Search("idx", gocb.SearchRequest{VectorSearch: vector.NewSearch([]*vector.Query{vector.NewQuery("f", []float32{1, 2})}, nil)}, nil)
	show("vector search", err)
	_, err = c.Search("idx", gocb.SearchRequest{SearchQuery: search.NewMatchAllQuery(), VectorSearch: vector.NewSearch([]*vector.Query{vector.NewQuery("f", []float32{1, 2}).NumCandidates(7).Boost(2)}, &vector.SearchOptions{VectorQueryCombination: vector.VectorQueryCombinationAnd})}, nil)
	show("both search", err)
	_, err = c.Search("idx", gocb.SearchRequest{}, nil)
	show("no search", err)

	_, err = b.ViewQuery("d", "v", nil)
	show("view", err)
	_, err = b.ViewQuery("d d", "v/v", &gocb.ViewOptions{
		ScanConsistency: gocb.ViewScanConsistencyUpdateAfter, Skip: 1, Limit: 2, Order: gocb.ViewOrderingDescending, Reduce: true, Group: true, GroupLevel: 3, Key: "k", Keys: []any{1, "a"},
		StartKey: []any{1}, EndKey: "e", InclusiveEnd: true, StartKeyDocID: "s", EndKeyDocID: "t", OnError: gocb.ViewErrorModeContinue, Debug: true, Raw: map[string]string{"raw": "1"}, Namespace: gocb.DesignDocumentNamespaceDevelopment,
	})
	show("view options", err)
	_, err = b.ViewQuery("d", "v", &gocb.ViewOptions{ScanConsistency: gocb.ViewScanConsistencyRequestPlus, Order: gocb.ViewOrderingAscending, OnError: gocb.ViewErrorModeStop, Namespace: gocb.DesignDocumentNamespaceProduction})
	show("view options 2", err)
	_, err = b.ViewQuery("d", "v", &gocb.ViewOptions{ScanConsistency: gocb.ViewScanConsistencyNotBounded})
	show("view options 3", err)
	_, err = b.ViewQuery("", "", nil)
	show("view empty", err)

	r.Answer(func(q Request) (int, string) {
		switch {
		case q.Path == "/analytics/node/agg/stats/remaining":
			return 200, `{"Default":{"travel":5}}`
		case len(q.Path) > 14 && q.Path[:15] == "/analytics/link":
			return 200, `[{"name":"n","dataverse":"a","type":"s3","accessKeyId":"k","region":"r"},{"name":"n","scope":"a/b","type":"couchbase","activeHostname":"h"}]`
		case q.Path[:4] == "/api":
			return 200, `{"status":"ok","indexDef":{"name":"x","params":{}},"count":3,"indexDefs":{"indexDefs":{"x":{"name":"x"}}},"analyzed":[]}`
		case q.Path[:3] == "/b/":
			return 200, `{"views":{"v":{"map":"m","reduce":"r"}}}`
		case q.Path[:6] == "/pools":
			return 200, `{"rows":[{"doc":{"meta":{"id":"_design/dev_x"},"json":{"views":{"v":{"map":"m"}}}}},{"doc":{"meta":{"id":"_design/y"},"json":{"views":{"v":{"map":"m"}}}}}]}`
		}
		return 200, `{"results":[],"rows":[],"hits":[]}`
	})
	_, err = c.QueryIndexes().GetAllIndexes("b", nil)
	show("query indexes", err)
	_, err = c.QueryIndexes().GetAllIndexes("b", &gocb.GetAllQueryIndexesOptions{ScopeName: "s"})
	show("query indexes scope", err)
	_, err = c.QueryIndexes().GetAllIndexes("b", &gocb.GetAllQueryIndexesOptions{ScopeName: "s", CollectionName: "c"})
	show("query indexes coll", err)
	_, err = s.Collection("c").QueryIndexes().GetAllIndexes(nil)
	show("coll query indexes", err)
	_, err = b.DefaultCollection().QueryIndexes().GetAllIndexes(nil)
	show("default coll query indexes", err)
	_, err = c.AnalyticsIndexes().GetAllDatasets(nil)
	show("datasets", err)
	_, err = c.AnalyticsIndexes().GetAllIndexes(nil)
	show("analytics indexes", err)
	_, err = c.AnalyticsIndexes().GetPendingMutations(nil)
	show("pending", err)
	_, err = c.AnalyticsIndexes().GetLinks(nil)
	show("links", err)
	_, err = c.AnalyticsIndexes().GetLinks(&gocb.GetAnalyticsLinksOptions{Dataverse: "a/b", Name: "n", LinkType: gocb.AnalyticsLinkTypeS3External})
	show("links2", err)
	_, err = c.AnalyticsIndexes().GetLinks(&gocb.GetAnalyticsLinksOptions{Dataverse: "a", Name: "n"})
	show("links3", err)
	_, err = c.SearchIndexes().GetAllIndexes(nil)
	show("search indexes", err)
	_, err = c.SearchIndexes().GetIndex("i/x", nil)
	show("search index", err)
	_, err = c.SearchIndexes().GetIndexedDocumentsCount("i", nil)
	show("search count", err)
	_, err = c.SearchIndexes().AnalyzeDocument("i", map[string]any{"a": 1}, nil)
	show("analyze doc", err)
	_, err = s.SearchIndexes().GetAllIndexes(nil)
	show("scope search indexes", err)
	_, err = s.SearchIndexes().GetIndex("i", nil)
	show("scope search index", err)
	_, err = b.ViewIndexes().GetAllDesignDocuments(gocb.DesignDocumentNamespaceProduction, nil)
	show("ddocs", err)
	_, err = b.ViewIndexes().GetDesignDocument("d", gocb.DesignDocumentNamespaceDevelopment, nil)
	show("ddoc", err)

	_, err = c.Ping(&gocb.PingOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeQuery, gocb.ServiceTypeSearch, gocb.ServiceTypeAnalytics, gocb.ServiceTypeViews, gocb.ServiceTypeManagement}})
	show("ping", err)

	// errors
	type e struct {
		service string
		status  int
		body    string
	}
	var cases []e
	for _, code := range []int{1000, 1065, 1080, 1191, 1192, 1193, 1194, 1195, 1197, 2000, 2120, 3000, 3999, 4000, 4040, 4041, 4050, 4070, 4300, 5000, 5001, 9999, 10000, 12000, 12003, 12004, 12009, 12016, 13014, 13000, 14000, 17014, 20000} {
		cases = append(cases, e{"query", 400, fmt.Sprintf(`{"errors":[{"code":%d,"msg":"m"}],"status":"fatal"}`, code)})
	}
	for _, m := range []string{"Index foo not found", "index not found", "the index x already exists", "queryport.indexNotFound", "Limit for number of indexes that can be created per scope has been reached"} {
		cases = append(cases, e{"query", 500, fmt.Sprintf(`{"errors":[{"code":5000,"msg":%q}],"status":"fatal"}`, m)})
	}
	for _, m := range []string{`{"code":12009,"msg":"CAS mismatch"}`, `{"code":12009,"msg":"x","reason":{"code":12033}}`, `{"code":12009,"msg":"x","reason":{"code":17014}}`, `{"code":12009,"msg":"x","reason":{"code":17012}}`, `{"code":3000,"msg":"x"},{"code":4300,"msg":"y"}`, `{"code":4300,"msg":"y"},{"code":3000,"msg":"x"}`} {
		cases = append(cases, e{"query", 200, fmt.Sprintf(`{"results":[],"errors":[%s],"status":"fatal"}`, m)})
	}
	for _, st := range []int{400, 401, 403, 404, 500, 503} {
		cases = append(cases, e{"query", st, "text"}, e{"analytics", st, "text"}, e{"search", st, "text"}, e{"view", st, `{"error":"not_found","reason":"deleted"}`}, e{"mgmt", st, "text"})
	}
	for _, code := range []int{20000, 20001, 21000, 21002, 22000, 23000, 23003, 23007, 23008, 24000, 24001, 24006, 24025, 24034, 24039, 24040, 24044, 24045, 24047, 24048, 24055, 24999, 25000, 25001, 26000} {
		cases = append(cases, e{"analytics", 200, fmt.Sprintf(`{"errors":[{"code":%d,"msg":"m"}],"status":"fatal"}`, code)})
	}
	cases = append(cases,
		e{"search", 400, `{"error":"index not found","status":"fail"}`}, e{"search", 429, `{"error":"num_queries_per_min","status":"fail"}`}, e{"search", 429, `{"error":"x","status":"fail"}`},
		e{"search", 400, `{"error":"num_fts_indexes","status":"fail"}`}, e{"search", 200, `{"status":{"total":1,"failed":1,"errors":{"a":"b"}},"hits":[]}`}, e{"search", 200, `{"error":"x"}`},
		e{"view", 200, `{"total_rows":1,"rows":[],"errors":[{"from":"a","reason":"b"}]}`}, e{"view", 404, `{"error":"not_found","reason":"missing"}`}, e{"view", 302, ``}, e{"view", 400, `{"error":"query_parse_error","reason":"x"}`},
		e{"view", 500, `{"error":"badarg"}`},
	)
	for _, tc := range cases {
		r.Answer(func(Request) (int, string) { return tc.status, tc.body })
		rs := gocb.NewBestEffortRetryStrategy(nil)
		_ = rs
		var err error
		begin := time.Now()
		to := 100 * time.Millisecond
		switch tc.service {
		case "query":
			res, e := c.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, Timeout: to})
			if err = e; e == nil {
				for res.Next() {
				}
				err = res.Err()
			}
		case "analytics":
			res, e := c.AnalyticsQuery("SELECT 1", &gocb.AnalyticsOptions{Timeout: to})
			if err = e; e == nil {
				for res.Next() {
				}
				err = res.Err()
			}
		case "search":
			res, e := c.SearchQuery("idx", search.NewMatchAllQuery(), &gocb.SearchOptions{Timeout: to})
			if err = e; e == nil {
				for res.Next() {
				}
				err = res.Err()
			}
		case "view":
			res, e := b.ViewQuery("d", "v", &gocb.ViewOptions{Timeout: to})
			if err = e; e == nil {
				for res.Next() {
				}
				err = res.Err()
			}
		case "mgmt":
			_, err = c.Buckets().GetAllBuckets(&gocb.GetAllBucketsOptions{Timeout: to})
		}
		in := err
		for {
			next := errors.Unwrap(in)
			if next == nil {
				break
			}
			in = next
		}
		fmt.Printf("%s %d %.90s => %v | %d requests %v\n", tc.service, tc.status, tc.body, in, len(r.Take()), time.Since(begin).Round(10*time.Millisecond))
		_ = http.StatusOK
		if tc.service == "view" || tc.service == "mgmt" {
			fmt.Printf("    full: %v\n", err)
		}
	}
}
