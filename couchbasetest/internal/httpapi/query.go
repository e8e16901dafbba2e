package httpapi

import (
	"fmt"
	"net/http"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

func queryRoutes() *http.ServeMux {
	return routes(map[string]func(*exchange){
		"/":                                  notServed,
		"GET /admin/ping":                    func(x *exchange) { x.json(http.StatusOK, struct{}{}) },
		"POST /query/service":                query,
		"GET /query/service":                 query,
		"/query/service":                     queryMethod,
		"GET /admin/active_requests":         listActive,
		"DELETE /admin/active_requests/{id}": stopQuery,
		"GET /admin/prepareds":               listPrepared,
		"DELETE /admin/prepareds/{name}":     evictPrepared,
	})
}

func queryMethod(x *exchange) {
	x.problem(Problem{Code: 1020, Message: "Unsupported http method: " + x.req.Method})
}

// query executes a request of the query service.
func query(x *exchange) {
	r := x.req
	switch {
	case r.malformed != nil:
		x.problem(Problem{Code: 1090, Message: "Invalid JSON: " + r.malformed.Error()})
		return
	case r.command.problem != nil:
		x.problem(*r.command.problem)
		return
	case r.Statement == "":
		x.problem(Problem{Code: 1050, Message: "No statement or prepared value"})
		return
	case writes(r.Statement) && !r.Preparing && (r.Method == http.MethodGet || r.flag("readonly", false)):
		x.problem(Problem{Code: 1000, Message: "The server or request is read-only and cannot accept this write statement."})
		return
	}
	res := &result{id: x.s.newID(), began: r.At}
	if r.Preparing {
		x.result(res, x.preparing())
		return
	}
	a := x.executed()
	if r.command.kind == prepare && len(a.Errors) == 0 {
		res.prepared = x.prepareStatement().name
	}
	x.result(res, a)
}

// preparing prepares a statement that is not executed. A statement that no script is for is not prepared.
func (x *exchange) preparing() *encoded {
	if _, known := literal(x.req); !known && x.s.scripts.find(x.req) == nil {
		return x.unscripted()
	}
	return encode(Answer{Rows: []any{preparedRow(x.prepareStatement(), x.req.Field("statement"))}})
}

// executed returns the answer to a statement: the script's, or that of a statement that needs no data.
func (x *exchange) executed() *encoded {
	if a, ok := x.scripted(); ok {
		return a
	}
	if a, ok := literal(x.req); ok {
		return encode(a)
	}
	return x.unscripted()
}

// unscripted is the answer to a statement that the test has not foreseen.
func (x *exchange) unscripted() *encoded {
	code := 3000
	if x.req.Service == clustermap.Analytics {
		code = 24000
	}
	return encode(Answer{Errors: []Problem{{Code: code, Message: fmt.Sprintf(
		"couchbasetest has no script for this statement, and it executes none by itself; the test must add a script for it: %s", x.req.Statement)}}})
}

func stopQuery(x *exchange) {
	id := x.r.PathValue("id")
	stopActive(x, func(one *activeRequest) bool { return one.ID == id })
}
