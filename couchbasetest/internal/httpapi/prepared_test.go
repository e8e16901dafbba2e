package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/url"
	"testing"
)

const stored = "SELECT * FROM stored"

// newPreparing returns the services of a cluster with a script for one statement.
func newPreparing(shared bool) *Services {
	f := newFake()
	f.identity.SharedPreparedStatements = shared
	s := New(f)
	s.Script(When{Statement: stored}, 0, Script{Answer: Answer{Rows: []any{1}}})
	return s
}

// prepareOn prepares the statement on a node and returns its name and plan.
func prepareOn(t *testing.T, s *Services, node NodeID, statement string) (name, plan string) {
	t.Helper()
	status, reply := exec(t, s, node, map[string]any{"statement": statement})
	rows, _ := reply["results"].([]any)
	if status != 200 || len(rows) != 1 {
		t.Fatalf("prepare: status %d, reply %v", status, reply)
	}
	row, _ := rows[0].(map[string]any)
	return fmt.Sprint(row["name"]), fmt.Sprint(row["encoded_plan"])
}

func TestAWordThatBeginsAStatementIsNoNameOfAPreparedOne(t *testing.T) {
	for text, want := range map[string][2]string{
		"DELETE FROM b":               {"", "DELETE FROM b"},
		"FORCE delete FROM b":         {"", "delete FROM b"},
		"`DELETE` FROM DELETE FROM b": {"DELETE", "DELETE FROM b"},
		"d FROM DELETE FROM b":        {"d", "DELETE FROM b"},
	} {
		if name, statement := splitPrepare(text); name != want[0] || statement != want[1] {
			t.Errorf("PREPARE %s has the name %q and the statement %q, want %q", text, name, statement, want)
		}
	}
}

func TestPrepareAndExecute(t *testing.T) {
	s := newPreparing(false)
	name, plan := prepareOn(t, s, 0, "PREPARE "+stored)
	for what, c := range map[string]struct {
		node   NodeID
		fields map[string]any
		code   int
	}{
		"the node knows the name":            {0, map[string]any{"prepared": name}, 0},
		"the name and its plan":              {0, map[string]any{"prepared": name, "encoded_plan": plan}, 0},
		"EXECUTE":                            {0, map[string]any{"statement": "EXECUTE `" + name + "`"}, 0},
		"another plan than the name's":       {0, map[string]any{"prepared": name, "encoded_plan": plan[:len(plan)-4]}, 4090},
		"another node does not know it":      {1, map[string]any{"prepared": name}, 4040},
		"another context does not know it":   {0, map[string]any{"prepared": name, "query_context": "default:`b`"}, 4040},
		"a broken plan on another node":      {1, map[string]any{"prepared": name, "encoded_plan": "AAAA"}, 4070},
		"a plan of another name":             {1, map[string]any{"prepared": "other", "encoded_plan": plan}, 4080},
		"a plan without a name":              {1, map[string]any{"prepared": name, "encoded_plan": pack(`{"text":"x"}`)}, 4060},
		"a plan without a statement":         {1, map[string]any{"prepared": name, "encoded_plan": pack(`{"name":"x"}`)}, 4070},
		"a plan that is not an object":       {1, map[string]any{"prepared": name, "encoded_plan": pack(`[]`)}, 4070},
		"a plan that is only base64":         {1, map[string]any{"prepared": name, "encoded_plan": "aGVsbG8="}, 4070},
		"the name is not known as statement": {0, map[string]any{"statement": name}, 3000},
	} {
		t.Run(what, func(t *testing.T) {
			status, reply := exec(t, s, c.node, c.fields)
			if code := errorCode(reply); code != c.code || code == 0 && (status != 200 || rowsText(t, reply) != "[1]") {
				t.Errorf("status %d, reply %v", status, reply)
			}
		})
	}
	if _, reply := exec(t, s, 1, map[string]any{"prepared": name, "encoded_plan": plan}); rowsText(t, reply) != "[1]" {
		t.Errorf("with the plan: %v", reply)
	}
	if _, reply := exec(t, s, 1, map[string]any{"prepared": name}); rowsText(t, reply) != "[1]" {
		t.Errorf("a node that decoded the plan does not know the name: %v", reply)
	}
}

// pack encodes a plan.
func pack(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestAutoExecutePreparesAndExecutes(t *testing.T) {
	for _, shared := range []bool{true, false} {
		s := newPreparing(shared)
		_, reply := exec(t, s, 0, map[string]any{"statement": "PREPARE " + stored, "auto_execute": true})
		name, _ := reply["prepared"].(string)
		if name == "" || rowsText(t, reply) != "[1]" {
			t.Fatalf("reply %v", reply)
		}
		for node, code := range map[NodeID]int{0: 0, 1: map[bool]int{true: 0, false: 4040}[shared]} {
			if _, reply = exec(t, s, node, map[string]any{"prepared": name}); errorCode(reply) != code {
				t.Errorf("shared %v, node %d: %v", shared, node, reply)
			}
			if code == 0 && reply["prepared"] != nil {
				t.Errorf("the execution of a prepared statement names it: %v", reply)
			}
		}
	}
}

func TestPreparedNames(t *testing.T) {
	s := newPreparing(true)
	automatic, _ := prepareOn(t, s, 0, "PREPARE "+stored)
	again, _ := prepareOn(t, s, 1, "prepare "+stored+";")
	if automatic != again || len(automatic) != 36 {
		t.Errorf("names %q and %q of one statement", automatic, again)
	}
	for statement, want := range map[string]string{
		"PREPARE n FROM " + stored:               "n",
		"PREPARE FORCE n2 AS " + stored:          "n2",
		"PREPARE `a b` FROM " + stored:           "a b",
		"PREPARE FORCE " + stored:                automatic,
		"  prepare\n \"quoted\" from  " + stored: "quoted",
	} {
		if name, _ := prepareOn(t, s, 0, statement); name != want {
			t.Errorf("%s has the name %q, want %q", statement, name, want)
		}
	}
	if got := fmt.Sprint(s.Prepared(1)); got != fmt.Sprint([]string{automatic, "a b", "n", "n2", "quoted"}) && len(s.Prepared(1)) != 5 {
		t.Errorf("the other node knows %s", got)
	}
}

func TestAnUnscriptedStatementCannotBePrepared(t *testing.T) {
	s := New(newFake())
	for _, auto := range []bool{true, false} {
		if _, reply := exec(t, s, 0, map[string]any{"statement": "PREPARE SELECT x", "auto_execute": auto}); errorCode(reply) != 3000 {
			t.Errorf("auto_execute %v: %v", auto, reply)
		}
	}
	if got := s.Prepared(0); len(got) > 0 {
		t.Errorf("prepared: %q", got)
	}
	if name, _ := prepareOn(t, s, 0, "PREPARE SELECT 1"); name == "" {
		t.Error("a literal cannot be prepared")
	}
}

func TestPreparingTakesNoneOfAScriptsAnswers(t *testing.T) {
	s := New(newFake())
	s.Script(When{Statement: "once"}, 1, Script{Answer: Answer{Rows: []any{1}}})
	name, _ := prepareOn(t, s, 0, "PREPARE once")
	if _, reply := exec(t, s, 0, map[string]any{"prepared": name}); rowsText(t, reply) != "[1]" {
		t.Errorf("reply %v", reply)
	}
	if _, reply := exec(t, s, 0, map[string]any{"prepared": name}); errorCode(reply) != 3000 {
		t.Errorf("reply %v", reply)
	}
}

func TestAFailedExecutionPreparesNothing(t *testing.T) {
	s := New(newFake())
	s.Script(When{}, 0, Script{Answer: Answer{Errors: []Problem{{Code: 3000, Message: "syntax"}}}})
	_, reply := exec(t, s, 0, map[string]any{"statement": "PREPARE x", "auto_execute": true})
	if errorCode(reply) != 3000 || reply["prepared"] != nil || len(s.Prepared(0)) > 0 {
		t.Errorf("reply %v, prepared %q", reply, s.Prepared(0))
	}
}

func TestPreparedStatementsAreEvicted(t *testing.T) {
	s := newPreparing(true)
	name, _ := prepareOn(t, s, 0, "PREPARE "+stored)
	code := func(node NodeID) int {
		_, reply := exec(t, s, node, map[string]any{"prepared": name})
		return errorCode(reply)
	}
	if n := s.EvictPrepared(name, 1); n != 1 || code(0) != 0 || code(1) != 4040 {
		t.Errorf("evicted %d, node 0 says %d, node 1 says %d", n, code(0), code(1))
	}
	if n := s.EvictPrepared(""); n != 1 || code(0) != 4040 {
		t.Errorf("evicted %d, node 0 says %d", n, code(0))
	}
	prepareOn(t, s, 0, "PREPARE a/b FROM "+stored)
	expect(t, send(s, n1ql, "GET", "/admin/prepareds", ""), 200, `"name":"a/b"`, `"statement":"`+stored)
	expect(t, send(s, n1ql, "DELETE", "/admin/prepareds/"+url.PathEscape("a/b"), ""), 200)
	expect(t, send(s, n1ql, "DELETE", "/admin/prepareds/"+url.PathEscape("a/b"), ""), 404)
	expect(t, send(s, n1ql, "GET", "/admin/prepareds", ""), 200, `[]`)
}

func TestANodeForgetsTheOldestPreparedStatement(t *testing.T) {
	var p prepareds
	for i := range maxPrepared + 2 {
		p.add([]NodeID{0}, &prepared{name: fmt.Sprint(i)})
	}
	if p.get(0, "", "1") != nil || p.get(0, "", "2") == nil || len(p.all(0)) != maxPrepared {
		t.Errorf("%d are known", len(p.all(0)))
	}
	p.evict(nil, "")
	if n := p.nodes[0]; len(n.known) != 0 || len(n.order) != 0 {
		t.Errorf("after the eviction: %d, %d", len(n.known), len(n.order))
	}
}
