package httpapi

import (
	"fmt"
	"testing"
)

func TestASearchAnswersFromItsScript(t *testing.T) {
	for _, path := range []string{"/api/index/i/query", "/api/bucket/b/scope/s/index/i/query"} {
		s := New(newFake())
		s.Script(When{Path: path}, 0, Script{Answer: Answer{
			Rows:   []any{map[string]any{"id": "a", "score": 1.5}, map[string]any{"id": "b", "score": 2.5}},
			Fields: map[string]any{"facets": map[string]any{"f": 1}, "request": nil},
		}})
		w := send(s, fts, "POST", path, `{"query":{"match":"x"},"size":2}`)
		reply := jsonObject(t, w.Body.String())
		if w.Code != 200 || fmt.Sprint(reply["status"]) != "map[failed:0 successful:1 total:1]" || reply["total_hits"] != 2.0 || reply["max_score"] != 2.5 ||
			fmt.Sprint(reply["facets"]) != "map[f:1]" || reply["request"] != nil {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if hits, _ := reply["hits"].([]any); len(hits) != 2 {
			t.Errorf("hits %v", reply["hits"])
		}
		if took, _ := reply["took"].(float64); took <= 0 {
			t.Errorf("took %v", reply["took"])
		}
		want := "i"
		if path != "/api/index/i/query" {
			want = "b.s.i"
		}
		if all := s.Requests(When{}); all[0].Index != want || string(all[0].Fields["size"]) != "2" || all[0].Rows != 2 {
			t.Errorf("recorded %+v", all[0])
		}
	}
}

func TestSearchRepeatsTheRequest(t *testing.T) {
	s := New(newFake())
	s.Script(When{}, 0, Script{})
	reply := jsonObject(t, send(s, fts, "POST", "/api/index/i/query", `{"query":{"match":"x"}}`).Body.String())
	if fmt.Sprint(reply["request"]) != "map[query:map[match:x]]" || fmt.Sprint(reply["hits"]) != "[]" {
		t.Errorf("reply %v", reply)
	}
}

func TestSearchErrors(t *testing.T) {
	s := New(newFake())
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{}`), 400, "index not found", `"status":"fail"`)
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{`), 400, "not a JSON object")
	expect(t, send(s, fts, "PUT", "/api/index/i", `{"type":"fulltext-index"}`), 200)
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{}`), 400, "the test must add a script")
	s.Script(When{}, 1, Script{Answer: Answer{Status: 500, Errors: []Problem{{Message: "internal"}}}})
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{}`), 500, `"error":"internal"`)
	s.Script(When{}, 1, Script{Answer: Answer{Errors: []Problem{{Message: "bad query"}}}})
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{}`), 400, `"error":"bad query"`)
	s.Script(When{}, 1, Script{Answer: Answer{Rows: []any{func() {}}}})
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{}`), 500, "couchbasetest")
	s.Script(When{}, 1, Script{Answer: Answer{Body: []byte("[]")}})
	expect(t, send(s, fts, "POST", "/api/index/i/query", `{}`), 200, "[]")
}

func TestSearchIndexesAreKept(t *testing.T) {
	for _, root := range []string{"/api/index", "/api/bucket/b/scope/s/index"} {
		s := New(newFake())
		expect(t, send(s, fts, "GET", root, ""), 200, `"indexDefs":{}`)
		expect(t, send(s, fts, "GET", root+"/i", ""), 400, "index not found")
		expect(t, send(s, fts, "PUT", root+"/i", `{"type":"fulltext-index","sourceName":"b","uuid":"x"}`), 400, "UUID")
		expect(t, send(s, fts, "PUT", root+"/i", `{"type":"fulltext-index","sourceName":"b"}`), 200, `"status":"ok"`)
		expect(t, send(s, fts, "PUT", root+"/i", `{"type":"fulltext-index"}`), 400, "an index with the same name already exists")
		got := jsonObject(t, send(s, fts, "GET", root+"/i", "").Body.String())
		def, _ := got["indexDef"].(map[string]any)
		if def["name"] != "i" || def["sourceName"] != "b" {
			t.Errorf("definition %v", def)
		}
		expect(t, send(s, fts, "PUT", root+"/i", fmt.Sprintf(`{"type":"fulltext-index","sourceName":"c","uuid":%q}`, def["uuid"])), 200)
		expect(t, send(s, fts, "PUT", root+"/i", fmt.Sprintf(`{"type":"fulltext-index","uuid":%q}`, def["uuid"])), 400, "UUID")
		expect(t, send(s, fts, "GET", root, ""), 200, `"i":{`, `"sourceName":"c"`)
		expect(t, send(s, fts, "GET", root+"/i/count", ""), 200, `"count":0`)
		for _, path := range []string{"/ingestControl/pause", "/queryControl/allow", "/planFreezeControl/freeze"} {
			expect(t, send(s, fts, "POST", root+"/i"+path, ""), 200)
			expect(t, send(s, fts, "POST", root+"/none"+path, ""), 400, "index not found")
		}
		expect(t, send(s, fts, "POST", root+"/i/ingestControl/stop", ""), 400, "unknown operation")
		expect(t, send(s, fts, "POST", root+"/i/other/stop", ""), 404, "does not serve")
		expect(t, send(s, fts, "POST", root+"/i/analyzeDoc", "{}"), 400, "the test must add a script")
		expect(t, send(s, fts, "DELETE", root+"/i", ""), 200)
		expect(t, send(s, fts, "DELETE", root+"/i", ""), 400, "index not found")
		expect(t, send(s, fts, "PUT", root+"/i", `[]`), 400, "not a JSON object")
		expect(t, send(s, fts, "PUT", root+"/i", `{}`), 400, "type is required")
		expect(t, send(s, fts, "PUT", root+"/1i", `{"type":"x"}`), 400, "invalid index name")
	}
	s := New(newFake())
	expect(t, send(s, fts, "PUT", "/api/bucket/b/scope/s/index/b.s.i", `{"type":"x"}`), 400, "invalid index name")
	expect(t, send(s, fts, "PUT", "/api/index/b.s.i", `{"type":"x"}`), 200)
	expect(t, send(s, fts, "GET", "/api/bucket/b/scope/s/index/i", ""), 200, `"name":"i"`)
	expect(t, send(s, fts, "GET", "/api/index/b.s.i", ""), 200, `"name":"b.s.i"`)
	expect(t, send(New(newFake()), fts, "GET", "/api/ping", ""), 200)
	expect(t, send(New(newFake()), fts, "GET", "/api/stats/index/i", ""), 400, "index not found")
}
