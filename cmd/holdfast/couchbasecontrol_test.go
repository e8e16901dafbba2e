package main

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

func TestAFaultByTheControlPortFailsAsManyRequestsAsItSays(t *testing.T) {
	c := startCouchbase(t)
	_, collection := c.connect(couchbase.SecurityConfig{})
	var added struct{ ID int }
	c.ok("POST", "/faults/kv", `{"opcodes": ["SET"], "key": "k", "status": "0x86", "times": 3}`, &added)
	if _, err := collection.Upsert("other", 1, nil); err != nil {
		t.Error(err)
	}
	if _, err := collection.Upsert("k", 1, nil); err != nil {
		t.Error(err)
	}
	list := c.journal("k")
	if len(list) != 4 || list[2].Status != 0x86 || list[2].Applied || !list[3].Applied {
		t.Errorf("the journal is %+v, want three temporary failures, and one that was applied", list)
	}
	var rules struct{ Rules []struct{ Happened int } }
	if c.ok("GET", "/rules", "", &rules); len(rules.Rules) != 1 || rules.Rules[0].Happened != 3 {
		t.Errorf("the rules are %+v, want one that happened three times", rules)
	}
}

func TestAReplyThatTheControlPortLosesLeavesTheOutcomeUnknown(t *testing.T) {
	for name, fault := range map[string]string{
		"the connection is closed": `"loseReply": true`,
		"after half a frame":       `"loseReply": true, "cutReplyAfter": 12`,
		"only a node and a bucket": `"loseReply": true, "nodes": [0], "bucket": "default"`,
	} {
		t.Run(name, func(t *testing.T) {
			c := startCouchbase(t)
			_, collection := c.connect(couchbase.SecurityConfig{})
			c.ok("POST", "/faults/kv", `{"opcodes": [5], "times": 1, `+fault+`}`, nil)
			_, err := collection.Binary().Increment("n", &couchbase.IncrementOptions{Initial: 1, Delta: 1})
			if !errors.Is(err, couchbase.ErrRequestCanceled) {
				t.Errorf("the error is %v, want a cancelled request", err)
			}
			if list := c.journal("n"); len(list) != 1 || !list[0].Applied || !list[0].ReplyLost {
				t.Errorf("the journal is %+v, want one entry, applied, whose reply was lost", list)
			}
		})
	}
}

// A machine may be so busy that the fault has ended before the write comes: then there is another one, which lasts longer.
func TestAFaultOfTheControlPortEndsWithItsTime(t *testing.T) {
	c := startCouchbase(t)
	_, collection := c.connect(couchbase.SecurityConfig{})
	for last := 150 * time.Millisecond; ; last *= 2 {
		c.ok("POST", "/faults/kv", fmt.Sprintf(`{"status": "0x86", "for": %q}`, last), nil)
		key := last.String()
		if _, err := collection.Upsert(key, 1, &couchbase.UpsertOptions{Timeout: time.Minute}); err != nil {
			t.Fatal(err)
		}
		list := c.journal(key)
		if len(list) == 0 || !list[len(list)-1].Applied {
			t.Fatalf("the journal is %+v, want that the write was applied", list)
		}
		if len(list) > 1 {
			return
		}
		if last > 10*time.Second {
			t.Fatalf("after %v the journal is %+v, want failures before the write", last, list)
		}
	}
}

func TestScriptsAndHTTPFaultsOfTheControlPort(t *testing.T) {
	c := startCouchbase(t)
	cluster, _ := c.connect(couchbase.SecurityConfig{})
	c.ok("POST", "/scripts", `{"services": ["query"], "statement": "SELECT 1 AS one", "answer": {"rows": [{"one": 1}, {"one": 2}]}}`, nil)
	c.ok("POST", "/faults/http", `{"services": ["query"], "cut": "request", "times": 1}`, nil)
	rows, err := cluster.Query("SELECT 1 AS one", &couchbase.QueryOptions{Readonly: true, Adhoc: true})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for rows.Next() {
		var row struct{ One int }
		if err := rows.Row(&row); err != nil {
			t.Error(err)
		}
		sum += row.One
	}
	if err := rows.Err(); err != nil || sum != 3 {
		t.Errorf("the sum is %d, %v; want 3", sum, err)
	}
	var record struct {
		Requests []struct {
			Service, Statement string
			Status, Rows       int
		}
	}
	c.ok("GET", "/http-requests?service=query", "", &record)
	if list := record.Requests; len(list) != 2 || list[0].Status != 0 || list[1].Rows != 2 || list[1].Statement != "SELECT 1 AS one" {
		t.Errorf("the requests are %+v, want one that was cut, and one with two rows", list)
	}
	c.ok("POST", "/scripts", `{"statement": "DELETE FROM b", "answer": {"errors": [{"code": 12009, "msg": "DML Error", "reason": {"code": 17012}}]}}`, nil)
	if _, err := cluster.Query("DELETE FROM b", nil); !errors.Is(err, couchbase.ErrDocumentExists) {
		t.Errorf("the error is %v, want that the document exists", err)
	}
}

// A program writes while the control port moves the vbuckets, and then makes a node fail.
func TestDurableWritesOutliveWhatTheControlPortDoes(t *testing.T) {
	c := startCouchbase(t, "--nodes", "3")
	_, collection := c.connect(couchbase.SecurityConfig{})
	c.ok("POST", "/nodes", "", nil)
	rebalanced := make(chan int, 1)
	go func() { rebalanced <- c.do("POST", "/rebalance", `{"eject": [0], "during": "300ms"}`, nil) }()
	written, failedOver := 0, false
	for ended := false; !ended || written < 200; written++ {
		_, err := collection.Upsert("k", written, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
		if err != nil {
			t.Fatalf("write %d: %v", written, err)
		}
		if ended && !failedOver {
			var d struct{ Nodes []int }
			c.ok("GET", "/document?bucket=default&key=k", "", &d)
			owner := string(rune('0' + d.Nodes[0]))
			c.ok("POST", "/nodes/"+owner+"/kill", "", nil)
			c.ok("POST", "/nodes/"+owner+"/failover", "", nil)
			c.ok("POST", "/nodes/"+owner+"/restart", "", nil)
			c.ok("POST", "/nodes/"+owner+"/add-back", "", nil)
			c.ok("POST", "/rebalance", "", nil) // durable writes need a replica again
			failedOver = true
		}
		select {
		case status := <-rebalanced:
			if ended = true; status != http.StatusOK {
				t.Fatalf("the rebalance has status %d", status)
			}
		default:
		}
	}
	var d struct {
		Exists bool
		JSON   int
	}
	if c.ok("GET", "/document?bucket=default&key=k", "", &d); !d.Exists || d.JSON != written-1 {
		t.Errorf("the document is %+v, want %d", d, written-1)
	}
}

func TestAPausedNodeAnswersAfterItsResume(t *testing.T) {
	for stop, goOn := range map[string]string{"pause": "resume", "black-hole": "heal"} {
		c := startCouchbase(t)
		_, collection := c.connect(couchbase.SecurityConfig{})
		c.ok("POST", "/nodes/0/"+stop, "", nil)
		if _, err := collection.Get("k", &couchbase.GetOptions{Timeout: 50 * time.Millisecond}); !errors.Is(err, couchbase.ErrTimeout) {
			t.Errorf("%s: the error is %v, want a timeout", stop, err)
		}
		c.ok("POST", "/nodes/0/"+goOn, "", nil)
		if _, err := collection.Upsert("k", 1, nil); err != nil {
			t.Errorf("%s: %v", goOn, err)
		}
	}
}

func TestAResetMakesTheClusterAsAtItsStart(t *testing.T) {
	c := startCouchbase(t, "--nodes", "2")
	_, collection := c.connect(couchbase.SecurityConfig{})
	if _, err := collection.Upsert("k", 1, nil); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"/nodes/1/kill", "/nodes/1/failover", "/nodes/0/pause", "/rebalance/start"} {
		c.do("POST", command, "", nil)
	}
	c.ok("POST", "/faults/kv", `{"status": "0x86"}`, nil)
	c.ok("POST", "/scripts", `{"answer": {"status": 200}}`, nil)
	c.ok("POST", "/settings", `{"replicationLag": "1h", "persistenceLag": "1h", "bareRefusals": true}`, nil)
	c.ok("POST", "/reset", "", nil)
	var state struct {
		Rebalancing bool
		Nodes       []struct{ Member, Up, Paused bool }
	}
	c.ok("GET", "/", "", &state)
	for i, n := range state.Nodes {
		if state.Rebalancing || !n.Member || !n.Up || n.Paused {
			t.Errorf("node %d is %+v after the reset", i, n)
		}
	}
	if list := c.journal("k"); len(list) != 0 {
		t.Errorf("the journal has %+v", list)
	}
	var counted struct{ Requests map[string]int }
	if c.ok("GET", "/counters", "", &counted); counted.Requests["SET"] != 0 {
		t.Errorf("the counters are %v", counted)
	}
	_, err := collection.Insert("k", 1, &couchbase.InsertOptions{DurabilityLevel: couchbase.DurabilityLevelPersistToMajority})
	if err != nil {
		t.Error(err)
	}
}

func TestTheErrorOfABadCommandNamesTheField(t *testing.T) {
	c := startCouchbase(t, "--nodes", "2")
	for _, bad := range []struct {
		method, path, body string
		status             int
		field, says        string
	}{
		{"POST", "/faults/kv", `{"opcodes": ["FETCH"], "status": 1}`, 400, "opcodes", `there is no command "FETCH"`},
		{"POST", "/faults/kv", `{"opcodes": [256], "status": 1}`, 400, "opcodes", "there is no command 256"},
		{"POST", "/faults/kv", `{"opcodes": ["0xff"], "status": 1}`, 400, "opcodes", "0xff is not a command"},
		{"POST", "/faults/kv", `{"status": "TMPFAIL"}`, 400, "status", `"TMPFAIL" is not a number of 16 bits`},
		{"POST", "/faults/kv", `{"status": 65536}`, 400, "status", "65536 is not a number of 16 bits"},
		{"POST", "/faults/kv", `{"status": 0}`, 400, "status", "it is 0, which is success"},
		{"POST", "/faults/kv", `{}`, 400, "status", "the fault does nothing"},
		{"POST", "/faults/kv", `{"key": "k", "nodes": [2], "status": 1}`, 400, "nodes", "there is no node 2; the nodes are 0 to 1"},
		{"POST", "/faults/kv", `{"delay": "soon"}`, 400, "delay", `"soon" is not a duration`},
		{"POST", "/faults/kv", `{"delay": "-1s"}`, 400, "delay", `"-1s" is negative`},
		{"POST", "/faults/kv", `{"delay": 5}`, 400, "delay", "it is a JSON number; it must be string"},
		{"POST", "/faults/kv", `{"status": 1, "for": "ever"}`, 400, "for", `"ever" is not a duration`},
		{"POST", "/faults/kv", `{"status": 1, "times": "3"}`, 400, "times", "it is a JSON string; it must be number"},
		{"POST", "/faults/kv", `{"status": 1, "loseReply": true}`, 400, "status", "it excludes"},
		{"POST", "/faults/kv", `{"loseRequest": true, "loseReply": true}`, 400, "loseRequest", "it excludes"},
		{"POST", "/faults/kv", `{"delay": "1s", "cutReplyAfter": 3}`, 400, "cutReplyAfter", "it needs loseReply"},
		{"POST", "/faults/kv", `{"delay": "1s", "value": "x"}`, 400, "value", "it needs status"},
		{"POST", "/faults/kv", `{"delay": "1s", "silent": true}`, 400, "silent", "it needs loseRequest or loseReply"},
		{"POST", "/faults/kv", `{"dealy": "1s"}`, 400, "dealy", "no such field"},
		{"POST", "/faults/kv", `{"delay": "1s"`, 400, "body", "it is not JSON"},
		{"POST", "/faults/kv", `{"delay": "1s"} {}`, 400, "body", "more than one"},
		{"POST", "/faults/kv", `[]`, 400, "body", "it is a JSON array; it must be object"},
		{"POST", "/faults/http", `{"services": ["n1ql"], "status": 500}`, 400, "services", `it has "n1ql"`},
		{"POST", "/faults/http", `{"services": "query", "status": 500}`, 400, "services", "it is a JSON string; it must be array"},
		{"POST", "/faults/http", `{"status": 99}`, 400, "status", "it is 99; it must be 200 to 599"},
		{"POST", "/faults/http", `{"cut": "middle"}`, 400, "cut", `it is "middle"`},
		{"POST", "/faults/http", `{"cut": "reply", "after": 2}`, 400, "after", "it needs cut"},
		{"POST", "/faults/http", `{}`, 400, "status", "the fault does nothing"},
		{"POST", "/scripts", `{"services": ["management"], "answer": {}}`, 400, "services", `it has "management"`},
		{"POST", "/scripts", `{"answer": {"errors": [{"msg": "no"}]}}`, 400, "answer.errors[0].code", "it is 0"},
		{"POST", "/scripts", `{"answer": {"rows": {}}}`, 400, "answer.rows", "it is a JSON object; it must be array"},
		{"POST", "/scripts", `{"answer": {"delay": "x"}}`, 400, "answer.delay", "is not a duration"},
		{"POST", "/scripts", `{"answer": {"body": "x", "rows": []}}`, 400, "answer.body", "excludes rows"},
		{"POST", "/scripts", `{"times": -1, "answer": {}}`, 400, "times", "-1 is negative"},
		{"POST", "/rebalance", `{"eject": [7]}`, 400, "eject", "there is no node 7"},
		{"POST", "/rebalance", `{"eject": 1}`, 400, "eject", "it is a JSON number; it must be array"},
		{"POST", "/rebalance", `{"during": "long"}`, 400, "during", "is not a duration"},
		{"POST", "/rebalance", `{"eject": [0, 1]}`, 409, "", "a rebalance must leave a node"},
		{"POST", "/rebalance/move", `{"count": -1}`, 400, "count", "-1 is negative"},
		{"POST", "/rebalance/move", `{}`, 409, "", "no rebalance is going on"},
		{"POST", "/rebalance/stop", `{}`, 409, "", "no rebalance is going on"},
		{"POST", "/nodes/0/add-back", ``, 409, "", "node 0 was not failed over"},
		{"POST", "/nodes/2/kill", ``, 404, "node", `there is no node "2"; the nodes are 0 to 1`},
		{"POST", "/nodes/x/kill", ``, 404, "node", `there is no node "x"`},
		{"POST", "/nodes/0/sink", ``, 404, "", "there is no command POST /nodes/0/sink"},
		{"POST", "/nodes/0/kill", `{"hard": true}`, 400, "hard", "no such field"},
		{"GET", "/nodes/0/kill", ``, 404, "", "there is no command GET /nodes/0/kill"},
		{"POST", "/settings", `{"replicationLag": "x"}`, 400, "replicationLag", "is not a duration"},
		{"POST", "/error-map", `{"name": "X"}`, 400, "status", "it is not there"},
		{"POST", "/error-map", `{"status": 1}`, 400, "name", "it is empty"},
		{"DELETE", "/rules/7", ``, 404, "id", `there is no rule "7"`},
		{"GET", "/counters?node=5", ``, 400, "node", "there is no node 5"},
		{"GET", "/counters?nodes=1", ``, 400, "nodes", "no such parameter"},
		{"GET", "/journal?after=x", ``, 400, "after", `"x" is not a whole number`},
		{"GET", "/http-requests?service=kv", ``, 400, "service", `it is "kv"`},
		{"GET", "/document?key=k", ``, 400, "bucket", `there is no bucket ""`},
		{"GET", "/document?bucket=default", ``, 400, "key", "it is empty"},
	} {
		var answer struct{ Error, Field string }
		status := c.do(bad.method, bad.path, bad.body, &answer)
		if status != bad.status || answer.Field != bad.field || !strings.Contains(answer.Error, bad.says) {
			t.Errorf("%s %s %s: status %d, %+v; want %d, %q, %q", bad.method, bad.path, bad.body, status, answer, bad.status, bad.field, bad.says)
		}
	}
	var rules struct{ Rules []any }
	if c.ok("GET", "/rules", "", &rules); len(rules.Rules) != 0 {
		t.Errorf("there are rules of refused commands: %v", rules)
	}
}
