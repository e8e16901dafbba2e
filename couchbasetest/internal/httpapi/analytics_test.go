package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnalyticsAnswersFromScripts(t *testing.T) {
	for _, path := range []string{"/query/service", "/analytics/service"} {
		s := New(newFake())
		s.Script(When{Statement: "SELECT 1 FROM d"}, 0, Script{Answer: Answer{Rows: []any{1, 2}}})
		r := newRequest("POST", path, `{"statement":"SELECT 1 FROM d;","client_context_id":"x"}`)
		r.Header.Set("Analytics-Priority", "-1")
		w := sendTo(s, 0, cbas, r)
		reply := jsonObject(t, w.Body.String())
		m, _ := reply["metrics"].(map[string]any)
		if w.Code != 200 || rowsText(t, reply) != "[1,2]" || reply["clientContextID"] != "x" || m["processedObjects"] != 2.0 || m["serviceLoad"] != nil {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if all := s.Requests(When{}); all[0].Header.Get("Analytics-Priority") != "-1" {
			t.Error("the priority is not recorded")
		}
	}
}

func TestAnalyticsErrors(t *testing.T) {
	for _, c := range []struct {
		problem Problem
		status  int
		word    string
	}{
		{Problem{Code: 20000, Message: "m"}, 401, "fatal"},
		{Problem{Code: 21002, Message: "m"}, 200, "timeout"},
		{Problem{Code: 23000, Message: "m", Retry: true}, 503, "fatal"},
		{Problem{Code: 24045, Message: "m"}, 400, "fatal"},
		{Problem{Code: 25000, Message: "m"}, 500, "fatal"},
	} {
		s := New(newFake())
		s.Script(When{}, 0, Script{Answer: Answer{Errors: []Problem{c.problem}}})
		status, reply := execOn(t, s, 0, cbas, map[string]any{"statement": "x"})
		text := fmt.Sprint(reply["errors"])
		if status != c.status || reply["status"] != c.word || errorCode(reply) != c.problem.Code || strings.Contains(text, "retriable:true") != c.problem.Retry {
			t.Errorf("%d: status %d, reply %v", c.problem.Code, status, reply)
		}
	}
	for body, text := range map[string]string{
		"{": "not a JSON object", "{}": "no statement", `{"statement":"x"}`: "the test must add a script", `{"statement":"DROP x","readonly":true}`: "read-only",
	} {
		w := send(New(newFake()), cbas, "POST", "/query/service", body)
		expect(t, w, 400, `"code":24000`, text)
	}
	// Analytics prepares nothing: the statement is its own.
	if _, reply := execOn(t, New(newFake()), 0, cbas, map[string]any{"statement": "PREPARE SELECT 1"}); errorCode(reply) != 24000 {
		t.Errorf("reply %v", reply)
	}
	if _, reply := execOn(t, New(newFake()), 0, cbas, map[string]any{"statement": "SELECT 1=1"}); rowsText(t, reply) != `[{"$1":true}]` {
		t.Errorf("reply %v", reply)
	}
}

func TestAnalyticsEndsAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newFake())
		s.Script(When{}, 0, Script{Answer: Answer{Delay: time.Hour}})
		began := time.Now()
		status, reply := execOn(t, s, 0, cbas, map[string]any{"statement": "x", "timeout": "2s"})
		if status != 200 || errorCode(reply) != 21002 || reply["status"] != "timeout" || time.Since(began) != 2*time.Second {
			t.Errorf("status %d, reply %v after %s", status, reply, time.Since(began))
		}
	})
}

func TestAnalyticsManagementAnswersFromScriptsOrHasNothing(t *testing.T) {
	s := New(newFake())
	for path, nothing := range map[string]string{
		"/analytics/node/agg/stats/remaining": "{}", "/analytics/link": "[]", "/analytics/link/Default/l": "[]", "/analytics/status/ingestion": `"links":[]`,
	} {
		expect(t, send(s, cbas, "GET", path, ""), 200, nothing)
	}
	s.Script(When{Path: "/analytics/link*"}, 0, Script{Answer: Answer{Status: 404, Body: []byte("24055: no such link")}})
	expect(t, send(s, cbas, "POST", "/analytics/link/Default/l", "a=b"), 404, "24055")
	expect(t, send(s, cbas, "GET", "/analytics/link", ""), 404, "24055")
	s.Script(When{}, 1, Script{Answer: Answer{Rows: []any{1}}})
	expect(t, send(s, cbas, "GET", "/analytics/status/ingestion", ""), 500, "needs a Body")
	expect(t, send(s, cbas, "GET", "/admin/ping", ""), 200, "{}")
}

func TestAnalyticsLinksAreKept(t *testing.T) {
	const form = "type=s3&accessKeyId=k&secretAccessKey=secret&region=r"
	for _, c := range []struct{ name, path, body, list, field string }{
		{"by fields", "/analytics/link", "dataverse=d&name=l&" + form, "/analytics/link?dataverse=d&name=l&type=s3", `"dataverse":"d"`},
		{"by the path", "/analytics/link/b%2Fs/l", form, "/analytics/link/b%2Fs/l?type=s3", `"scope":"b/s"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(newFake())
			expect(t, send(s, cbas, "PUT", c.path, c.body), 404, "does not exist")
			expect(t, send(s, cbas, "POST", c.path, c.body), 200)
			expect(t, send(s, cbas, "POST", c.path, c.body), 409, "24055")
			w := send(s, cbas, "GET", c.list, "")
			expect(t, w, 200, c.field, `"name":"l"`, `"accessKeyId":"k"`, `"region":"r"`, `"type":"s3"`)
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("a secret is told: %s", w.Body)
			}
			for _, other := range []string{"/analytics/link/other", "/analytics/link?dataverse=other", "/analytics/link?type=couchbase"} {
				expect(t, send(s, cbas, "GET", other, ""), 200, "[]")
			}
			expect(t, send(s, cbas, "PUT", c.path, strings.Replace(c.body, "region=r", "region=new", 1)), 200)
			expect(t, send(s, cbas, "GET", "/analytics/link", ""), 200, `"region":"new"`)
			expect(t, send(s, cbas, "DELETE", c.path, c.body), 200)
			expect(t, send(s, cbas, "DELETE", c.path, c.body), 404, "24006")
			expect(t, send(s, cbas, "GET", "/analytics/link", ""), 200, "[]")
			expect(t, send(s, cbas, "POST", c.path, "region=r"), 400, "needs a dataverse, a name and a type")
		})
	}
	remote := New(newFake())
	expect(t, send(remote, cbas, "POST", "/analytics/link", "dataverse=d&name=l&type=couchbase&hostname=h&password=p"), 200)
	expect(t, send(remote, cbas, "GET", "/analytics/link", ""), 200, `"activeHostname":"h"`)
}
