// Package calls has one call of the client for each operation and option of the HTTP services.
package calls

import (
	"encoding/json"
	"errors"
	"time"

	couchbase "github.com/couchbase/gocb/v2"
	"github.com/couchbase/gocb/v2/search"
	"github.com/couchbase/gocb/v2/vector"
)

// Client is a client of a node that records.
type Client struct{ cluster *couchbase.Cluster }

// Connect returns a client. end ends it.
func Connect(connStr string) (c *Client, end func(), err error) {
	cluster, err := couchbase.Connect(connStr, couchbase.ClusterOptions{
		Username: "user", Password: "password",
		SecurityConfig: couchbase.SecurityConfig{AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}},
	})
	if err != nil {
		return nil, nil, err
	}
	return &Client{cluster}, func() { cluster.Close(nil) }, nil
}

// WarmUp runs a statement that is not prepared.
func (c *Client) WarmUp(timeout time.Duration) error {
	_, err := c.cluster.Query("SELECT <1>", &couchbase.QueryOptions{Adhoc: true, Timeout: timeout})
	return err
}

// Step is one call.
type Step struct {
	Name string
	Run  func(c *Client) error
}

func query(name string, o *couchbase.QueryOptions) Step {
	return Step{"query: " + name, func(c *Client) error { _, err := c.cluster.Query("SELECT <1>", o); return err }}
}

func analytics(name string, o *couchbase.AnalyticsOptions) Step {
	return Step{"analytics: " + name, func(c *Client) error { _, err := c.cluster.AnalyticsQuery("SELECT <1>", o); return err }}
}

func find(name string, o *couchbase.SearchOptions) Step {
	return Step{"search: " + name, func(c *Client) error {
		_, err := c.cluster.SearchQuery("idx", search.NewMatchAllQuery(), o)
		return err
	}}
}

func request(name string, r couchbase.SearchRequest) Step {
	return Step{"search: " + name, func(c *Client) error { _, err := c.cluster.Search("idx", r, nil); return err }}
}

func queryOf(name string, q search.Query) Step {
	return Step{"search query: " + name, func(c *Client) error { _, err := c.cluster.SearchQuery("idx", q, nil); return err }}
}

func view(name string, o *couchbase.ViewOptions) Step {
	return Step{"view: " + name, func(c *Client) error { _, err := c.cluster.Bucket("b").ViewQuery("d", "v", o); return err }}
}

// Steps returns all calls.
func Steps() []Step {
	var all []Step
	for _, steps := range [][]Step{
		querySteps(), analyticsSteps(), searchSteps(), searchQuerySteps(), viewSteps(), queryIndexSteps(), analyticsIndexSteps(), indexSteps(),
	} {
		all = append(all, steps...)
	}
	return all
}

func querySteps() []Step {
	adhoc := func(name string, o couchbase.QueryOptions) Step {
		o.Adhoc = true
		return query(name, &o)
	}
	return []Step{
		query("no options, first run", nil),
		query("no options, second run", nil),
		adhoc("Adhoc", couchbase.QueryOptions{}),
		adhoc("ScanConsistency not bounded", couchbase.QueryOptions{ScanConsistency: couchbase.QueryScanConsistencyNotBounded}),
		adhoc("ScanConsistency request plus", couchbase.QueryOptions{ScanConsistency: couchbase.QueryScanConsistencyRequestPlus}),
		adhoc("Profile off", couchbase.QueryOptions{Profile: couchbase.QueryProfileModeNone}),
		adhoc("Profile phases", couchbase.QueryOptions{Profile: couchbase.QueryProfileModePhases}),
		adhoc("Profile timings", couchbase.QueryOptions{Profile: couchbase.QueryProfileModeTimings}),
		adhoc("ScanCap", couchbase.QueryOptions{ScanCap: 1}),
		adhoc("PipelineBatch", couchbase.QueryOptions{PipelineBatch: 2}),
		adhoc("PipelineCap", couchbase.QueryOptions{PipelineCap: 3}),
		adhoc("ScanWait", couchbase.QueryOptions{ScanWait: 1500 * time.Millisecond}),
		adhoc("Readonly", couchbase.QueryOptions{Readonly: true}),
		adhoc("MaxParallelism", couchbase.QueryOptions{MaxParallelism: 4}),
		adhoc("ClientContextID", couchbase.QueryOptions{ClientContextID: "id"}),
		adhoc("PositionalParameters", couchbase.QueryOptions{PositionalParameters: []any{1, "a", nil, []int{2}}}),
		adhoc("NamedParameters", couchbase.QueryOptions{NamedParameters: map[string]any{"a": 1, "$b": "x"}}),
		adhoc("both kinds of parameters", couchbase.QueryOptions{PositionalParameters: []any{1}, NamedParameters: map[string]any{"a": 1}}),
		adhoc("Metrics", couchbase.QueryOptions{Metrics: true}),
		adhoc("Raw", couchbase.QueryOptions{Raw: map[string]any{"raw": 1}}),
		adhoc("Raw over an option", couchbase.QueryOptions{Raw: map[string]any{"readonly": true, "scan_cap": "9"}, ScanCap: 1}),
		adhoc("FlexIndex", couchbase.QueryOptions{FlexIndex: true}),
		adhoc("PreserveExpiry", couchbase.QueryOptions{PreserveExpiry: true}),
		adhoc("UseReplica off", couchbase.QueryOptions{UseReplica: couchbase.QueryUseReplicaLevelOff}),
		adhoc("UseReplica on", couchbase.QueryOptions{UseReplica: couchbase.QueryUseReplicaLevelOn}),
		adhoc("ConsistentWith nothing", couchbase.QueryOptions{ConsistentWith: couchbase.NewMutationState()}),
		adhoc("ConsistentWith", couchbase.QueryOptions{ConsistentWith: twoWrites()}),
		query("prepared with options", &couchbase.QueryOptions{Readonly: true, PositionalParameters: []any{1}, ClientContextID: "id"}),
		{"query: of a scope", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").Query("SELECT 1", &couchbase.QueryOptions{Adhoc: true})
			return err
		}},
		{"query: of a scope, prepared", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").Query("SELECT 1", nil)
			return err
		}},
	}
}

func analyticsSteps() []Step {
	return []Step{
		analytics("no options", nil),
		analytics("ClientContextID", &couchbase.AnalyticsOptions{ClientContextID: "id"}),
		analytics("Priority", &couchbase.AnalyticsOptions{Priority: true}),
		analytics("PositionalParameters", &couchbase.AnalyticsOptions{PositionalParameters: []any{1, "a"}}),
		analytics("NamedParameters", &couchbase.AnalyticsOptions{NamedParameters: map[string]any{"a": 1, "$b": 2}}),
		analytics("Readonly", &couchbase.AnalyticsOptions{Readonly: true}),
		analytics("ScanConsistency not bounded", &couchbase.AnalyticsOptions{ScanConsistency: couchbase.AnalyticsScanConsistencyNotBounded}),
		analytics("ScanConsistency request plus", &couchbase.AnalyticsOptions{ScanConsistency: couchbase.AnalyticsScanConsistencyRequestPlus}),
		analytics("Raw", &couchbase.AnalyticsOptions{Raw: map[string]any{"raw": 1}}),
		{"analytics: of a scope", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").AnalyticsQuery("SELECT 1", nil)
			return err
		}},
	}
}

func searchSteps() []Step {
	vectors := func(o *vector.SearchOptions, q ...*vector.Query) *vector.Search { return vector.NewSearch(q, o) }
	near := vector.NewQuery("f", []float32{1, 2.5})
	return []Step{
		find("no options", nil),
		find("ScanConsistency not bounded", &couchbase.SearchOptions{ScanConsistency: couchbase.SearchScanConsistencyNotBounded}),
		find("Limit", &couchbase.SearchOptions{Limit: 5}),
		find("Skip", &couchbase.SearchOptions{Skip: 6}),
		find("Explain", &couchbase.SearchOptions{Explain: true}),
		find("Highlight", &couchbase.SearchOptions{Highlight: &couchbase.SearchHighlightOptions{}}),
		find("Highlight with style and fields", &couchbase.SearchOptions{
			Highlight: &couchbase.SearchHighlightOptions{Style: couchbase.HTMLHighlightStyle, Fields: []string{"f"}},
		}),
		find("Fields", &couchbase.SearchOptions{Fields: []string{"a", "b"}}),
		find("Sort", &couchbase.SearchOptions{Sort: []search.Sort{
			search.NewSearchSortID().Descending(true), search.NewSearchSortScore().Descending(false),
			search.NewSearchSortField("f").Type("number").Mode("min").Missing("last").Descending(true),
			search.NewSearchSortGeoDistance("g", 1.5, 2).Unit("miles").Descending(false), search.NewSearchSortID(), "f",
		}}),
		find("Facets", &couchbase.SearchOptions{Facets: map[string]search.Facet{
			"t": search.NewTermFacet("f", 3), "n": search.NewNumericFacet("f", 4).AddRange("r", 1, 2.5).AddRange("s", 3, 4),
			"d": search.NewDateFacet("f", 5).AddRange("r", "2000", "2001"),
		}}),
		find("ConsistentWith nothing", &couchbase.SearchOptions{ConsistentWith: couchbase.NewMutationState()}),
		find("ConsistentWith", &couchbase.SearchOptions{ConsistentWith: twoWrites()}),
		find("Raw", &couchbase.SearchOptions{Raw: map[string]any{"raw": 1}}),
		find("DisableScoring", &couchbase.SearchOptions{DisableScoring: true}),
		find("Collections", &couchbase.SearchOptions{Collections: []string{"c"}}),
		find("IncludeLocations", &couchbase.SearchOptions{IncludeLocations: true}),
		request("a request with a query", couchbase.SearchRequest{SearchQuery: search.NewMatchAllQuery()}),
		request("a request with a vector", couchbase.SearchRequest{VectorSearch: vectors(nil, near)}),
		request("a request with both", couchbase.SearchRequest{
			SearchQuery: search.NewMatchAllQuery(),
			VectorSearch: vectors(
				&vector.SearchOptions{VectorQueryCombination: vector.VectorQueryCombinationAnd},
				vector.NewQuery("f", []float32{1}).NumCandidates(7).Boost(2), vector.NewBase64Query("g", "AAAA").Prefilter(search.NewTermQuery("x")),
			),
		}),
		{"search: a name that needs escapes", func(c *Client) error {
			_, err := c.cluster.SearchQuery("i/d x", search.NewMatchAllQuery(), nil)
			return err
		}},
		{"search: of a scope", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").Search("idx", couchbase.SearchRequest{SearchQuery: search.NewMatchNoneQuery()}, nil)
			return err
		}},
	}
}

func searchQuerySteps() []Step {
	term := search.NewTermQuery("t")
	return []Step{
		queryOf("Match", search.NewMatchQuery("x").Analyzer("a").Boost(1.5).Field("f").Fuzziness(1).Operator(search.MatchOperatorAnd).PrefixLength(2)),
		queryOf("MatchPhrase", search.NewMatchPhraseQuery("x y").Analyzer("a").Boost(1.5).Field("f")),
		queryOf("Term", search.NewTermQuery("x").Boost(1.5).Field("f").Fuzziness(1).PrefixLength(2)),
		queryOf("Phrase", search.NewPhraseQuery("x", "y").Boost(1.5).Field("f")),
		queryOf("Prefix", search.NewPrefixQuery("x").Boost(1.5).Field("f")),
		queryOf("Regexp", search.NewRegexpQuery("x.*").Boost(1.5).Field("f")),
		queryOf("Wildcard", search.NewWildcardQuery("x*").Boost(1.5).Field("f")),
		queryOf("QueryString", search.NewQueryStringQuery("+x").Boost(1.5)),
		queryOf("NumericRange", search.NewNumericRangeQuery().Min(1, true).Max(2.5, false).Boost(1.5).Field("f")),
		queryOf("TermRange", search.NewTermRangeQuery().Min("a", true).Max("b", false).Boost(1.5).Field("f")),
		queryOf("DateRange", search.NewDateRangeQuery().Start("a", true).End("b", false).DateTimeParser("p").Boost(1.5).Field("f")),
		queryOf("Conjunction", search.NewConjunctionQuery(term).And(term, term).Boost(1.5)),
		queryOf("Disjunction", search.NewDisjunctionQuery(term).Or(term).Min(2).Boost(1.5)),
		queryOf("Boolean", search.NewBooleanQuery().Must(term).MustNot(term, term).Should(term).ShouldMin(1).Boost(1.5)),
		queryOf("Boolean with one part", search.NewBooleanQuery().Must(term)),
		queryOf("BooleanField", search.NewBooleanFieldQuery(true).Boost(1.5).Field("f")),
		queryOf("DocID", search.NewDocIDQuery("a").AddDocIds("b", "c").Boost(1.5).Field("f")),
		queryOf("GeoBoundingBox", search.NewGeoBoundingBoxQuery(1, 2, 3, 4.5).Boost(1.5).Field("f")),
		queryOf("GeoDistance", search.NewGeoDistanceQuery(1, 2.5, "10mi").Boost(1.5).Field("f")),
		queryOf("GeoPolygon", search.NewGeoPolygonQuery([]search.Coordinate{{Lon: 1, Lat: 2}, {Lon: 3, Lat: 4}}).Boost(1.5).Field("f")),
		queryOf("MatchAll", search.NewMatchAllQuery()),
		queryOf("MatchNone", search.NewMatchNoneQuery()),
		queryOf("of the application's own", map[string]any{"match": "x"}),
	}
}

func viewSteps() []Step {
	return []Step{
		view("no options", nil),
		view("ScanConsistency not bounded", &couchbase.ViewOptions{ScanConsistency: couchbase.ViewScanConsistencyNotBounded}),
		view("ScanConsistency request plus", &couchbase.ViewOptions{ScanConsistency: couchbase.ViewScanConsistencyRequestPlus}),
		view("ScanConsistency update after", &couchbase.ViewOptions{ScanConsistency: couchbase.ViewScanConsistencyUpdateAfter}),
		view("Skip and Limit", &couchbase.ViewOptions{Skip: 1, Limit: 2}),
		view("Order ascending", &couchbase.ViewOptions{Order: couchbase.ViewOrderingAscending}),
		view("Order descending", &couchbase.ViewOptions{Order: couchbase.ViewOrderingDescending}),
		view("Reduce", &couchbase.ViewOptions{Reduce: true}),
		view("Group without Reduce", &couchbase.ViewOptions{Group: true, GroupLevel: 3}),
		view("Group", &couchbase.ViewOptions{Reduce: true, Group: true, GroupLevel: 3}),
		view("Key", &couchbase.ViewOptions{Key: "k&"}),
		view("Keys", &couchbase.ViewOptions{Keys: []any{1, "a"}}),
		view("StartKey and EndKey", &couchbase.ViewOptions{StartKey: []any{1}, EndKey: map[string]any{"e": 1}, InclusiveEnd: true}),
		view("StartKeyDocID and EndKeyDocID", &couchbase.ViewOptions{StartKeyDocID: "s", EndKeyDocID: "e"}),
		view("OnError continue", &couchbase.ViewOptions{OnError: couchbase.ViewErrorModeContinue}),
		view("OnError stop", &couchbase.ViewOptions{OnError: couchbase.ViewErrorModeStop}),
		view("Debug", &couchbase.ViewOptions{Debug: true}),
		view("Raw", &couchbase.ViewOptions{Raw: map[string]string{"raw": "1"}}),
		view("Namespace development", &couchbase.ViewOptions{Namespace: couchbase.DesignDocumentNamespaceDevelopment}),
		{"view: names that need escapes", func(c *Client) error {
			_, err := c.cluster.Bucket("b").ViewQuery("d d", "v v", nil)
			return err
		}},
		{"view: a name with a slash", func(c *Client) error { _, err := c.cluster.Bucket("b").ViewQuery("d", "v/v", nil); return err }},
	}
}

func queryIndexSteps() []Step {
	return []Step{
		{"query indexes: of a bucket", func(c *Client) error { _, err := c.cluster.QueryIndexes().GetAllIndexes("b", nil); return err }},
		{"query indexes: of a scope", func(c *Client) error {
			_, err := c.cluster.QueryIndexes().GetAllIndexes("b", &couchbase.GetAllQueryIndexesOptions{ScopeName: "s"}) //nolint:staticcheck // deprecated fields are compared too
			return err
		}},
		{"query indexes: of a collection by options", func(c *Client) error {
			_, err := c.cluster.QueryIndexes().GetAllIndexes("b", &couchbase.GetAllQueryIndexesOptions{ScopeName: "s", CollectionName: "c"}) //nolint:staticcheck // deprecated fields are compared too
			return err
		}},
		{"query indexes: of a collection", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").Collection("c").QueryIndexes().GetAllIndexes(nil)
			return err
		}},
		{"query indexes: of the default collection", func(c *Client) error {
			_, err := c.cluster.Bucket("b").DefaultCollection().QueryIndexes().GetAllIndexes(nil)
			return err
		}},
		{"query indexes: watch", func(c *Client) error {
			return c.cluster.QueryIndexes().WatchIndexes("b", nil, time.Minute, nil)
		}},
	}
}

func analyticsIndexSteps() []Step {
	links := func(name string, o *couchbase.GetAnalyticsLinksOptions) Step {
		return Step{"analytics links: " + name, func(c *Client) error { _, err := c.cluster.AnalyticsIndexes().GetLinks(o); return err }}
	}
	return []Step{
		{"analytics indexes: datasets", func(c *Client) error { _, err := c.cluster.AnalyticsIndexes().GetAllDatasets(nil); return err }},
		{"analytics indexes: indexes", func(c *Client) error { _, err := c.cluster.AnalyticsIndexes().GetAllIndexes(nil); return err }},
		{"analytics indexes: pending mutations", func(c *Client) error {
			_, err := c.cluster.AnalyticsIndexes().GetPendingMutations(nil)
			return err
		}},
		links("all", nil),
		links("of a type", &couchbase.GetAnalyticsLinksOptions{LinkType: couchbase.AnalyticsLinkTypeS3External}),
		links("of a dataverse", &couchbase.GetAnalyticsLinksOptions{Dataverse: "a"}),
		links("of a name", &couchbase.GetAnalyticsLinksOptions{Dataverse: "a", Name: "n"}),
		links("of a dataverse with two parts", &couchbase.GetAnalyticsLinksOptions{Dataverse: "a/b"}),
		links("of a name in a dataverse with two parts", &couchbase.GetAnalyticsLinksOptions{
			Dataverse: "a/b", Name: "n", LinkType: couchbase.AnalyticsLinkTypeCouchbaseRemote,
		}),
	}
}

func indexSteps() []Step {
	return []Step{
		{"search indexes: all", func(c *Client) error { _, err := c.cluster.SearchIndexes().GetAllIndexes(nil); return err }},
		{"search indexes: one", func(c *Client) error { _, err := c.cluster.SearchIndexes().GetIndex("i/x y", nil); return err }},
		{"search indexes: count", func(c *Client) error {
			_, err := c.cluster.SearchIndexes().GetIndexedDocumentsCount("i", nil)
			return err
		}},
		{"search indexes: all of a scope", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").SearchIndexes().GetAllIndexes(nil)
			return err
		}},
		{"search indexes: one of a scope", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").SearchIndexes().GetIndex("i", nil)
			return err
		}},
		{"search indexes: count of a scope", func(c *Client) error {
			_, err := c.cluster.Bucket("b").Scope("s").SearchIndexes().GetIndexedDocumentsCount("i", nil)
			return err
		}},
		{"design documents: all", func(c *Client) error {
			_, err := c.cluster.Bucket("b").ViewIndexes().GetAllDesignDocuments(couchbase.DesignDocumentNamespaceProduction, nil)
			return err
		}},
		{"design documents: one", func(c *Client) error {
			_, err := c.cluster.Bucket("b").ViewIndexes().GetDesignDocument("d", couchbase.DesignDocumentNamespaceProduction, nil)
			return err
		}},
		{"design documents: one in development", func(c *Client) error {
			_, err := c.cluster.Bucket("b").ViewIndexes().GetDesignDocument("d", couchbase.DesignDocumentNamespaceDevelopment, nil)
			return err
		}},
	}
}

// twoWrites returns a state with two writes of one bucket.
func twoWrites() *couchbase.MutationState {
	state := couchbase.NewMutationState()
	if err := json.Unmarshal([]byte(`{"b":{"1":[5,"1234"],"2":[7,"99"]}}`), state); err != nil {
		panic(err)
	}
	return state
}

// Failing runs a call of a service whose answer is an error, and returns the names of the errors that it matches.
func (c *Client) Failing(service string) []string {
	err := c.fail(service)
	if err == nil {
		return []string{"none"}
	}
	var names []string
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			names = append(names, s.name)
		}
	}
	return names
}

func (c *Client) fail(service string) error {
	const limit = 100 * time.Millisecond
	var result interface {
		Next() bool
		Err() error
	}
	var err error
	switch service {
	case "query":
		result, err = c.cluster.Query("s", &couchbase.QueryOptions{Adhoc: true, Timeout: limit})
	case "analytics":
		result, err = c.cluster.AnalyticsQuery("s", &couchbase.AnalyticsOptions{Timeout: limit})
	case "search":
		result, err = c.cluster.SearchQuery("i", search.NewMatchAllQuery(), &couchbase.SearchOptions{Timeout: limit})
	case "views":
		result, err = c.cluster.Bucket("b").ViewQuery("d", "v", &couchbase.ViewOptions{Timeout: limit})
	case "search index":
		_, err = c.cluster.SearchIndexes().GetIndex("i", &couchbase.GetSearchIndexOptions{Timeout: limit})
		return err
	case "design document":
		_, err = c.cluster.Bucket("b").ViewIndexes().GetDesignDocument("d", 0, &couchbase.GetDesignDocumentOptions{Timeout: limit})
		return err
	}
	if err != nil {
		return err
	}
	for result.Next() {
	}
	return result.Err()
}

// sentinels are the errors that a service's answer can mean.
var sentinels = []struct {
	name string
	err  error
}{
	{"timeout", couchbase.ErrTimeout},
	{"ambiguous timeout", couchbase.ErrAmbiguousTimeout},
	{"unambiguous timeout", couchbase.ErrUnambiguousTimeout},
	{"request canceled", couchbase.ErrRequestCanceled},
	{"service not available", couchbase.ErrServiceNotAvailable},
	{"internal server failure", couchbase.ErrInternalServerFailure},
	{"authentication failure", couchbase.ErrAuthenticationFailure},
	{"temporary failure", couchbase.ErrTemporaryFailure},
	{"parsing failure", couchbase.ErrParsingFailure},
	{"cas mismatch", couchbase.ErrCasMismatch},
	{"feature not available", couchbase.ErrFeatureNotAvailable},
	{"index not found", couchbase.ErrIndexNotFound},
	{"index exists", couchbase.ErrIndexExists},
	{"rate limited", couchbase.ErrRateLimitedFailure},
	{"quota limited", couchbase.ErrQuotaLimitedFailure},
	{"document not found", couchbase.ErrDocumentNotFound},
	{"document exists", couchbase.ErrDocumentExists},
	{"planning failure", couchbase.ErrPlanningFailure},
	{"index failure", couchbase.ErrIndexFailure},
	{"prepared statement failure", couchbase.ErrPreparedStatementFailure},
	{"compilation failure", couchbase.ErrCompilationFailure},
	{"job queue full", couchbase.ErrJobQueueFull},
	{"dataset not found", couchbase.ErrDatasetNotFound},
	{"dataverse not found", couchbase.ErrDataverseNotFound},
	{"link not found", couchbase.ErrLinkNotFound},
	{"view not found", couchbase.ErrViewNotFound},
	{"design document not found", couchbase.ErrDesignDocumentNotFound},
}
