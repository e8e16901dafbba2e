package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// Services is the HTTP services of all nodes of a cluster. Its methods may be called by many goroutines at once.
type Services struct {
	cluster  Cluster
	log      log
	faults   rules[Fault]
	scripts  rules[Script]
	prepared prepareds
	designs  definitions // of design documents, by the bucket's UUID and the name
	links    definitions // of analytics, by dataverse and name
	indexes  definitions // of search indexes, by bucket, scope and name
	active   active
	ids      atomic.Uint64
	muxes    map[clustermap.Service]*http.ServeMux
}

// New returns the services of a cluster.
func New(c Cluster) *Services {
	s := &Services{cluster: c}
	s.muxes = map[clustermap.Service]*http.ServeMux{
		clustermap.Management: managementRoutes(),
		clustermap.Query:      queryRoutes(),
		clustermap.Analytics:  analyticsRoutes(),
		clustermap.Search:     searchRoutes(),
		clustermap.Views:      viewsRoutes(),
	}
	return s
}

// Handler returns the handler of a service of a node. It panics if the service has no HTTP interface.
func (s *Services) Handler(node NodeID, service clustermap.Service) http.Handler {
	mux := s.muxes[service]
	if mux == nil {
		panic(fmt.Sprintf("couchbasetest: the service %q has no HTTP interface", service))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, node, service, mux) })
}

// maxBody is the size of the largest body that is read.
const maxBody = 64 << 20

func (s *Services) serve(w http.ResponseWriter, r *http.Request, node NodeID, service clustermap.Service, mux *http.ServeMux) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "couchbasetest: the body of the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	req := s.read(r, body, node, service)
	x := &exchange{w: w, req: req, s: s, node: node, rec: s.log.add(req)}
	defer x.end()
	x.fault, _ = s.faults.take(req)
	if !x.applyBefore() || !x.login(r) {
		return
	}
	mux.ServeHTTP(x, r)
}

// read makes the Request of an http.Request.
func (s *Services) read(r *http.Request, body []byte, node NodeID, service clustermap.Service) *Request {
	req := &Request{
		Node: node, Service: service, Method: r.Method, Target: r.RequestURI, Path: r.URL.EscapedPath(), Host: r.Host,
		Header: r.Header.Clone(), Body: body, At: time.Now(), ctx: r.Context(),
	}
	if req.Target == "" { // a request that did not come over a connection
		req.Target = r.URL.RequestURI()
	}
	if len(r.TransferEncoding) > 0 { // net/http has taken it out of the headers
		req.Header["Transfer-Encoding"] = r.TransferEncoding
	}
	req.readTarget()
	switch {
	case !isRowService(service):
	case r.Method == http.MethodPost:
		req.Fields, req.malformed = bodyFields(r.Header.Get("Content-Type"), body)
	case r.Method == http.MethodGet:
		req.Fields, req.malformed = formFields([]byte(r.URL.RawQuery))
	}
	if service == clustermap.Query || service == clustermap.Analytics {
		s.readStatement(req)
	}
	return req
}

// route makes a handler of a function.
func route(handle func(*exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		x, ok := w.(*exchange)
		if !ok {
			return // the routes are only reached through serve
		}
		x.r = r
		handle(x)
	}
}

// routes makes the routes of a service from patterns and functions.
func routes(table map[string]func(*exchange)) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, handle := range table {
		mux.HandleFunc(pattern, route(handle))
	}
	return mux
}

// notServed answers a request that no route is for.
func notServed(x *exchange) {
	x.text(http.StatusNotFound, fmt.Sprintf("Not found. couchbasetest does not serve %s %s", x.req.Method, x.req.Path))
}

// newID returns an identifier in the form of a UUID.
func (s *Services) newID() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", 0xcb, s.ids.Add(1))
}

// media returns the media type of a Content-Type.
func media(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
