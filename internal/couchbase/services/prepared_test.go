package services

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// preparingNode is a query node that prepares statements for real. With enhanced prepared statements, nodes share one map.
type preparingNode struct {
	script
	enhanced bool
	plans    map[string]string // name -> statement
}

func newPreparingNode(enhanced bool, plans map[string]string) *preparingNode {
	n := &preparingNode{enhanced: enhanced, plans: plans}
	n.answers = []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { n.answer(w, n.requests[len(n.requests)-1].body) }}
	return n
}

func (n *preparingNode) answer(w http.ResponseWriter, body string) {
	var r struct {
		Statement   string
		Prepared    string
		EncodedPlan string `json:"encoded_plan"`
		AutoExecute bool   `json:"auto_execute"`
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		panic(err)
	}
	text, preparing := strings.CutPrefix(r.Statement, "PREPARE ")
	name := "p-" + text
	switch {
	case preparing && r.AutoExecute:
		n.plans[name] = text
		fmt.Fprintf(w, `{"prepared":%q,"results":[%q]}`, name, text)
	case preparing:
		n.plans[name] = text
		fmt.Fprintf(w, `{"results":[{"name":%q,"encoded_plan":%q}]}`, name, "plan of "+text)
	case r.Prepared == "":
		fmt.Fprintf(w, `{"results":[%q]}`, r.Statement)
	case n.plans[r.Prepared] != "":
		fmt.Fprintf(w, `{"results":[%q]}`, n.plans[r.Prepared])
	case r.EncodedPlan != "":
		fmt.Fprintf(w, `{"results":[%q]}`, strings.TrimPrefix(r.EncodedPlan, "plan of "))
	default:
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"errors":[{"code":4040,"msg":"No such prepared statement"}],"status":"fatal"}`)
	}
}

func (n *preparingNode) bodies() []string {
	var all []string
	for _, r := range n.requests {
		all = append(all, r.body)
	}
	return all
}

func runQuery(t *testing.T, c *Client, q Query) {
	t.Helper()
	if q.Timeout == 0 {
		q.Timeout = time.Second
	}
	rows, err := c.Query(t.Context(), &q)
	if err != nil {
		t.Fatal(err)
	}
	if got := all(rows); rows.Err() != nil || !slices.Equal(got, []string{fmt.Sprintf("%q", q.Statement)}) {
		t.Errorf("rows %v, %v", got, rows.Err())
	}
}

func TestPreparedStatements(t *testing.T) {
	t.Run("with enhanced prepared statements the first run prepares and executes, later ones give the name", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			cluster.can = true
			node := newPreparingNode(true, map[string]string{})
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			for range 2 {
				runQuery(t, c, Query{Statement: "s", Parameters: map[string]any{"args": []int{1}}})
			}
			want := []string{
				`{"args":[1],"auto_execute":true,"statement":"PREPARE s","timeout":"1s"}`,
				`{"args":[1],"prepared":"p-s","timeout":"1s"}`,
			}
			if got := node.bodies(); !slices.Equal(got, want) {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("without them the plan travels with the name", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			node := newPreparingNode(false, map[string]string{})
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			for range 2 {
				runQuery(t, c, Query{Statement: "s"})
			}
			want := []string{
				`{"statement":"PREPARE s","timeout":"1s"}`, `{"encoded_plan":"plan of s","prepared":"p-s","timeout":"1s"}`,
				`{"encoded_plan":"plan of s","prepared":"p-s","timeout":"1s"}`,
			}
			if got := node.bodies(); !slices.Equal(got, want) || cluster.dials.Load() != 1 {
				t.Errorf("got %v, %d dials", got, cluster.dials.Load())
			}
		})
	})
	t.Run("an ad hoc statement is not prepared", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			node := newPreparingNode(true, map[string]string{})
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			runQuery(t, c, Query{Statement: "s", Adhoc: true, ReadOnly: true, Context: "default:`b`.`s`"})
			want := []string{"{\"query_context\":\"default:`b`.`s`\",\"readonly\":true,\"statement\":\"s\",\"timeout\":\"1s\"}"}
			if got := node.bodies(); !slices.Equal(got, want) {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("the same text in another query context is another statement", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			cluster.can = true
			node := newPreparingNode(true, map[string]string{})
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			runQuery(t, c, Query{Statement: "s", Context: "a"})
			runQuery(t, c, Query{Statement: "s", Context: "b"})
			if got := node.bodies(); !strings.Contains(got[1], "PREPARE") {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("a service that forgot the statement makes the client prepare it again", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			cluster.can = true
			node := newPreparingNode(true, map[string]string{})
			cluster.serve(t, "a:1", node)
			c, log := cluster.client(t)
			defer c.Close()
			runQuery(t, c, Query{Statement: "s"})
			clear(node.plans)
			runQuery(t, c, Query{Statement: "s"})
			if got := node.bodies(); len(got) != 3 || !strings.Contains(got[2], "PREPARE") {
				t.Errorf("got %v", got)
			}
			if log.String() != "QUERY_PREPARED_STATEMENT_FAILURE answered -> retried" {
				t.Errorf("log:\n%v", log)
			}
		})
	})
	t.Run("a lost PREPARE is repeated whatever the statement does", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			node := newPreparingNode(false, map[string]string{})
			node.answers = append([]http.HandlerFunc{cut("")}, node.answers...)
			cluster.serve(t, "a:1", node)
			c, log := cluster.client(t)
			defer c.Close()
			runQuery(t, c, Query{Statement: "s"})
			if log.String() != "SOCKET_CLOSED_WHILE_IN_FLIGHT in flight -> retried" {
				t.Errorf("log:\n%v", log)
			}
		})
	})
	t.Run("a lost execution is not", func(t *testing.T) {
		for _, enhanced := range []bool{true, false} {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				cluster.can = enhanced
				node := newPreparingNode(enhanced, map[string]string{})
				cluster.serve(t, "a:1", node)
				c, _ := cluster.client(t)
				defer c.Close()
				runQuery(t, c, Query{Statement: "s"})
				node.answers = append([]http.HandlerFunc{cut("")}, node.answers...)
				before := node.count()
				_, err := c.Query(t.Context(), &Query{Call: Call{Timeout: time.Second}, Statement: "s"})
				if kindOf(err) != KindRequestCancelled || node.count() != before+1 {
					t.Errorf("%v, %d requests", err, node.count()-before)
				}
			})
		}
	})
	t.Run("an answer to PREPARE without a name is an error", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			cluster.serve(t, "a:1", answers(status(200, `{"results":[]}`)))
			c, _ := cluster.client(t)
			defer c.Close()
			if _, err := c.Query(t.Context(), &Query{Call: Call{Timeout: time.Second}, Statement: "s"}); kindOf(err) != KindPreparedStatementFailure {
				t.Errorf("%v", err)
			}
		})
	})
	t.Run("parameters that are no JSON are refused before anything is sent", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			node := answers(status(200, oneRow))
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			q := &Query{Call: Call{Timeout: time.Second}, Statement: "s", Parameters: map[string]any{"$a": func() {}}}
			if _, err := c.Query(t.Context(), q); kindOf(err) != KindEncodingFailure || node.count() != 0 {
				t.Errorf("%v", err)
			}
		})
	})
}

func TestManyPreparedStatementsHoldBoundedMemory(t *testing.T) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var s statements
	before := heap()
	fill := func(text string) {
		for i := range 10_000 {
			s.put(&prepared{key: statementKey{statement: fmt.Sprint(i, text)}, name: fmt.Sprint("name", i), plan: text})
		}
	}
	fill(strings.Repeat("x", 100))
	if n := s.recent.Len(); n != maxStatements || len(s.byKey) != maxStatements {
		t.Errorf("%d statements are kept", n)
	}
	if s.get(statementKey{statement: "9999" + strings.Repeat("x", 100)}) == nil || s.get(statementKey{statement: "0" + strings.Repeat("x", 100)}) != nil {
		t.Error("not the latest statements are kept")
	}
	fill(strings.Repeat("y", 20<<10))
	if s.size > maxStatementBytes || len(s.byKey) != s.recent.Len() {
		t.Errorf("%d bytes are kept", s.size)
	}
	if grown := int64(heap()) - int64(before); grown > maxStatementBytes+4<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	runtime.KeepAlive(&s)
	for e := s.recent.Front(); e != nil; e = s.recent.Front() {
		s.remove(e.Value.(*prepared))
	}
	if s.size != 0 || len(s.byKey) != 0 {
		t.Errorf("%d bytes and %d statements are left", s.size, len(s.byKey))
	}
}

func TestAStatementThatIsUsedStaysInTheCache(t *testing.T) {
	var s statements
	key := func(i int) statementKey { return statementKey{statement: fmt.Sprint(i)} }
	for i := range 2 * maxStatements {
		s.put(&prepared{key: key(i)})
		if s.get(key(0)) == nil {
			t.Fatalf("the statement left after %d others, although it was used all the time", i)
		}
	}
	if s.get(key(1)) != nil {
		t.Error("a statement that was not used stayed")
	}
}
