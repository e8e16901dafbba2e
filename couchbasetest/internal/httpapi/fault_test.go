package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

const rowsBody = `{"statement":"rows"}`

// scriptedRows is services whose statement "rows" has three rows.
func scriptedRows() *Services {
	s := New(newFake())
	s.Script(When{Statement: "rows"}, 0, Script{Answer: Answer{Rows: []any{"one", "two", "three"}}})
	return s
}

func TestAFaultCutsTheConnectionWhereItSays(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    Fault
		executed bool
		status   int    // 0: no reply
		has, not string // of what came
	}{
		{"before the execution", Fault{Cut: CutRequest}, false, 0, "", ""},
		{"before the reply", Fault{Cut: CutReply}, true, 0, "", ""},
		{"before the rows", Fault{Cut: CutRows}, true, 200, `"results": [`, "one"},
		{"after two rows", Fault{Cut: CutRows, After: 2}, true, 200, `"two"`, "three"},
		{"after all rows", Fault{Cut: CutRows, After: 3}, true, 200, `"three"`, "metrics"},
		{"before any byte", Fault{Cut: CutBytes}, true, 200, ``, "{"},
		{"after five bytes", Fault{Cut: CutBytes, After: 5}, true, 200, "{\n\"re", "requ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scriptedRows()
				executed := false
				s.Script(When{Statement: "rows"}, 1, Script{Func: func(*Request) Answer {
					executed = true
					return Answer{Rows: []any{"one", "two", "three"}}
				}})
				s.Inject(When{Statement: "rows"}, 1, 0, c.fault)
				client := serve(t, s, n1ql)
				status, text, err := fetch(client, t.Context())
				if err == nil || status != c.status || !strings.Contains(text, c.has) || c.not != "" && strings.Contains(text, c.not) {
					t.Errorf("status %d, body %q, error %v", status, text, err)
				}
				if executed != c.executed {
					t.Errorf("executed: %v", executed)
				}
				if status, text, err = fetch(client, t.Context()); err != nil || status != 200 || !strings.Contains(text, "three") {
					t.Errorf("the next request: status %d, body %q, error %v", status, text, err)
				}
			})
		})
	}
}

// fetch runs the statement and returns what came.
func fetch(client *http.Client, ctx context.Context) (status int, text string, err error) {
	resp, err := client.Do(clientRequest(ctx, "POST", "/query/service", rowsBody))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func TestASilentFaultHoldsTheConnectionUntilTheClientLeaves(t *testing.T) {
	for name, f := range map[string]Fault{
		"request": {Cut: CutRequest, Silent: true}, "reply": {Cut: CutReply, Silent: true}, "rows": {Cut: CutRows, After: 1, Silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := scriptedRows()
				s.Inject(When{}, 0, 0, f)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				began := time.Now()
				_, _, err := fetch(serve(t, s, n1ql), ctx)
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
					t.Errorf("error %v after %s", err, time.Since(began))
				}
				synctest.Wait()
				if all := s.Requests(When{}); len(all) != 1 || !all[0].Left {
					t.Errorf("records %+v", all)
				}
			})
		})
	}
}

func TestAFaultAnswersInPlaceOfTheService(t *testing.T) {
	s := scriptedRows()
	remove := s.Inject(When{Services: []clustermap.Service{mgmt}, Method: "GET", Path: "/pools/*"}, 0, 0, Fault{
		Status: 503, Header: http.Header{"retry-after": {"5"}}, Body: "busy",
	})
	w := send(s, mgmt, "GET", "/pools/default", "")
	expect(t, w, 503, "busy")
	if w.Header().Get("Retry-After") != "5" {
		t.Errorf("headers %v", w.Header())
	}
	expect(t, send(s, mgmt, "POST", "/pools/default", ""), 200)
	expect(t, send(s, mgmt, "GET", "/whoami", ""), 200)
	expect(t, send(s, n1ql, "POST", "/query/service", rowsBody), 200)
	remove()
	expect(t, send(s, mgmt, "GET", "/pools/default", ""), 200)
}

func TestAFaultAddsHeaders(t *testing.T) {
	s := scriptedRows()
	s.Inject(When{}, 1, 0, Fault{Header: http.Header{"X-Test": {"1"}}})
	if w := send(s, n1ql, "POST", "/query/service", rowsBody); w.Header().Get("X-Test") != "1" || w.Code != 200 {
		t.Errorf("status %d, headers %v", w.Code, w.Header())
	}
}

func TestAFaultDelaysAndEndsByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scriptedRows()
		before := 0
		s.Inject(When{}, 0, 10*time.Second, Fault{Delay: 4 * time.Second, Before: func() { before++ }})
		for _, want := range []time.Duration{4, 4, 4, 0} {
			began := time.Now()
			expect(t, send(s, n1ql, "POST", "/query/service", rowsBody), 200)
			if took := time.Since(began); took != want*time.Second {
				t.Errorf("took %s, want %ds", took, want)
			}
		}
		if before != 3 {
			t.Errorf("Before ran %d times", before)
		}
	})
}

func TestExceededLimitsHaveTheTextsThatSDKsLookFor(t *testing.T) {
	for _, c := range []struct {
		service clustermap.Service
		limit   string
		status  int
		text    string
	}{
		{mgmt, LimitConcurrent, 429, "Limit(s) exceeded [num_concurrent_requests]"},
		{n1ql, LimitConcurrent, 429, `"code":1191`},
		{n1ql, LimitPerMinute, 429, `"code":1192`},
		{n1ql, LimitIngress, 429, `"code":1193`},
		{n1ql, LimitEgress, 429, `"code":1194`},
		{fts, LimitPerMinute, 429, "num_queries_per_min"},
		{fts, LimitIndexes, 400, "num_fts_indexes"},
	} {
		s := New(newFake())
		s.Inject(When{}, 0, 0, LimitExceeded(c.service, c.limit))
		w := send(s, c.service, "POST", "/any", "{}")
		expect(t, w, c.status, c.text)
		if c.service != mgmt {
			jsonObject(t, w.Body.String())
		}
	}
}
