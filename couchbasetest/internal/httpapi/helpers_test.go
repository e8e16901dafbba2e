package httpapi

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

const (
	mgmt = clustermap.Management
	n1ql = clustermap.Query
	cbas = clustermap.Analytics
	fts  = clustermap.Search
	capi = clustermap.Views
)

// newRequest makes a request with a right credential. A body that begins with { is JSON, another one a form.
func newRequest(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.SetBasicAuth("Administrator", "password")
	r.Header.Set("Content-Type", formType)
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// send sends a request to the first node and returns the reply.
func send(s *Services, service clustermap.Service, method, target, body string) *httptest.ResponseRecorder {
	return sendTo(s, 0, service, newRequest(method, target, body))
}

func sendTo(s *Services, node NodeID, service clustermap.Service, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Handler(node, service).ServeHTTP(w, r)
	return w
}

// exec sends a JSON object to the query service of a node.
func exec(t *testing.T, s *Services, node NodeID, fields map[string]any) (status int, reply map[string]any) {
	t.Helper()
	return execOn(t, s, node, n1ql, fields)
}

func execOn(t *testing.T, s *Services, node NodeID, service clustermap.Service, fields map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	w := sendTo(s, node, service, newRequest("POST", "/query/service", string(body)))
	return w.Code, jsonObject(t, w.Body.String())
}

// jsonObject reads a JSON object.
func jsonObject(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("the reply is not a JSON object: %v: %s", err, text)
	}
	return o
}

// rowsText returns the rows of a reply as JSON.
func rowsText(t *testing.T, reply map[string]any) string {
	t.Helper()
	b, err := marshal(reply["results"])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// errorCode returns the code of the first error of a reply, 0 if there is none.
func errorCode(reply map[string]any) int {
	all, _ := reply["errors"].([]any)
	if len(all) == 0 {
		return 0
	}
	first, _ := all[0].(map[string]any)
	code, _ := first["code"].(float64)
	return int(code)
}

// serve serves a service of the first node on a network in memory until the test ends, and returns a client of it.
func serve(t *testing.T, s *Services, service clustermap.Service) *http.Client {
	t.Helper()
	network := memnet.New(memnet.Config{})
	listener, err := network.Listen("node0:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s.Handler(0, service)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, n, a string) (net.Conn, error) { return network.DialContext(ctx, n, a) },
	}
	t.Cleanup(func() { <-ended })
	t.Cleanup(func() { _ = server.Close() })
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// clientRequest makes a request for a client of serve.
func clientRequest(ctx context.Context, method, path, body string) *http.Request {
	r := newRequest(method, "http://node0"+path, body).WithContext(ctx)
	r.RequestURI = ""
	return r
}
