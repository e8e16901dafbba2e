package couchbase

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/holdfast-db/holdfast/couchbase/search"
	"github.com/holdfast-db/holdfast/couchbase/vector"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
	"github.com/holdfast-db/holdfast/retry"
)

// SearchScanConsistency is how up to date the index must be that a search uses.
type SearchScanConsistency uint

// SearchScanConsistencyNotBounded means the index as it is.
const SearchScanConsistencyNotBounded SearchScanConsistency = 1

// SearchHighlightStyle is how matches are marked in the fragments of a hit.
type SearchHighlightStyle string

// The styles. The default is the one that the index sets.
const (
	DefaultHighlightStyle SearchHighlightStyle = ""
	HTMLHighlightStyle    SearchHighlightStyle = "html"
	AnsiHightlightStyle   SearchHighlightStyle = "ansi"
)

// SearchHighlightOptions ask for fragments of text with the matches marked.
type SearchHighlightOptions struct {
	Style  SearchHighlightStyle
	Fields []string // empty: all
}

// SearchOptions are the options of a search.
type SearchOptions struct {
	ScanConsistency SearchScanConsistency
	Limit           uint32 // 0: the service's default
	Skip            uint32
	Explain         bool // each hit explains its score
	Highlight       *SearchHighlightOptions
	Fields          []string // of the hits; they must be stored in the index
	Sort            []search.Sort
	Facets          map[string]search.Facet
	ConsistentWith  *MutationState // the index must have these mutations; it excludes ScanConsistency

	// Raw has further parameters of the service's API. They win over the other options.
	Raw map[string]any

	Timeout       time.Duration // until the first hit, with all retries; then of the wait for each further hit; 0: the cluster's
	RetryStrategy RetryStrategy // nil: the cluster's

	DisableScoring bool

	Collections []string // of the index's scope; empty: all

	ParentSpan RequestSpan
	Context    context.Context // its end ends the search; nil: it has no end

	IncludeLocations bool // the hits have their locations

	// Internal: User is not supported.
	Internal struct {
		User string
	}
}

// SearchRequest is a search for a query, for vectors, or for both. A query is any value whose JSON is one.
type SearchRequest struct {
	SearchQuery  search.Query
	VectorSearch *vector.Search
}

// SearchQuery searches an index of the cluster. The query is any value whose JSON is one. The result must be closed, or read to its
// end. See also [Cluster.Search].
func (c *Cluster) SearchQuery(indexName string, query search.Query, opts *SearchOptions) (*SearchResult, error) {
	if query == nil {
		return nil, &SearchError{InnerError: invalid("the query is nil"), IndexName: indexName}
	}
	return c.http.search(keyspace{}, indexName, query, map[string]any{"query": query}, opts)
}

// Search searches an index of the cluster. The result must be closed, or read to its end.
func (c *Cluster) Search(indexName string, request SearchRequest, opts *SearchOptions) (*SearchResult, error) {
	return c.http.searchFor(keyspace{}, indexName, request, opts)
}

// Search searches an index of the scope. The result must be closed, or read to its end.
func (s *Scope) Search(indexName string, request SearchRequest, opts *SearchOptions) (*SearchResult, error) {
	return s.bucket.cluster.http.searchFor(s.keyspace(), indexName, request, opts)
}

func (h *httpServices) searchFor(in keyspace, index string, request SearchRequest, opts *SearchOptions) (*SearchResult, error) {
	body := map[string]any{"showrequest": false, "query": request.SearchQuery}
	if request.SearchQuery == nil {
		body["query"] = search.NewMatchNoneQuery()
	}
	if request.VectorSearch != nil {
		vectors := request.VectorSearch.Internal()
		if err := vectors.Validate(); err != nil {
			return nil, &SearchError{InnerError: invalid("%v", err), IndexName: index}
		}
		body["knn"] = vectors.Queries
		if vectors.VectorQueryCombination != vector.VectorQueryCombinationNotSet {
			body["knn_operator"] = vectors.VectorQueryCombination
		}
	} else if request.SearchQuery == nil {
		return nil, &SearchError{InnerError: invalid("the SearchRequest has neither a SearchQuery nor a VectorSearch"), IndexName: index}
	}
	return h.search(in, index, body["query"], body, opts)
}

// search sends a search. body has the fields that are not options.
func (h *httpServices) search(in keyspace, index string, query any, body map[string]any, opts *SearchOptions) (*SearchResult, error) {
	if opts == nil {
		opts = new(SearchOptions)
	}
	if index == "" {
		return nil, &SearchError{InnerError: invalid("the name of the index is empty"), Query: query}
	}
	control, err := opts.control(index)
	if err != nil {
		return nil, &SearchError{InnerError: err, Query: query, IndexName: index}
	}
	opts.fields(body)
	op, err := h.begin("search", ServiceTypeSearch, in, httpOptions{
		timeout: opts.Timeout, strategy: opts.RetryStrategy, parent: opts.ParentSpan, ctx: opts.Context,
	}, h.timeouts.SearchTimeout)
	if err != nil {
		return nil, &SearchError{InnerError: err, Query: query, IndexName: index}
	}
	op.attributes("db.operation", index, "db.name", in.bucket, "db.couchbase.scope", in.scope)
	fail := func(err error) error { return searchError(err, query, index, h.scheme) }
	rows, err := op.rows(func() (*services.Rows, error) {
		return h.client.Stream(op.ctx, &services.Request{
			Call: op.call, Service: clustermap.Search, Method: http.MethodPost, Path: searchIndexPath(in, index) + "/query",
			Idempotency: retry.ReadOnly,
			Body: func(left time.Duration) ([]byte, error) {
				control["timeout"] = left.Milliseconds()
				body["ctl"] = control
				return json.Marshal(body)
			},
		})
	}, fail)
	if err != nil {
		return nil, err
	}
	return &SearchResult{stream: rowStream{rows: rows, fail: fail}}, nil
}

// searchIndexPath returns the path of an index.
func searchIndexPath(in keyspace, index string) string {
	return searchIndexesPath(in) + "/" + url.PathEscape(index)
}

// searchIndexesPath returns the path of the indexes of a scope, or of the cluster.
func searchIndexesPath(in keyspace) string {
	if in.scope == "" {
		return "/api/index"
	}
	return fmt.Sprintf("/api/bucket/%s/scope/%s/index", url.PathEscape(in.bucket), url.PathEscape(in.scope))
}

// fields adds the options to a request's body.
func (o *SearchOptions) fields(body map[string]any) {
	set := func(name string, wanted bool, value any) {
		if wanted {
			body[name] = value
		}
	}
	set("size", o.Limit > 0, o.Limit)
	set("from", o.Skip > 0, o.Skip)
	set("explain", o.Explain, true)
	set("fields", len(o.Fields) > 0, o.Fields)
	set("sort", len(o.Sort) > 0, o.Sort)
	set("facets", len(o.Facets) > 0, o.Facets)
	set("score", o.DisableScoring, "none")
	set("collections", len(o.Collections) > 0, o.Collections)
	set("includeLocations", o.IncludeLocations, true)
	if o.Highlight != nil {
		highlight := map[string]any{"style": o.Highlight.Style}
		if len(o.Highlight.Fields) > 0 {
			highlight["fields"] = o.Highlight.Fields
		}
		body["highlight"] = highlight
	}
	maps.Copy(body, o.Raw)
}

// control returns the part of a request's body that controls how the service works on it.
func (o *SearchOptions) control(index string) (map[string]any, error) {
	control := make(map[string]any)
	switch {
	case o.Internal.User != "":
		return nil, invalid("Internal.User is not supported")
	case o.ScanConsistency != 0 && o.ConsistentWith != nil:
		return nil, invalid("ScanConsistency and ConsistentWith exclude each other")
	case o.ConsistentWith != nil:
		control["consistency"] = map[string]any{"level": "at_plus", "vectors": o.ConsistentWith.searchVectors(index)}
	case o.ScanConsistency == SearchScanConsistencyNotBounded:
		control["consistency"] = map[string]any{"level": ""} // the service's name for "not bounded"
	case o.ScanConsistency != 0:
		return nil, invalid("ScanConsistency is %d: there is no such consistency", o.ScanConsistency)
	}
	return control, nil
}

// searchVectors returns the mutations in the form of the search service: by the index, then by vbucket and its uuid.
func (mt *MutationState) searchVectors(index string) map[string]map[string]uint64 {
	vectors := make(map[string]map[string]uint64)
	for _, t := range mt.tokens {
		if vectors[index] == nil {
			vectors[index] = make(map[string]uint64)
		}
		key := fmt.Sprintf("%d/%d", t.PartitionID(), t.PartitionUUID())
		vectors[index][key] = max(vectors[index][key], t.SequenceNumber())
	}
	return vectors
}

// searchError returns the error of a search.
func searchError(err error, query any, index, scheme string) error {
	f := failureOf(err)
	return &SearchError{
		InnerError: f, Query: query, Endpoint: endpoint(scheme, f.Address), RetryReasons: f.retryReasons(), RetryAttempts: uint32(f.Retries),
		ErrorText: f.text(), IndexName: index, HTTPStatusCode: f.status(),
	}
}
