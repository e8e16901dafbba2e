package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

func viewsRoutes() *http.ServeMux {
	return routes(map[string]func(*exchange){
		"/":                                 notServed,
		"GET /{$}":                          viewsWelcome,
		"GET /{bucket}/{$}":                 viewsWelcome,
		"GET /{bucket}/_design/{design}":    getDesign,
		"PUT /{bucket}/_design/{design}":    putDesign,
		"DELETE /{bucket}/_design/{design}": dropDesign,
		"GET /{bucket}/_design/{design}/_view/{view}":  view,
		"POST /{bucket}/_design/{design}/_view/{view}": view,
	})
}

// viewError is an error of the views service.
type viewError struct {
	Error  string `json:"error"`
	Reason string `json:"reason"`
}

func viewsWelcome(x *exchange) {
	x.json(http.StatusOK, map[string]string{"couchdb": "Welcome", "version": x.s.cluster.Identity().Version})
}

// viewBucket returns the bucket of a request; "bucket+uuid" is a name of it too. It answers if there is no such bucket.
func (x *exchange) viewBucket() (Bucket, bool) {
	name, uuid, _ := strings.Cut(x.r.PathValue("bucket"), "+")
	for _, b := range x.s.cluster.Buckets() {
		if b.Name == name && (uuid == "" || uuid == b.UUID) {
			return b, true
		}
	}
	x.json(http.StatusNotFound, viewError{"not_found", "no_db_file"})
	return Bucket{}, false
}

// view executes a view. The design document is checked only if no script is for the request.
func view(x *exchange) {
	bucket, ok := x.viewBucket()
	if !ok {
		return
	}
	design, name := x.r.PathValue("design"), x.r.PathValue("view")
	if x.req.malformed != nil {
		x.json(http.StatusBadRequest, viewError{"bad_request", "invalid UTF-8 JSON"})
		return
	}
	if a, ok := x.scripted(); ok {
		x.viewResult(a)
		return
	}
	doc := x.s.designs.get(designName(&bucket, design))
	views, _ := doc["views"].(map[string]any)
	switch {
	case doc == nil:
		x.json(http.StatusNotFound, viewError{"not_found", "missing"})
	case views[name] == nil:
		x.json(http.StatusNotFound, viewError{"not_found", "missing_named_view"})
	default:
		// A status that no client retries.
		x.json(http.StatusBadRequest, viewError{
			"couchbasetest", "no script is for this view, and no view is executed without one; the test must add a script for it",
		})
	}
}

func (x *exchange) viewResult(a *encoded) {
	switch {
	case a.err != nil:
		x.json(http.StatusInternalServerError, viewError{"couchbasetest", a.err.Error()})
		return
	case len(a.Errors) > 0:
		x.json(http.StatusInternalServerError, viewError{"couchbasetest", "errors of a view stand in Fields or Body"})
		return
	case x.whole(a) || pause.For(x.req.ctx, a.Delay) != nil:
		return
	}
	r := x.begin(http.StatusOK, "application/json", a)
	r.field("total_rows", len(a.rows))
	if x.req.flag("debug", false) {
		r.field("debug_info", map[string]any{"local": map[string]any{}})
	}
	r.rows("rows", func(d time.Duration) bool { return pause.For(x.req.ctx, d) == nil })
	r.end()
}

// designName is the name of a design document among those of all buckets.
func designName(b *Bucket, design string) string { return b.UUID + "/" + design }

func getDesign(x *exchange) {
	bucket, ok := x.viewBucket()
	if !ok {
		return
	}
	doc := x.s.designs.get(designName(&bucket, x.r.PathValue("design")))
	if doc == nil {
		x.json(http.StatusNotFound, viewError{"not_found", "missing"})
		return
	}
	x.json(http.StatusOK, doc)
}

func putDesign(x *exchange) {
	bucket, ok := x.viewBucket()
	if !ok {
		return
	}
	var doc map[string]any
	if json.Unmarshal(x.req.Body, &doc) != nil || doc == nil {
		x.json(http.StatusBadRequest, viewError{"bad_request", "invalid UTF-8 JSON"})
		return
	}
	name := x.r.PathValue("design")
	if _, ok := doc["views"].(map[string]any); !ok && doc["views"] != nil {
		x.json(http.StatusBadRequest, viewError{"invalid_design_document", "The field `views` is not a json object."})
		return
	}
	_ = x.s.designs.put(designName(&bucket, name), doc, func(map[string]any) error { return nil })
	x.json(http.StatusCreated, map[string]any{"ok": true, "id": "_design/" + name})
}

func dropDesign(x *exchange) {
	bucket, ok := x.viewBucket()
	if !ok {
		return
	}
	name := x.r.PathValue("design")
	if !x.s.designs.remove(designName(&bucket, name)) {
		x.json(http.StatusNotFound, viewError{"not_found", "missing"})
		return
	}
	x.json(http.StatusOK, map[string]any{"ok": true, "id": "_design/" + name})
}

// listDesigns is the management service's list of the design documents of a bucket.
func listDesigns(x *exchange) {
	bucket, ok := x.bucket()
	if !ok {
		return
	}
	rows := []any{}
	for _, name := range x.s.designs.names(designName(&bucket, "")) {
		rows = append(rows, map[string]any{"doc": map[string]any{
			"meta": map[string]string{"id": "_design/" + name, "rev": "1-00000000"},
			"json": x.s.designs.get(designName(&bucket, name)),
		}})
	}
	x.json(http.StatusOK, map[string]any{"rows": rows})
}
