package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestAScriptAnswersAStatement(t *testing.T) {
	s := New(newFake())
	s.Script(When{Statement: "SELECT * FROM b;"}, 0, Script{Answer: Answer{
		Rows:     []any{map[string]int{"a": 1}, json.RawMessage(`{"a": 2}`)},
		Warnings: []Problem{{Code: 1, Message: "careful"}},
		Fields:   map[string]any{"signature": map[string]string{"a": "number"}, "extra": true},
	}})
	status, reply := exec(t, s, 0, map[string]any{"statement": " SELECT * FROM b ", "client_context_id": "id", "profile": "timings"})
	if status != 200 || reply["status"] != "success" || rowsText(t, reply) != `[{"a":1},{"a":2}]` || reply["clientContextID"] != "id" {
		t.Errorf("status %d, reply %v", status, reply)
	}
	if fmt.Sprint(reply["signature"]) != "map[a:number]" || reply["extra"] != true || reply["profile"] == nil || reply["requestID"] == "" {
		t.Errorf("reply %v", reply)
	}
	if fmt.Sprint(reply["warnings"]) != "[map[code:1 msg:careful]]" {
		t.Errorf("warnings %v", reply["warnings"])
	}
	m, _ := reply["metrics"].(map[string]any)
	if m["resultCount"] != 2.0 || m["resultSize"] != 15.0 || m["warningCount"] != 1.0 {
		t.Errorf("metrics %v", m)
	}
	if _, err := time.ParseDuration(fmt.Sprint(m["elapsedTime"])); err != nil {
		t.Error(err)
	}
	if _, quiet := exec(t, s, 0, map[string]any{"statement": "SELECT * FROM b", "metrics": false}); quiet["metrics"] != nil || quiet["profile"] != nil {
		t.Errorf("metrics although they are switched off: %v", quiet)
	}
}

func TestAFormIsTheSameAsJSON(t *testing.T) {
	s := New(newFake())
	form := url.Values{"statement": {"SELECT $x AS x, ? AS y, 12 z"}, "$x": {`"text"`}, "args": {`[[1,2]]`}, "client_context_id": {"7"}}
	w := send(s, n1ql, "POST", "/query/service", form.Encode())
	reply := jsonObject(t, w.Body.String())
	if rowsText(t, reply) != `[{"x":"text","y":[1,2],"z":12}]` || reply["clientContextID"] != "7" {
		t.Errorf("reply %s", w.Body)
	}
	w = send(s, n1ql, "GET", "/query/service?"+form.Encode(), "")
	if reply = jsonObject(t, w.Body.String()); rowsText(t, reply) != `[{"x":"text","y":[1,2],"z":12}]` {
		t.Errorf("reply to a GET %s", w.Body)
	}
}

func TestAStatementWithoutAScriptIsALoudError(t *testing.T) {
	s := New(newFake())
	status, reply := exec(t, s, 0, map[string]any{"statement": "SELECT * FROM b"})
	if status != 400 || errorCode(reply) != 3000 || !strings.Contains(fmt.Sprint(reply["errors"]), "add a script for it: SELECT * FROM b") {
		t.Errorf("status %d, reply %v", status, reply)
	}
	if reply["status"] != "fatal" || reply["results"] != nil {
		t.Errorf("reply %v", reply)
	}
}

func TestAFunctionAnswersByTheRequest(t *testing.T) {
	s := New(newFake())
	s.Script(When{Func: func(r *Request) bool { return strings.HasPrefix(r.Statement, "SELECT") }}, 0, Script{Func: func(r *Request) Answer {
		return Answer{Rows: []any{r.Field("query_context"), r.Fields["$n"], r.Node}}
	}})
	_, reply := exec(t, s, 1, map[string]any{"statement": "SELECT x", "query_context": "default:`b`.`s`", "$n": 5})
	if rowsText(t, reply) != "[\"default:`b`.`s`\",5,1]" {
		t.Errorf("reply %v", reply)
	}
}

func TestTheNewestScriptAnswersAsOftenAsItMay(t *testing.T) {
	s := New(newFake())
	remove := s.Script(When{}, 0, Script{Answer: Answer{Rows: []any{"old"}}})
	s.Script(When{Nodes: []NodeID{0}}, 2, Script{Answer: Answer{Rows: []any{"new"}}})
	var got []string
	for _, node := range []NodeID{0, 1, 0, 0} {
		_, reply := exec(t, s, node, map[string]any{"statement": "x"})
		got = append(got, rowsText(t, reply))
	}
	if fmt.Sprint(got) != `[["new"] ["old"] ["new"] ["old"]]` {
		t.Errorf("answers %v", got)
	}
	remove()
	if _, reply := exec(t, s, 0, map[string]any{"statement": "x"}); errorCode(reply) != 3000 {
		t.Errorf("a removed script answers: %v", reply)
	}
}

func TestScriptedErrorsHaveTheServicesShape(t *testing.T) {
	for _, c := range []struct {
		problem Problem
		status  int
		word    string
		entry   string
	}{
		{Problem{Code: 3000, Message: "syntax"}, 400, "fatal", `{"code":3000,"msg":"syntax"}`},
		{Problem{Code: 4300, Message: "exists"}, 409, "fatal", `{"code":4300,"msg":"exists"}`},
		{Problem{Code: 5000, Message: "internal", Retry: true}, 500, "fatal", `{"code":5000,"msg":"internal","retry":true}`},
		{Problem{Code: 12009, Message: "DML", Reason: map[string]any{"code": 17012}}, 200, "errors", `{"code":12009,"msg":"DML","reason":{"code":17012}}`},
		{Problem{Code: 1080, Message: "late"}, 408, "timeout", `{"code":1080,"msg":"late"}`},
		{Problem{Code: 13014, Message: "who"}, 401, "errors", `{"code":13014,"msg":"who"}`},
	} {
		t.Run(fmt.Sprint(c.problem.Code), func(t *testing.T) {
			s := New(newFake())
			s.Script(When{}, 0, Script{Answer: Answer{Errors: []Problem{c.problem}}})
			status, reply := exec(t, s, 0, map[string]any{"statement": "x"})
			all, _ := reply["errors"].([]any)
			var entry string
			if len(all) == 1 {
				b, _ := json.Marshal(all[0])
				entry = string(b)
			}
			if status != c.status || reply["status"] != c.word || entry != c.entry || reply["results"] != nil {
				t.Errorf("status %d, reply %v", status, reply)
			}
		})
	}
}

func TestErrorsMayFollowRows(t *testing.T) {
	s := New(newFake())
	s.Script(When{}, 0, Script{Answer: Answer{Rows: []any{1, 2}, Errors: []Problem{{Code: 5000, Message: "later"}}, Mutations: 3}})
	status, reply := exec(t, s, 0, map[string]any{"statement": "x"})
	m, _ := reply["metrics"].(map[string]any)
	if status != 200 || rowsText(t, reply) != "[1,2]" || errorCode(reply) != 5000 || m["mutationCount"] != 3.0 || m["errorCount"] != 1.0 {
		t.Errorf("status %d, reply %v", status, reply)
	}
}

func TestAWholeBodyIsSentAsItIs(t *testing.T) {
	s := New(newFake())
	s.Script(When{}, 1, Script{Answer: Answer{Status: 503, Header: map[string]string{"Retry-After": "3"}, Body: []byte("<html>")}})
	w := send(s, n1ql, "POST", "/query/service", `{"statement":"x"}`)
	if w.Code != 503 || w.Body.String() != "<html>" || w.Header().Get("Retry-After") != "3" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestAnAnswerThatIsNotJSONIsALoudError(t *testing.T) {
	for name, a := range map[string]Answer{
		"row":   {Rows: []any{func() {}}},
		"field": {Fields: map[string]any{"x": func() {}}},
		"raw":   {Rows: []any{json.RawMessage("{")}},
	} {
		s := New(newFake())
		s.Script(When{}, 0, Script{Answer: a})
		if status, reply := exec(t, s, 0, map[string]any{"statement": "x"}); status != 500 || !strings.Contains(fmt.Sprint(reply["errors"]), "couchbasetest: ") {
			t.Errorf("%s: status %d, reply %v", name, status, reply)
		}
	}
}

func TestWrongRequestsOfTheQueryServiceAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, method, body string
		status, code       int
	}{
		{"not JSON", "POST", "{", 400, 1090},
		{"no statement", "POST", "{}", 400, 1050},
		{"empty body", "POST", "", 400, 1050},
		{"another method", "PUT", "{}", 405, 1020},
		{"a write in a readonly request", "POST", `{"statement":"delete from b","readonly":true}`, 403, 1000},
		{"a prepared statement without a name", "POST", `{"prepared":5}`, 500, 4050},
		{"an unknown prepared statement", "POST", `{"prepared":"p"}`, 404, 4040},
		{"an unknown statement to execute", "POST", `{"statement":"EXECUTE p"}`, 404, 4040},
		{"a broken plan", "POST", `{"prepared":"p","encoded_plan":"!"}`, 500, 4070},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := send(New(newFake()), n1ql, c.method, "/query/service", c.body)
			if code := errorCode(jsonObject(t, w.Body.String())); w.Code != c.status || code != c.code {
				t.Errorf("status %d, code %d: %s", w.Code, code, w.Body)
			}
		})
	}
	expect(t, send(New(newFake()), n1ql, "GET", "/query/service?statement=drop+index+i", ""), 403, "read-only")
}

func TestRowsComeWithADelayAndTheTimeoutEndsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newFake())
		s.Script(When{}, 0, Script{Answer: Answer{Delay: time.Second, RowDelay: time.Second, Rows: []any{1, 2, 3}}})
		for _, c := range []struct {
			timeout string
			took    time.Duration
			rows    string
			code    int
			status  string
		}{
			{"10s", 3 * time.Second, "[1,2,3]", 0, "success"},
			{"1.5s", 1500 * time.Millisecond, "[1]", 1080, "timeout"},
			{"500ms", 500 * time.Millisecond, "null", 1080, "timeout"},
			{"", 3 * time.Second, "[1,2,3]", 0, "success"},
		} {
			began := time.Now()
			_, reply := exec(t, s, 0, map[string]any{"statement": "x", "timeout": c.timeout})
			if took := time.Since(began); took != c.took || rowsText(t, reply) != c.rows || errorCode(reply) != c.code || reply["status"] != c.status {
				t.Errorf("timeout %s: took %s, reply %v", c.timeout, took, reply)
			}
		}
	})
}

func TestARunningStatementIsListedAndCanBeStopped(t *testing.T) {
	for _, c := range []struct {
		service  string
		list     string
		stopPath func(id string) string
		code     int
	}{
		{"query", "/admin/active_requests", func(id string) string { return "/admin/active_requests/" + id }, 5000},
		{"analytics", "/analytics/admin/active_requests", func(string) string { return "/analytics/admin/active_requests?client_context_id=mine" }, 5000},
	} {
		synctest.Test(t, func(t *testing.T) {
			service := n1ql
			if c.service == "analytics" {
				service = cbas
			}
			s := New(newFake())
			s.Script(When{}, 0, Script{Answer: Answer{Delay: time.Hour}})
			done := make(chan int)
			go func() {
				_, reply := execOn(t, s, 0, service, map[string]any{"statement": "slow", "client_context_id": "mine"})
				done <- errorCode(reply)
			}()
			synctest.Wait()
			w := send(s, service, "GET", c.list, "")
			var listed []activeRequest
			if err := json.Unmarshal(w.Body.Bytes(), &listed); err != nil || len(listed) != 1 || listed[0].Statement != "slow" {
				t.Fatalf("active: %s", w.Body)
			}
			if other := sendTo(s, 1, service, newRequest("GET", c.list, "")); other.Body.String() != "[]" {
				t.Errorf("active on another node: %s", other.Body)
			}
			began := time.Now()
			expect(t, send(s, service, "DELETE", c.stopPath(listed[0].ID), ""), 200)
			if code := <-done; code != c.code || time.Since(began) != 0 {
				t.Errorf("the statement ended with %d after %s", code, time.Since(began))
			}
			expect(t, send(s, service, "DELETE", c.stopPath(listed[0].ID), ""), 404)
		})
	}
}

func TestLiterals(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT 1=1":                            `[{"$1":true}]`,
		"select 1 = 2;":                         `[{"$1":false}]`,
		"SELECT 1==1.0":                         `[{"$1":true}]`,
		`SELECT "a" = 'a' AS same, null = 1 n`:  `[{"same":true,"n":null}]`,
		`SELECT "hello" AS greeting`:            `[{"greeting":"hello"}]`,
		"SELECT 'it''s \"x\"' AS `quoted name`": `[{"quoted name":"it's \"x\""}]`,
		"SELECT RAW -1.5e3":                     `[-1.5e3]`,
		"SELECT RAW TRUE":                       `[true]`,
		"SELECT $a = $b AS same":                `[{"same":true}]`,
		"SELECT ? AS x, ?":                      `[{"x":1,"$2":{"k":[2]}}]`,
		"\nSELECT\n1\n":                         `[{"$1":1}]`,
	} {
		s := New(newFake())
		if got := orderedRows(t, s, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	for _, statement := range []string{
		"SELECT", "SELECT 1 FROM", "SELECT 1 FROM b", "SELECT *", "SELECT 1 +", "SELECT 1, ", "SELECT RAW 1, 2", "SELECT $missing", "SELECT ?, ?, ?",
		"SELECT 01", "SELECT 'open", `SELECT "\x"`, "SELECT 1 AS", "SELECT 1 AS 2", "SELECT =", "SELECT 1 = ", "SELECT '", "SELECT `", "SELECT -", "SELECT \xff",
	} {
		status, reply := exec(t, New(newFake()), 0, map[string]any{"statement": statement, "args": []any{1}})
		if errorCode(reply) != 3000 && errorCode(reply) != 1050 {
			t.Errorf("%s: status %d, %v", statement, status, reply)
		}
	}
}

// orderedRows returns the rows of a literal in the order of its fields.
func orderedRows(t *testing.T, s *Services, statement string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{
		"statement": statement, "$a": []any{1, "x"}, "$b": []any{1.0, "x"}, "args": []any{1, map[string]any{"k": []int{2}}},
	})
	var reply struct{ Results json.RawMessage }
	if err := json.Unmarshal(send(s, n1ql, "POST", "/query/service", string(body)).Body.Bytes(), &reply); err != nil {
		t.Fatal(err)
	}
	return string(reply.Results)
}

func TestALiteralStatesItsTypes(t *testing.T) {
	_, reply := exec(t, New(newFake()), 0, map[string]any{"statement": `SELECT 1=1, "x" AS s, 1 AS n, null AS o, $a AS a, $m AS m`, "$a": []int{}, "$m": map[string]int{}})
	if got := fmt.Sprint(reply["signature"]); got != "map[$1:boolean a:array m:object n:number o:null s:string]" {
		t.Errorf("signature %s", got)
	}
}

func TestAClientThatLeavesEndsItsStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newFake())
		s.Script(When{}, 0, Script{Answer: Answer{Rows: []any{1, 2}, RowDelay: time.Hour}})
		client := serve(t, s, n1ql)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := fetch(client, ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		if all := s.Requests(When{}); len(all) != 1 || !all[0].Left || !all[0].Done || all[0].Rows != 1 || all[0].Took != time.Second {
			t.Errorf("records %+v", all)
		}
		expect(t, send(s, n1ql, "GET", "/admin/active_requests", ""), 200, "[]")
	})
}

func TestManyRequestsAtOnce(t *testing.T) {
	s := New(newFake())
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := fmt.Sprint("s", i%4)
			remove := s.Script(When{Statement: name}, i%3, Script{Answer: Answer{Rows: []any{i}}})
			exec(t, s, NodeID(i%2), map[string]any{"statement": "PREPARE " + name + " FROM " + name, "auto_execute": i%2 == 0})
			exec(t, s, NodeID(i%2), map[string]any{"prepared": name})
			s.EvictPrepared(name)
			s.Inject(When{Statement: name}, 1, time.Hour, Fault{Status: 200, Body: "{}"})
			exec(t, s, 0, map[string]any{"statement": name})
			send(s, mgmt, "POST", bucketsPath, fmt.Sprintf("name=b%d&ramQuotaMB=100", i))
			send(s, mgmt, "GET", bucketsPath, "")
			send(s, fts, "PUT", "/api/index/"+name, `{"type":"x"}`)
			send(s, fts, "GET", "/api/index", "")
			send(s, fts, "DELETE", "/api/index/"+name, "")
			remove()
		})
	}
	all.Wait()
	for _, rec := range s.Requests(When{}) {
		if !rec.Done || rec.Status == 0 {
			t.Errorf("record %+v", rec)
		}
	}
	if n := len(s.Requests(When{})); n != 16*8 {
		t.Errorf("%d records", n)
	}
}
