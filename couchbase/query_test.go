package couchbase_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/search"
	"github.com/holdfast-db/holdfast/couchbase/vector"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/retry"
)

// on selects the requests to a service.
func on(s couchbasetest.Service) couchbasetest.HTTPWhen {
	return couchbasetest.HTTPWhen{Services: []couchbasetest.Service{s}}
}

// answering makes a service answer so.
func answering(server *couchbasetest.Cluster, s couchbasetest.Service, a couchbasetest.HTTPAnswer) {
	server.HTTP().Script(on(s), 0, couchbasetest.HTTPScript{Answer: a})
}

func TestAQueryReadsItsRows(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{
			Rows: []any{map[string]any{"n": 1}, map[string]any{"n": 2}}, Warnings: []couchbasetest.HTTPProblem{{Code: 7, Message: "w"}},
		})
		for _, adhoc := range []bool{true, false, false} {
			result := must[*couchbase.QueryResult](t)(client.Query("SELECT n", &couchbase.QueryOptions{Adhoc: adhoc, Metrics: true, ClientContextID: "mine"}))
			if _, err := result.MetaData(); err == nil {
				t.Error("the meta-data was there before the rows")
			}
			var got []int
			for result.Next() {
				var row struct{ N int }
				if err := result.Row(&row); err != nil {
					t.Fatal(err)
				}
				got = append(got, row.N)
			}
			meta, err := result.MetaData()
			if err != nil || !slices.Equal(got, []int{1, 2}) || result.Err() != nil || result.Close() != nil {
				t.Fatalf("%v, %v, %v", got, result.Err(), err)
			}
			if meta.Status != couchbase.QueryStatusSuccess || meta.Metrics.ResultCount != 2 || meta.ClientContextID != "mine" || len(meta.Warnings) != 1 {
				t.Errorf("%+v", meta)
			}
			if err := result.Row(new(any)); !errors.Is(err, couchbase.ErrNoResult) {
				t.Errorf("a row after the last one: %v", err)
			}
			if e := result.Internal().Endpoint(); !strings.HasPrefix(e, "http://") {
				t.Errorf("endpoint %q", e)
			}
		}
		requests := server.HTTP().Requests(on(couchbasetest.Query))
		if len(requests) != 3 || !strings.Contains(string(requests[1].Body), `"PREPARE SELECT n"`) || strings.Contains(string(requests[2].Body), "SELECT") {
			t.Errorf("%d requests", len(requests))
		}
	})
}

func TestOneAndRaw(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1, 2}})
		result := must[*couchbase.QueryResult](t)(client.Query("s", nil))
		var one int
		if err := result.One(&one); err != nil || one != 1 {
			t.Errorf("%d, %v", one, err)
		}
		result = must[*couchbase.QueryResult](t)(client.Query("s", nil))
		raw := result.Raw()
		if result.Next() || result.Err() == nil || result.One(&one) == nil || result.Row(&one) == nil || result.Close() == nil {
			t.Error("a result that was given away can be used")
		}
		if b := raw.NextBytes(); string(b) != "1" {
			t.Errorf("%s", b)
		}
		if raw.NextBytes(); raw.NextBytes() != nil || raw.Err() != nil || raw.Close() != nil {
			t.Errorf("%v", raw.Err())
		}
		if b, err := raw.MetaData(); err != nil || !json.Valid(b) {
			t.Errorf("%s, %v", b, err)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{})
		result = must[*couchbase.QueryResult](t)(client.Query("s", nil))
		if err := result.One(&one); !errors.Is(err, couchbase.ErrNoResult) {
			t.Errorf("%v", err)
		}
	})
}

func TestAQueryErrorHasAllThatIsKnown(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{
			{Code: 12009, Message: "DML", Reason: map[string]any{"code": 12033}}, {Code: 3000, Message: "other"},
		}})
		_, err := client.Query("UPDATE x", &couchbase.QueryOptions{Adhoc: true, ClientContextID: "id"})
		var e *couchbase.QueryError
		if !errors.As(err, &e) || !errors.Is(err, couchbase.ErrCasMismatch) {
			t.Fatal(err)
		}
		if e.Statement != "UPDATE x" || e.ClientContextID != "id" || len(e.Errors) != 2 || e.Errors[0].Code != 12009 || e.Endpoint == "" || e.HTTPStatusCode == 0 {
			t.Errorf("%+v", e)
		}
	})
}

func TestTimeoutsOfQueriesMatchTheirCause(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 5000, Message: "queryport.indexNotFound"}}})
		ready(t, client)
		begin := time.Now()
		_, err := client.Query("s", &couchbase.QueryOptions{Adhoc: true, Timeout: time.Second})
		for _, want := range []error{couchbase.ErrTimeout, couchbase.ErrUnambiguousTimeout, couchbase.ErrIndexNotFound, context.DeadlineExceeded} {
			if !errors.Is(err, want) {
				t.Errorf("%v does not match %v", err, want)
			}
		}
		var e *couchbase.QueryError
		if !errors.As(err, &e) || e.RetryAttempts == 0 || len(e.RetryReasons) != 1 || e.RetryReasons[0] != couchbase.QueryIndexNotFoundRetryReason {
			t.Errorf("%+v", e)
		}
		if took := time.Since(begin).Round(20 * time.Millisecond); took != time.Second {
			t.Errorf("after %v", took)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Delay: time.Hour, Rows: []any{1}})
		if _, err = client.Query("s", &couchbase.QueryOptions{Adhoc: true, Timeout: time.Second}); !errors.Is(err, couchbase.ErrAmbiguousTimeout) {
			t.Errorf("a statement that may have run: %v", err)
		}
		if _, err = client.Query("s", &couchbase.QueryOptions{Adhoc: true, Timeout: time.Second, Readonly: true}); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Errorf("a statement that changes nothing: %v", err)
		}
	})
}

func TestAStrategyOfAQueryIsAsked(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 4040, Message: "m"}}})
		ready(t, client)
		s := &recordingStrategy{}
		ctx := retry.WithData(t.Context(), "data")
		_, err := client.Query("s", &couchbase.QueryOptions{Adhoc: true, RetryStrategy: s, Context: ctx})
		if !errors.Is(err, couchbase.ErrPreparedStatementFailure) || errors.Is(err, couchbase.ErrTimeout) {
			t.Error(err)
		}
		want := "query QUERY_PREPARED_STATEMENT_FAILURE data false"
		if got := strings.Join(s.asked, ", "); got != want {
			t.Errorf("got %s", got)
		}
	})
}

type recordingStrategy struct{ asked []string }

func (s *recordingStrategy) RetryAfter(r couchbase.RetryRequest, reason couchbase.RetryReason) couchbase.RetryAction {
	details := r.(couchbase.RetryRequestDetails)
	s.asked = append(s.asked, fmt.Sprintf("%s %s %v %v", details.Operation(), reason.Description(), details.UserData(), r.Idempotent()))
	return &couchbase.NoRetryRetryAction{}
}

func TestAnalyticsQueriesReadTheirRows(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Analytics, couchbasetest.HTTPAnswer{Rows: []any{1, 2}})
		result := must[*couchbase.AnalyticsResult](t)(client.Bucket("default").Scope("s").AnalyticsQuery("SELECT", &couchbase.AnalyticsOptions{Priority: true}))
		var n, sum int
		for result.Next() {
			if err := result.Row(&n); err != nil {
				t.Error(err)
			}
			sum += n
		}
		meta, err := result.MetaData()
		if err != nil || sum != 3 || result.Close() != nil || meta.ClientContextID == "" || meta.Metrics.ResultCount != 2 {
			t.Errorf("%d, %v, %+v", sum, err, meta)
		}
		answering(server, couchbasetest.Analytics, couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 24045, Message: "m"}}})
		_, err = client.AnalyticsQuery("SELECT", nil)
		var e *couchbase.AnalyticsError
		if !errors.Is(err, couchbase.ErrDatasetNotFound) || !errors.As(err, &e) || len(e.Errors) != 1 || e.Errors[0].Message != "m" {
			t.Errorf("%v", err)
		}
	})
}

func TestSearchesReadTheirHits(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		server.HTTP().Script(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Search}, Path: "/api/*"}, 0, couchbasetest.HTTPScript{
			Answer: couchbasetest.HTTPAnswer{Body: []byte(`{"status":{"total":6,"failed":1,"successful":5,"errors":{"p":"e"}},"total_hits":9,"max_score":2.5,"took":1500,
"hits":[{"index":"i","id":"a","score":1.5,"explanation":{"x":1},"locations":{"f":{"t":[{"pos":1,"start":2,"end":3,"array_positions":[4]}]}},"fragments":{"f":["x"]},"fields":{"n":7}},{"id":"b"}],
"facets":{"x":{"field":"f","total":1,"missing":2,"other":3,"terms":[{"term":"t","count":4}],"numeric_ranges":[{"name":"n","min":1,"max":2,"count":5}],"date_ranges":[{"name":"d","start":"s","end":"e","count":6}]}}}`)},
		})
		result := must[*couchbase.SearchResult](t)(client.SearchQuery("idx", search.NewMatchNoneQuery(), nil))
		if !result.Next() {
			t.Fatal(result.Err())
		}
		row := result.Row()
		var fields struct{ N int }
		if err := row.Fields(&fields); err != nil || fields.N != 7 || row.ID != "a" || row.Score != 1.5 || row.Fragments["f"][0] != "x" {
			t.Errorf("%+v, %v", row, err)
		}
		if got := fmt.Sprint(row.Locations); got != "map[f:map[t:[{1 2 3 [4]}]]]" {
			t.Errorf("locations %s", got)
		}
		if !result.Next() || result.Next() || result.Err() != nil {
			t.Fatal(result.Err())
		}
		meta := must[*couchbase.SearchMetaData](t)(result.MetaData())
		if got := fmt.Sprintf("%+v", *meta); got != "{Metrics:{Took:1.5µs TotalRows:9 MaxScore:2.5 TotalPartitionCount:6 SuccessPartitionCount:5 ErrorPartitionCount:1} Errors:map[p:e]}" {
			t.Error(got)
		}
		facets := must[map[string]couchbase.SearchFacetResult](t)(result.Facets())
		if got := fmt.Sprint(facets); got != "map[x:{x f 1 2 3 [{t 4}] [{n 1 2 5}] [{d s e 6}]}]" {
			t.Error(got)
		}
		if result.Close() != nil {
			t.Error(result.Close())
		}
	})
}

func TestViewsReadTheirRows(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		answering(server, couchbasetest.Views, couchbasetest.HTTPAnswer{
			Rows: []any{map[string]any{"id": "a", "key": []int{1}, "value": "v"}}, Fields: map[string]any{"total_rows": 3, "debug_info": "d"},
		})
		result := must[*couchbase.ViewResult](t)(client.Bucket("default").ViewQuery("d", "v", nil))
		if !result.Next() {
			t.Fatal(result.Err())
		}
		row := result.Row()
		var key []int
		var value string
		if row.Key(&key) != nil || row.Value(&value) != nil || row.ID != "a" || key[0] != 1 || value != "v" {
			t.Errorf("%+v", row)
		}
		meta, err := result.MetaData()
		if err == nil {
			t.Errorf("%+v before the end", meta)
		}
		if result.Next() || result.Err() != nil {
			t.Error(result.Err())
		}
		if meta, err = result.MetaData(); err != nil || meta.TotalRows != 3 || meta.Debug != "d" {
			t.Errorf("%+v, %v", meta, err)
		}
		answering(server, couchbasetest.Views, couchbasetest.HTTPAnswer{Status: 404, Body: []byte(`{"error":"not_found","reason":"deleted"}`)})
		_, err = client.Bucket("default").ViewQuery("d", "v", nil)
		var e *couchbase.ViewError
		if !errors.Is(err, couchbase.ErrViewNotFound) || !errors.As(err, &e) || len(e.Errors) != 2 || e.Errors[0].Message != "not_found" {
			t.Errorf("%v", err)
		}
	})
}

// TestWrongServiceOptionsAreRefused: nothing is sent for any of them.
func TestWrongServiceOptionsAreRefused(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		bucket := client.Bucket("default")
		query := func(o couchbase.QueryOptions) error { _, err := client.Query("s", &o); return err }
		analytics := func(o couchbase.AnalyticsOptions) error { _, err := client.AnalyticsQuery("s", &o); return err }
		find := func(o couchbase.SearchOptions) error {
			_, err := client.SearchQuery("i", search.NewMatchNoneQuery(), &o)
			return err
		}
		request := func(index string, r couchbase.SearchRequest) error {
			_, err := client.Search(index, r, nil)
			return err
		}
		view := func(d, v string, o couchbase.ViewOptions) error { _, err := bucket.ViewQuery(d, v, &o); return err }
		withUser := couchbase.QueryOptions{}
		withUser.Internal.User = "u"
		state := couchbase.NewMutationState()
		for want, err := range map[string]error{
			"Timeout is -1ns": query(couchbase.QueryOptions{Timeout: -1}),
			"ScanConsistency and ConsistentWith exclude each other": query(couchbase.QueryOptions{ScanConsistency: 1, ConsistentWith: state}),
			"ScanConsistency is 9":                           query(couchbase.QueryOptions{ScanConsistency: 9}),
			"UseReplica is 9":                                query(couchbase.QueryOptions{UseReplica: 9}),
			"ScanWait is -1ns":                               query(couchbase.QueryOptions{ScanWait: -1}),
			"Internal.User is not supported":                 query(withUser),
			"ScanConsistency is 8":                           analytics(couchbase.AnalyticsOptions{ScanConsistency: 8}),
			"Timeout is -2ns":                                analytics(couchbase.AnalyticsOptions{Timeout: -2}),
			"ScanConsistency is 7":                           find(couchbase.SearchOptions{ScanConsistency: 7}),
			"neither a SearchQuery nor a VectorSearch":       request("i", couchbase.SearchRequest{}),
			"the name of the index is empty":                 request("", couchbase.SearchRequest{SearchQuery: search.NewMatchNoneQuery()}),
			"the vector search has no query":                 request("i", couchbase.SearchRequest{VectorSearch: vector.NewSearch(nil, nil)}),
			"query 0: the vector of a vector query is empty": request("i", couchbase.SearchRequest{VectorSearch: vector.NewSearch([]*vector.Query{vector.NewQuery("f", nil)}, nil)}),
			"the name of the view is empty":                  view("d", "", couchbase.ViewOptions{}),
			"the name of the design document is empty":       view("", "v", couchbase.ViewOptions{}),
			"Namespace is 5":                                 view("d", "v", couchbase.ViewOptions{Namespace: 5}),
			"Order is 5":                                     view("d", "v", couchbase.ViewOptions{Order: 5}),
			"OnError is 5":                                   view("d", "v", couchbase.ViewOptions{OnError: 5}),
		} {
			if !errors.Is(err, couchbase.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
		}
		if err := view("d", "v", couchbase.ViewOptions{Key: func() {}}); !errors.Is(err, couchbase.ErrEncodingFailure) {
			t.Error(err)
		}
		if err := query(couchbase.QueryOptions{PositionalParameters: []any{func() {}}}); !errors.Is(err, couchbase.ErrEncodingFailure) {
			t.Error(err)
		}
		if n := len(server.HTTP().Requests(couchbasetest.HTTPWhen{})); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

func TestAClosedClusterRunsNoQuery(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		client.Close(nil)
		if _, err := client.Query("s", nil); !errors.Is(err, couchbase.ErrShutdown) {
			t.Error(err)
		}
	})
}

// A closed cluster still has its map. No operation on a service may try its nodes.
func TestAClosedClusterThatWasReadyMakesOneAttempt(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		ready(t, client)
		bucket := client.Bucket("default")
		client.Close(nil)
		for name, f := range map[string]func() error{
			"prepare":   func() error { return second(client.Query("s", nil)) },
			"query":     func() error { return second(client.Query("s", &couchbase.QueryOptions{Adhoc: true})) },
			"analytics": func() error { return second(client.AnalyticsQuery("s", nil)) },
			"search":    func() error { return second(client.SearchQuery("i", search.NewMatchNoneQuery(), nil)) },
			"views":     func() error { return second(bucket.ViewQuery("d", "v", nil)) },
		} {
			err := f()
			var history *retry.Error
			if !errors.Is(err, couchbase.ErrShutdown) || errors.As(err, &history) && history.Total > 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// ready waits until the cluster's map is there.
func ready(t *testing.T, client *couchbase.Cluster) {
	t.Helper()
	if _, err := client.Bucket("default").DefaultCollection().Exists("x", nil); err != nil {
		t.Fatal(err)
	}
}

func TestAWrongPasswordIsSaidAtOnceByAQuery(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{Authenticator: couchbase.PasswordAuthenticator{Username: "u", Password: "wrong"}})
		defer client.Close(nil)
		begin := time.Now()
		_, err := client.Query("s", nil)
		if !errors.Is(err, couchbase.ErrAuthenticationFailure) || errors.Is(err, couchbase.ErrTimeout) || time.Since(begin) > 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestABucketThatIsNotThereIsTheCauseOfTheTimeoutOfAView(t *testing.T) {
	withCluster(t, func(t *testing.T, _ *couchbasetest.Cluster, client *couchbase.Cluster) {
		_, err := client.Bucket("other").ViewQuery("d", "v", &couchbase.ViewOptions{Timeout: 3 * time.Second})
		if !errors.Is(err, couchbase.ErrUnambiguousTimeout) || !errors.Is(err, couchbase.ErrBucketNotFound) {
			t.Error(err)
		}
	})
}
