package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// FuzzQueryBody checks that every body of a query has an answer that is one JSON object, and that a body in JSON and as a form
// is the same statement.
func FuzzQueryBody(f *testing.F) {
	for _, body := range []string{
		`{"statement":"SELECT 1=1"}`, `{"statement":"PREPARE a FROM SELECT $x","auto_execute":true,"$x":1}`, `{"prepared":"a","encoded_plan":"H4sI"}`,
		`statement=EXECUTE+a&args=[1]`, `{"statement":"SELECT ? AS x, 'a''b'","args":[{}],"timeout":"1ns"}`, `{"statement":"PREPARE"}`, "{", `null`, `%zz`,
		`{"prepared":null}`, `{"statement":"EXECUTE"}`, "{\"statement\":\"prepare `\"}",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, service := range []clustermap.Service{n1ql, cbas} {
			s := New(newFake())
			w := send(s, service, "POST", "/query/service", body)
			reply := jsonObject(t, w.Body.String())
			if reply["status"] == nil || reply["requestID"] == nil || (reply["status"] == "success") != (reply["errors"] == nil) {
				t.Fatalf("reply %v", reply)
			}
		}
	})
}

// FuzzLiteral checks that the rows of a literal are JSON, and that the types of its values are those of the signature.
func FuzzLiteral(f *testing.F) {
	f.Add("SELECT 1=1, $a x, ?", `[1,"x"]`, `{"k":null}`)
	f.Add("SELECT RAW 'it''s'", `5`, `null`)
	f.Fuzz(func(t *testing.T, statement, args, named string) {
		fields, err := objectFields([]byte(`{"args":` + args + `,"$a":` + named + `}`))
		if err != nil {
			return
		}
		a, ok := literal(&Request{Statement: statement, Fields: fields})
		if !ok {
			return
		}
		if e := encode(a); e.err != nil || len(e.rows) != 1 {
			t.Fatalf("%s: %v", statement, e.err)
		}
	})
}

// FuzzPlan checks that a decoded plan is the same when it is encoded again.
func FuzzPlan(f *testing.F) {
	f.Add(encodePlan(&prepared{name: "n", statement: "s", context: "c"}))
	f.Add(pack(`{"name":5}`))
	f.Add("")
	f.Fuzz(func(t *testing.T, plan string) {
		one, problem := decodePlan(plan)
		if problem != nil {
			return
		}
		again, problem := decodePlan(encodePlan(one))
		if problem != nil || again.name != one.name || again.statement != one.statement || again.context != one.context {
			t.Fatalf("%+v became %+v, %v", one, again, problem)
		}
	})
}

// FuzzRequest checks that no request to any service makes the handler panic.
func FuzzRequest(f *testing.F) {
	for _, target := range []string{
		"/pools/default/buckets/default/scopes/s/collections", "/pools/default/buckets", "/api/index/i", "/api/bucket/b/scope/s/index/i/query",
		"/default/_design/d/_view/v?x=%zz", "/query/service?statement=SELECT+1", "/admin/prepareds/a%2Fb", "//a/../b", "/%00", "/settings/rbac/users/x/y",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "CONNECT"} {
			f.Add(method, target, "name=x&maxTTL=1", "", true)
			f.Add(method, target, `{"type":"x","views":{}}`, "application/json", true)
		}
	}
	f.Add("GET", "/pools", "", "", false)
	f.Fuzz(func(t *testing.T, method, target, body, contentType string, login bool) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.Contains(u.Path, "Streaming") || strings.Contains(u.Path, "/bs/") {
			return // a stream ends only with its client
		}
		s := New(newFake())
		for _, service := range []clustermap.Service{mgmt, n1ql, cbas, fts, capi} {
			r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
			r.Method, r.URL, r.RequestURI = method, u, target
			r.Header.Set("Content-Type", contentType)
			if login {
				r.SetBasicAuth("Administrator", "password")
			} else {
				r.Header.Set("Authorization", body)
			}
			if w := sendTo(s, 0, service, r); w.Code < http.StatusOK || w.Code > 599 {
				t.Fatalf("status %d", w.Code)
			}
		}
		for _, rec := range s.Requests(When{}) {
			if !rec.Done || rec.Status == 0 {
				t.Fatalf("no answer is recorded: %+v", rec)
			}
		}
	})
}
