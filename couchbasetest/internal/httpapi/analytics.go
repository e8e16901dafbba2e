package httpapi

import (
	"net/http"
)

func analyticsRoutes() *http.ServeMux {
	table := map[string]func(*exchange){
		"/":                                    notServed,
		"GET /admin/ping":                      func(x *exchange) { x.json(http.StatusOK, struct{}{}) },
		"POST /query/service":                  analytics,
		"POST /analytics/service":              analytics,
		"GET /analytics/admin/active_requests": listActive,
		"DELETE /analytics/admin/active_requests": stopAnalytics,
		"GET /analytics/node/agg/stats/remaining": scriptedGet(map[string]any{}),
		"GET /analytics/status/ingestion":         scriptedGet(map[string]any{"links": []any{}}),
		"GET /analytics/cluster":                  scriptedGet(map[string]any{"state": "ACTIVE", "nodes": []any{}}),
	}
	for _, path := range []string{"/analytics/link", "/analytics/link/{dataverse}", "/analytics/link/{dataverse}/{name}"} {
		table["GET "+path] = listLinks
		table["POST "+path] = createLink
		table["PUT "+path] = replaceLink
		table["DELETE "+path] = dropLink
	}
	return routes(table)
}

// analytics executes a request of the analytics service.
func analytics(x *exchange) {
	r := x.req
	switch {
	case r.malformed != nil:
		x.problem(Problem{Code: 24000, Message: "Invalid request: " + r.malformed.Error()})
		return
	case r.Statement == "":
		x.problem(Problem{Code: 24000, Message: "Syntax error: no statement provided"})
		return
	case writes(r.Statement) && r.flag("readonly", false):
		x.problem(Problem{Code: 24000, Message: "The request is read-only and cannot accept this statement."})
		return
	}
	x.result(&result{id: x.s.newID(), began: r.At}, x.executed())
}

// scriptedGet answers a GET from a script, or with a fixed value that says that there is nothing.
func scriptedGet(nothing any) func(*exchange) {
	return func(x *exchange) {
		a, ok := x.scripted()
		switch {
		case !ok:
			x.json(http.StatusOK, nothing)
		case !x.whole(a):
			x.text(http.StatusInternalServerError, "couchbasetest: the script of this request needs a Body")
		}
	}
}

func stopAnalytics(x *exchange) {
	id := x.r.URL.Query().Get("client_context_id")
	stopActive(x, func(one *activeRequest) bool { return id != "" && one.ContextID == id })
}
