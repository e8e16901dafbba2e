package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// Request is one request to a service of a node. Its slices and maps must not be changed.
type Request struct {
	Node    NodeID
	Service clustermap.Service
	Method  string
	// Target is the path and the query of the URL, as the client wrote them.
	Target string
	// Path is the path of the URL, with its escapes.
	Path string
	Host string
	// Header has the headers that the client sent, but for Host, with their names in the canonical form.
	Header http.Header
	Body   []byte
	At     time.Time

	// Statement is the statement that a request to the query or the analytics service executes: for a prepared statement, the
	// one that was prepared. It has no spaces and no semicolon at its end.
	Statement string
	// Preparing is whether the query service is asked to prepare the statement and not to execute it.
	Preparing bool
	// Fields has the fields of the body of a request to the query, analytics, search or views service, by name; of a GET, the
	// fields of the URL's query. The values of a form are JSON too; one that is not is here as a string.
	Fields map[string]json.RawMessage
	// Index is the search index or the view of a request: "index", "bucket.scope.index" or "design document/view".
	Index string
	// Bucket is the bucket of a request to the views service, or to the search service if the index is one of a scope.
	Bucket string

	ctx       context.Context //nolint:containedctx // It is the request's own, as in http.Request.
	malformed error           // why the body could not be read
	command   command         // of the query service
}

// Context ends when the client has left.
func (r *Request) Context() context.Context { return r.ctx }

// Field returns a field of the body: its text, or the JSON of a value that is not text. Without the field it is "".
func (r *Request) Field(name string) string {
	var text string
	if json.Unmarshal(r.Fields[name], &text) != nil {
		return string(r.Fields[name])
	}
	return text
}

// flag returns a boolean field of the body, which may be written as text.
func (r *Request) flag(name string, otherwise bool) bool {
	switch r.Field(name) {
	case "true":
		return true
	case "false":
		return false
	}
	return otherwise
}

// trimStatement removes what does not change the meaning of a statement at its ends.
func trimStatement(s string) string {
	return strings.TrimRight(strings.TrimSpace(s), "; \t\r\n")
}
