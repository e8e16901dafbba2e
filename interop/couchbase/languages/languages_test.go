package languages

import (
	"strconv"
	"strings"
	"testing"
)

var steps = []string{"key-value", "binary", "sub-document", "bulk", "durability", "query", "lost reply", "rebalance", "failover"}

// TestInstall installs what the SDKs need. The folders are kept, so TestScenario downloads nothing afterwards.
func TestInstall(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) { c.prepare(t) })
	}
}

// TestScenario plays the scenario with each SDK and looks, from the server's side, whether what it was about happened.
func TestScenario(t *testing.T) {
	program := build(t)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			c.prepare(t)
			t.Run("all steps", func(t *testing.T) { c.allSteps(t, start(t, program)) })
			t.Run("an increment that is applied twice is noticed", func(t *testing.T) { c.appliedTwice(t, start(t, program)) })
		})
	}
}

func (c *client) allSteps(t *testing.T, m *mock) {
	stdout, stderr, err := c.play(t, m)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if want := "ok " + strings.Join(steps, "\nok ") + "\n"; stdout != want {
		t.Errorf("it printed %q, want %q", stdout, want)
	}
	m.checkWrites()
	m.checkFaults()
	m.checkCommands()
	m.checkNodes()
}

// appliedTwice is the control: a server that applies an increment and says that it failed.
func (c *client) appliedTwice(t *testing.T, m *mock) {
	m.do("POST", "/faults/kv", `{"opcodes": ["INCREMENT"], "key": "moving", "statusAfter": "0x86", "times": 1}`, new(any))
	stdout, stderr, err := c.play(t, m)
	if err == nil || !strings.HasSuffix(stdout, "ok lost reply\n") || !strings.HasPrefix(stderr, "rebalance: ") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
}

// entry is what the test reads of an entry of the journal.
type entry struct {
	Opcode, Key            string
	Durable, Applied, Lost bool
	Status                 int
}

// checkWrites checks that each increment and each of the last writes was applied once and is not lost.
func (m *mock) checkWrites() {
	m.t.Helper()
	var journal struct{ Entries []entry }
	m.get("/journal", &journal)
	applied, temporary := make(map[string]int), 0
	for _, e := range journal.Entries {
		if e.Applied {
			applied[e.Key]++
		}
		if e.Applied && e.Lost {
			m.t.Errorf("%s of %s is lost", e.Opcode, e.Key)
		}
		if e.Key == "durable" && e.Status == 0x86 {
			temporary++
		}
		if durable := strings.HasPrefix(e.Key, "after") || strings.HasPrefix(e.Key, "r"); durable && !e.Durable {
			m.t.Errorf("%s of %s is not durable", e.Opcode, e.Key)
		}
	}
	for prefix, count := range map[string]int{"f": 200, "after": 50} {
		for i := range count {
			if key := prefix + strconv.Itoa(i); applied[key] != 1 {
				m.t.Errorf("the write of %s was applied %d times, want once", key, applied[key])
			}
		}
	}
	if temporary != 3 {
		m.t.Errorf("there were %d temporary failures, want 3", temporary)
	}
	var moving struct{ JSON int }
	m.get("/document?bucket=default&key=moving", &moving)
	if moving.JSON != applied["moving"] || moving.JSON < 201 {
		m.t.Errorf("%d increments of moving were applied, and it is %d; want at least 201", applied["moving"], moving.JSON)
	}
}

// checkFaults checks that the faults and the script happened as often as they should.
func (m *mock) checkFaults() {
	m.t.Helper()
	var answer struct {
		Rules []struct {
			Kind     string
			Happened int
		}
	}
	m.get("/rules", &answer)
	if r := answer.Rules; len(r) != 3 || r[0].Kind != "scripts" || r[0].Happened < 3 || r[1].Happened != 1 || r[2].Happened != 3 {
		m.t.Errorf("the rules are %+v, want a script for 3 requests or more, a fault of 1 and a fault of 3", r)
	}
}

// checkCommands checks that every operation reached the server, and that a statement was prepared.
func (m *mock) checkCommands() {
	m.t.Helper()
	var counters struct{ Requests map[string]int }
	m.get("/counters", &counters)
	for _, name := range []string{
		"GET", "SET", "ADD", "REPLACE", "DELETE", "TOUCH", "GAT", "GET_LOCKED", "UNLOCK_KEY", "GET_REPLICA", "INCREMENT", "DECREMENT",
		"APPEND", "PREPEND", "SUBDOC_MULTI_LOOKUP", "SUBDOC_MULTI_MUTATION",
	} {
		if counters.Requests[name] == 0 {
			m.t.Errorf("no %s came", name)
		}
	}
	var queries struct{ Requests []struct{ Body string } }
	m.get("/http-requests?service=query", &queries)
	prepared := 0
	for _, r := range queries.Requests {
		if strings.Contains(r.Body, "PREPARE") {
			prepared++
		}
	}
	if prepared != 1 {
		m.t.Errorf("%d statements were prepared, want 1", prepared)
	}
}

// checkNodes checks that the added node is in the cluster, and the killed one is not.
func (m *mock) checkNodes() {
	m.t.Helper()
	var state struct {
		Nodes []struct{ Member, Up bool }
	}
	m.get("/", &state)
	members := 0
	for i, n := range state.Nodes {
		if n.Member != n.Up {
			m.t.Errorf("node %d is %+v", i, n)
		}
		if n.Member {
			members++
		}
	}
	if len(state.Nodes) != 4 || members != 3 {
		m.t.Errorf("%d of %d nodes are in the cluster, want 3 of 4", members, len(state.Nodes))
	}
}
