package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

func searchRoutes() *http.ServeMux {
	table := map[string]func(*exchange){
		"/":                            notServed,
		"GET /api/ping":                func(x *exchange) { x.json(http.StatusOK, struct{}{}) },
		"GET /api/stats/index/{index}": searchStats,
	}
	for _, root := range []string{"/api/index", "/api/bucket/{bucket}/scope/{scope}/index"} {
		table["GET "+root] = listIndexes
		table["GET "+root+"/{index}"] = getIndex
		table["PUT "+root+"/{index}"] = putIndex
		table["DELETE "+root+"/{index}"] = dropIndex
		table["GET "+root+"/{index}/count"] = countIndexed
		table["POST "+root+"/{index}/query"] = search
		table["POST "+root+"/{index}/analyzeDoc"] = analyzeDocument
		table["POST "+root+"/{index}/{control}/{operation}"] = controlIndex
	}
	return routes(table)
}

// searchFailure is an error of the search service.
type searchFailure struct {
	Error   string          `json:"error"`
	Request json.RawMessage `json:"request,omitempty"`
	Status  string          `json:"status"`
}

func (x *exchange) searchError(status int, text string) {
	f := searchFailure{Error: text, Status: "fail"}
	if x.req.malformed == nil && json.Valid(x.req.Body) {
		f.Request = x.req.Body
	}
	x.json(status, f)
}

// search executes a search. The index is checked only if no script is for the request.
func search(x *exchange) {
	name := x.req.Index
	if x.req.malformed != nil {
		x.searchError(http.StatusBadRequest, "rest_index: Query, indexName: "+name+", err: "+x.req.malformed.Error())
		return
	}
	a, ok := x.scripted()
	switch {
	case ok:
		x.searchResult(a)
	case x.s.indexes.get(name) == nil:
		x.searchError(http.StatusBadRequest, "rest_auth: preparePerms, err: index not found")
	default:
		x.searchError(http.StatusBadRequest, "couchbasetest has no script for this search, and it executes none by itself; the test must add a script for it")
	}
}

// searchStatus is the field "status" of a reply.
type searchStatus struct {
	Total      int `json:"total"`
	Failed     int `json:"failed"`
	Successful int `json:"successful"`
}

func (x *exchange) searchResult(a *encoded) {
	if a.err != nil {
		x.searchError(http.StatusInternalServerError, "couchbasetest: "+a.err.Error())
		return
	}
	if len(a.Errors) > 0 {
		status := a.Status
		if status == 0 {
			status = http.StatusBadRequest
		}
		x.searchError(status, a.Errors[0].Message)
		return
	}
	if x.whole(a) || pause.For(x.req.ctx, a.Delay) != nil {
		return
	}
	r := x.begin(http.StatusOK, "application/json", a)
	r.field("status", searchStatus{1, 0, 1})
	r.field("request", json.RawMessage(x.req.Body))
	r.rows("hits", func(d time.Duration) bool { return pause.For(x.req.ctx, d) == nil })
	r.field("total_hits", len(a.rows))
	r.field("max_score", maxScore(a.rows))
	r.field("took", max(time.Since(x.req.At).Nanoseconds(), 1))
	r.field("facets", nil)
	r.end()
}

// maxScore returns the highest score of hits.
func maxScore(hits []json.RawMessage) (highest float64) {
	for _, hit := range hits {
		var scored struct {
			Score float64 `json:"score"`
		}
		if json.Unmarshal(hit, &scored) == nil {
			highest = max(highest, scored.Score)
		}
	}
	return highest
}

// analyzeDocument answers from a script.
func analyzeDocument(x *exchange) {
	if x.missingIndex() {
		return
	}
	if a, ok := x.scripted(); !ok || !x.whole(a) {
		x.searchError(http.StatusBadRequest, "couchbasetest analyzes no documents; the test must add a script with a Body for this request")
	}
}

// missingIndex answers a request for an index that is not there.
func (x *exchange) missingIndex() bool {
	if x.s.indexes.get(x.req.Index) != nil {
		return false
	}
	x.searchError(http.StatusBadRequest, fmt.Sprintf("rest_index: %s, err: index not found", x.req.Index))
	return true
}
