package httpapi

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

func TestManagementAnswersWhatSDKsAsk(t *testing.T) {
	for _, c := range []struct {
		name, method, target, body string
		status                     int
		has                        []string // parts of the body
	}{
		{"pools name the pool", "GET", "/pools", "", 200, []string{`"name":"default"`, `"uri":"/pools/default?uuid=c1"`, `"isAdminCreds":true`}},
		{"the pool has the nodes", "GET", "/pools/default", "", 200, []string{`"hostname":"node0:8091"`, `"services":["kv","n1ql","fts"]`, `"clusterName":"test"`}},
		{"a failed node is not active", "GET", "/pools/nodes", "", 200, []string{`"clusterMembership":"inactiveFailed"`, `"clusterCompatibility":458758`}},
		{"a node describes itself", "GET", "/nodes/self", "", 200, []string{`"thisNode":true`}},
		{"a user is told the own name", "GET", "/whoami", "", 200, []string{`"id":"Administrator"`, `"role":"admin"`}},
		{"users are listed", "GET", "/settings/rbac/users", "", 200, []string{`"id":"reader"`, `"bucket_name":"default"`, `"scope_name":"s"`}},
		{"a user is described", "GET", "/settings/rbac/users/local/reader", "", 200, []string{`"domain":"local"`}},
		{"an unknown user is not found", "GET", "/settings/rbac/users/local/nobody", "", 404, []string{"Unknown user."}},
		{"roles are listed", "GET", "/settings/rbac/roles", "", 200, []string{`"role":"data_reader"`}},
		{"there are no groups", "GET", "/settings/rbac/groups", "", 200, []string{`[]`}},
		{"an unknown group is not found", "GET", "/settings/rbac/groups/g", "", 404, []string{"Unknown group."}},
		{"users cannot be changed", "PUT", "/settings/rbac/users/local/new", "roles=admin", 400, []string{"cannot change users"}},
		{"the map of a bucket", "GET", "/pools/default/b/default", "", 200, []string{`"rev":2`, `"name":"default"`}},
		{"no map of a missing bucket", "GET", "/pools/default/b/none", "", 404, []string{"Requested resource not found."}},
		{"no stream of a missing bucket", "GET", "/pools/default/bs/none", "", 404, []string{"Requested resource not found."}},
		{"the map of the cluster", "GET", "/pools/default/nodeServices", "", 200, []string{`"rev":2`, `"name":""`}},
		{"no stream of a missing bucket's description", "GET", "/pools/default/bucketsStreaming/none", "", 404, []string{"Requested resource not found."}},
		{"browsers are sent on", "GET", "/", "", 301, nil},
		{"an unknown path says who does not serve it", "GET", "/nothing", "", 404, []string{"couchbasetest does not serve GET /nothing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := send(New(newFake()), mgmt, c.method, c.target, c.body)
			expect(t, w, c.status, c.has...)
		})
	}
}

// expect checks the status of a reply, and that its body has the parts.
func expect(t *testing.T, w *httptest.ResponseRecorder, status int, parts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	for _, part := range parts {
		if !strings.Contains(w.Body.String(), part) {
			t.Errorf("the body has no %s: %s", part, w.Body)
		}
	}
}

func TestTheNameOfTheClusterCanBeChanged(t *testing.T) {
	s := New(newFake())
	expect(t, send(s, mgmt, "POST", "/pools/default", "clusterName=other"), 200)
	expect(t, send(s, mgmt, "GET", "/pools/default", ""), 200, `"clusterName":"other"`)
}

func TestAWrongCredentialIsRefusedByEachService(t *testing.T) {
	for _, c := range []struct {
		service      clustermap.Service
		method, path string
		open         string
		body         string
	}{
		{mgmt, "GET", "/pools/default/b/default", "/pools", ""},
		{n1ql, "POST", "/query/service", "/admin/ping", `"code":13014`},
		{cbas, "POST", "/query/service", "/admin/ping", `"code":20000`},
		{fts, "POST", "/api/index/i/query", "/api/ping", `"status":"fail"`},
		{capi, "GET", "/default/_design/d/_view/v", "/", `"error":"unauthorized"`},
	} {
		t.Run(c.service.String(), func(t *testing.T) {
			s := New(newFake())
			for name, change := range map[string]func() (user, password string){
				"wrong password": func() (string, string) { return "Administrator", "wrong" },
				"unknown user":   func() (string, string) { return "nobody", "password" },
			} {
				r := newRequest(c.method, c.path, "")
				r.SetBasicAuth(change())
				w := sendTo(s, 0, c.service, r)
				expect(t, w, 401)
				if got := strings.ReplaceAll(w.Body.String(), ": ", ":"); !strings.Contains(got, c.body) {
					t.Errorf("%s: body %s", name, got)
				}
				if w.Header().Get("WWW-Authenticate") == "" {
					t.Errorf("%s: no WWW-Authenticate", name)
				}
			}
			none := newRequest(c.method, c.path, "")
			none.Header.Del("Authorization")
			expect(t, sendTo(s, 0, c.service, none), 401)
			open := newRequest("GET", c.open, "")
			open.Header.Del("Authorization")
			expect(t, sendTo(s, 0, c.service, open), 200)
			open.SetBasicAuth("Administrator", "wrong")
			expect(t, sendTo(s, 0, c.service, open), 401)
			bearer := newRequest("GET", c.open, "")
			bearer.Header.Set("Authorization", "Bearer token")
			expect(t, sendTo(s, 0, c.service, bearer), 200)
		})
	}
}

func TestWhoamiWithoutACredentialIsAnonymous(t *testing.T) {
	r := newRequest("GET", "/whoami", "")
	r.Header.Del("Authorization")
	expect(t, sendTo(New(newFake()), 0, mgmt, r), 200, `"domain":"anonymous"`)
}

func TestVersionsAreCompatibilityNumbers(t *testing.T) {
	for version, want := range map[string]int{
		"7.6.4-5146-enterprise": 7<<16 + 6, "8.0.0": 8 << 16, "7": 7 << 16, "": 0, "7.10": 7<<16 + 10, "99999999999.1": 1<<14<<16 + 1,
	} {
		if got := compatibility(version); got != want {
			t.Errorf("%q: %d, want %d", version, got, want)
		}
	}
}

func TestACertificateCountsMoreThanOtherCredentials(t *testing.T) {
	certificate := &x509.Certificate{}
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   Credential
		given  bool
	}{
		"basic":          {func(r *http.Request) { r.SetBasicAuth("u", "p") }, Credential{User: "u", Password: "p"}, true},
		"bearer":         {func(r *http.Request) { r.Header.Set("Authorization", "bearer  abc ") }, Credential{Token: "abc"}, true},
		"another scheme": {func(r *http.Request) { r.Header.Set("Authorization", "Digest x") }, Credential{}, true},
		"nothing":        {func(*http.Request) {}, Credential{}, false},
		"certificate": {func(r *http.Request) {
			r.SetBasicAuth("", "")
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
		}, Credential{Certificate: certificate}, true},
		"TLS without a certificate": {func(r *http.Request) { r.TLS = &tls.ConnectionState{} }, Credential{}, false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		c.change(r)
		if got, given := credential(r); got != c.want || given != c.given {
			t.Errorf("%s: %+v, %v", name, got, given)
		}
	}
}
