package httpapi

import (
	"fmt"
	"net/url"
	"testing"
)

func TestAViewAnswersFromItsScript(t *testing.T) {
	s := New(newFake())
	s.Script(When{Func: func(r *Request) bool { return r.Bucket == "default" && r.Index == "dev_d/v" }}, 0, Script{Func: func(r *Request) Answer {
		return Answer{
			Rows:   []any{map[string]any{"id": "a", "key": r.Fields["startkey"], "value": r.Field("stale")}},
			Fields: map[string]any{"total_rows": 7, "errors": []map[string]string{{"from": "node1", "reason": "late"}}},
		}
	}})
	for _, bucket := range []string{"default", "default+b1", "default%2Bb1"} {
		query := url.Values{"startkey": {`["x",1]`}, "stale": {"false"}, "debug": {"true"}}
		w := send(s, capi, "GET", "/"+bucket+"/_design/dev_d/_view/v?"+query.Encode(), "")
		reply := jsonObject(t, w.Body.String())
		if w.Code != 200 || reply["total_rows"] != 7.0 || fmt.Sprint(reply["rows"]) != "[map[id:a key:[x 1] value:false]]" ||
			fmt.Sprint(reply["errors"]) != "[map[from:node1 reason:late]]" || reply["debug_info"] == nil {
			t.Errorf("%s: %d %s", bucket, w.Code, w.Body)
		}
	}
	if w := send(s, capi, "POST", "/default/_design/dev_d/_view/v", `{"keys":["a"]}`); w.Code != 200 {
		t.Errorf("POST: %d %s", w.Code, w.Body)
	}
	if all := s.Requests(When{Method: "POST"}); len(all) != 1 || string(all[0].Fields["keys"]) != `["a"]` {
		t.Errorf("recorded %+v", all)
	}
}

func TestViewErrors(t *testing.T) {
	s := New(newFake())
	const path = "/default/_design/d/_view/v"
	expect(t, send(s, capi, "GET", "/none/_design/d/_view/v", ""), 404, `{"error":"not_found","reason":"no_db_file"}`)
	expect(t, send(s, capi, "GET", path, ""), 404, `{"error":"not_found","reason":"missing"}`)
	expect(t, send(s, capi, "PUT", "/default/_design/d", `{"views":{"w":{"map":"m"}}}`), 201)
	expect(t, send(s, capi, "GET", path, ""), 404, `{"error":"not_found","reason":"missing_named_view"}`)
	expect(t, send(s, capi, "GET", "/default/_design/d/_view/w", ""), 400, "the test must add a script")
	expect(t, send(s, capi, "GET", path+"?a=%zz", ""), 400, "bad_request")
	s.Script(When{}, 1, Script{Answer: Answer{Status: 302, Header: map[string]string{"Location": "http://other/"}, Body: []byte{}}})
	if w := send(s, capi, "GET", path, ""); w.Code != 302 || w.Header().Get("Location") != "http://other/" || w.Body.Len() != 0 {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	s.Script(When{}, 1, Script{Answer: Answer{Errors: []Problem{{Message: "x"}}}})
	expect(t, send(s, capi, "GET", path, ""), 500, "stand in Fields or Body")
	s.Script(When{}, 1, Script{Answer: Answer{Rows: []any{func() {}}}})
	expect(t, send(s, capi, "GET", path, ""), 500, "couchbasetest")
}

func TestDesignDocumentsAreKept(t *testing.T) {
	f := newFake()
	s := New(f)
	const design = "/default/_design/dev_d"
	expect(t, send(s, capi, "GET", design, ""), 404, `"reason":"missing"`)
	expect(t, send(s, capi, "PUT", design, `{"views":{"v":{"map":"function (doc) {}","reduce":"_count"}}}`), 201, `"id":"_design/dev_d"`)
	expect(t, send(s, capi, "GET", design, ""), 200, `{"views":{"v":{"map":"function (doc) {}","reduce":"_count"}}}`)
	expect(t, send(s, mgmt, "GET", bucketsPath+"/default/ddocs", ""), 200, `"id":"_design/dev_d"`, `"json":{"views":{"v":`)
	expect(t, send(s, capi, "PUT", design, `[]`), 400, "bad_request")
	expect(t, send(s, capi, "PUT", design, `{"views":5}`), 400, "invalid_design_document")
	expect(t, send(s, capi, "DELETE", design, ""), 200)
	expect(t, send(s, capi, "DELETE", design, ""), 404, `"reason":"missing"`)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		expect(t, send(s, capi, method, "/none/_design/d", "{}"), 404, "no_db_file")
	}
	// A bucket that is made again has none of the old one's documents.
	expect(t, send(s, capi, "PUT", design, `{}`), 201)
	if err := f.DropBucket("default"); err != nil {
		t.Fatal(err)
	}
	if err := f.CreateBucket(Bucket{Name: "default"}); err != nil {
		t.Fatal(err)
	}
	expect(t, send(s, capi, "GET", design, ""), 404, `"reason":"missing"`)
	expect(t, send(s, capi, "GET", "/", ""), 200, `"couchdb":"Welcome"`)
}
