package simulation

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

// story is a small life that is right: a register with three changes, of which a failover undid the second, a counter with two, and a
// document that was made and removed. Each test of a checker changes one thing of it.
type story struct {
	calls []*call
	truth *truth
}

// counted is the value of the counter after a sum of changes.
func counted(sum int) string { return strconv.Itoa(counterBase + sum) }

func rightStory() *story {
	s := &story{truth: &truth{documents: make(map[string]*timeline), queries: map[string]int{"query": 1}, arrivals: make(map[key]int)}}
	failover := &loss{began: 100, ended: 101, lost: []int64{2}}
	s.truth.documents["r0"] = &timeline{last: "a c", changes: []change{
		{token: "a", effect: push, content: "a", cas: 1, seq: 1},
		{token: "b", effect: push, content: "a b", cas: 2, seq: 2, lost: true},
		{content: "a", loss: failover},
		{token: "c", effect: push, content: "a c", cas: 3, seq: 3},
	}}
	s.truth.documents["c0"] = &timeline{start: counted(0), last: counted(30), changes: []change{
		{token: "10", effect: add, content: counted(10), cas: 4, seq: 4},
		{token: "20", effect: add, content: counted(30), cas: 5, seq: 5},
	}}
	s.truth.documents["l0"] = &timeline{start: missing, last: missing, changes: []change{
		{token: "x", effect: put, content: "x", cas: 6, seq: 6},
		{token: removal, effect: remove, content: missing, cas: 7, seq: 7},
	}}
	called := func(at int64, c *call) {
		c.began, c.ended = at, at+1
		if w := c.write; w != nil {
			s.truth.arrivals[key{w.doc, w.token, w.effect}] = 1
		}
		s.calls = append(s.calls, c)
	}
	wrote := func(at int64, doc, token string, e effect, cas uint64, x safety) {
		called(at, &call{id: token, write: &write{doc: doc, token: token, effect: e, cas: cas, claim: applied, safety: x}})
	}
	saw := func(at int64, id, doc, content string) {
		called(at, &call{id: id, reads: []read{{doc: doc, content: content}}})
	}
	wrote(2, "r0", "a", push, 1, inMemory)
	saw(4, "after a", "r0", "a")
	wrote(6, "r0", "b", push, 2, unsafe)
	saw(8, "after b", "r0", "a b")
	saw(110, "after the failover", "r0", "a")
	found := "a"
	wrote(112, "r0", "c", push, 3, unsafe)
	s.call("c").write.found = &found
	wrote(10, "c0", "10", add, 4, unsafe)
	wrote(12, "c0", "20", add, 5, unsafe)
	left := counted(30)
	s.call("20").write.left = &left
	called(14, &call{id: "replica", reads: []read{{doc: "c0", content: counted(10), replica: true}}})
	wrote(16, "l0", "x", put, 6, unsafe)
	wrote(18, "l0", removal, remove, 7, onDiskToo)
	saw(20, "removed", "l0", missing)
	called(22, &call{id: "exists", reads: []read{{doc: "r0", content: missing, unlike: true}}})
	wrote(24, "q0", "query", queryChanged, 0, unsafe)
	called(26, &call{
		id: "refused", err: errors.New("refused"), report: report{text: "refused", attempts: 1, sent: 1, why: "the server refused it"},
		write: &write{doc: "r0", token: "z", effect: push},
	})
	called(28, &call{
		id: "late", err: errors.New("ambiguous timeout"),
		report: report{text: "late", attempts: 1, sent: 1, why: "x", ambiguous: true, mayHaveApplied: true, claim: unknown},
		write:  &write{doc: "r0", token: "y", effect: push, claim: unknown},
	})
	return s
}

func (s *story) call(id string) *call {
	for _, c := range s.calls {
		if c.id == id {
			return c
		}
	}
	panic("no call " + id)
}

// check returns what all checkers find.
func (s *story) check() []violation {
	h := newHistory()
	h.calls = s.calls
	l := &life{history: h, truth: s.truth}
	return l.check()
}

// again makes the last change of a document happen once more.
func (s *story) again(doc, content string) {
	line := s.truth.documents[doc]
	c := line.changes[len(line.changes)-1]
	c.content, line.last = content, content
	line.changes = append(line.changes, c)
}

// drop makes the last change of a document not happen.
func (s *story) drop(doc string) {
	line := s.truth.documents[doc]
	line.changes = line.changes[:len(line.changes)-1]
	line.last = line.content(len(line.changes))
}

func TestARightStoryHasNoViolation(t *testing.T) {
	if found := rightStory().check(); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

// TestEachRuleCanBeBroken changes one thing of a right story, and wants the rule that it breaks.
func TestEachRuleCanBeBroken(t *testing.T) {
	for _, test := range []struct {
		name, rule string
		change     func(s *story)
	}{
		{"an acknowledged write is not there", "once", func(s *story) { s.drop("c0") }},
		{"an acknowledged write is there twice", "once", func(s *story) { s.again("c0", counted(50)) }},
		{"a refused write is there", "once", func(s *story) { s.call("20").write.claim = notApplied }},
		{"a write whose outcome is unknown is there twice", "once", func(s *story) {
			s.call("20").write.claim = unknown
			s.again("c0", counted(50))
		}},
		{"a change that nobody made", "once", func(s *story) { s.call("20").write = nil }},
		{"a statement that was executed twice", "once", func(s *story) { s.truth.queries["query"] = 2 }},
		{"an acknowledged statement that was not executed", "once", func(s *story) { delete(s.truth.queries, "query") }},
		{"a write in the memory of a majority is lost by a failover", "durable", func(s *story) { s.call("b").write.safety = inMemory }},
		{"an acknowledged durable write is not there", "durable", func(s *story) {
			s.call("20").write.safety = inMemory
			s.drop("c0")
		}},
		{"a write on the disk of the active node is lost by the end of its process", "durable", func(s *story) {
			s.call("b").write.safety = onDiskToo
			s.truth.documents["r0"].changes[2].loss.crash = true
		}},
		{"a document is not what its changes make", "truth", func(s *story) { s.truth.documents["r0"].last = "c a" }},
		{"a removed document is there", "truth", func(s *story) { s.truth.documents["l0"].last = "x" }},
		{"a change is lost without a fault", "truth", func(s *story) {
			s.truth.documents["r0"].changes[2].loss.lost = nil
		}},
		{"a swap found another content", "content", func(s *story) { *s.call("c").write.found = "a b" }},
		{"a counter returned another number", "content", func(s *story) { *s.call("20").write.left = counted(20) }},
		{"a write returned another CAS", "content", func(s *story) { s.call("a").write.cas = 9 }},
		{"a replica had what never was", "content", func(s *story) { s.call("replica").reads[0].content = counted(20) }},
		{"a stale read", "linearizable", func(s *story) { s.call("after a").began, s.call("after a").ended = 90, 91 }},
		{"a read of what was undone", "linearizable", func(s *story) { s.call("after b").began, s.call("after b").ended = 104, 105 }},
		{"a read before the write", "linearizable", func(s *story) { s.call("after a").began, s.call("after a").ended = 0, 1 }},
		{"a write before its begin", "linearizable", func(s *story) { s.call("10").began, s.call("10").ended = 40, 41 }},
		{"a removed document is read", "linearizable", func(s *story) { s.call("removed").reads[0].content = "x" }},
		{"a document that is there is said not to be", "linearizable", func(s *story) { s.call("exists").reads[0].unlike = false }},
		{"an unknown write takes effect before its begin", "linearizable", func(s *story) {
			c := s.call("10")
			c.write.claim, c.began, c.ended = unknown, 40, 41
		}},
		{"an error that says nothing", "error", func(s *story) { s.call("refused").silent = true }},
		{"more requests than attempts", "error", func(s *story) { s.truth.arrivals[key{"r0", "z", push}] = 2 }},
		{"a timeout of both kinds", "error", func(s *story) { s.call("late").unambiguous = true }},
		{"a timeout that is called unambiguous after a lost reply", "error", func(s *story) {
			s.call("late").ambiguous, s.call("late").unambiguous = false, true
		}},
		{"a timeout that is called ambiguous although all was refused", "error", func(s *story) { s.call("late").mayHaveApplied = false }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := rightStory()
			test.change(s)
			found := s.check()
			for _, v := range found {
				if v.Rule == test.rule {
					return
				}
			}
			t.Errorf("no violation of %q: %v", test.rule, found)
		})
	}
}

// The end of a process may lose what only memory had: Couchbase's documentation of durability says so of the level "majority".
func TestALossThatTheRulesPermitIsNoViolation(t *testing.T) {
	s := rightStory()
	s.call("b").write.safety = inMemory
	s.truth.documents["r0"].changes[2].loss.crash = true
	if found := s.check(); len(found) != 0 {
		t.Errorf("%v", found)
	}
}

func TestATimelineHasTheChangesInTheirOrderAndTheLossesBetweenThem(t *testing.T) {
	for _, test := range []struct {
		name   string
		lost   string // the tokens that are lost
		losses []loss
		want   string
	}{
		{"two losses", "bce", []loss{{lost: []int64{2, 3}}, {lost: []int64{5}}}, "a,a b,a b c,a,a d,a d e,a d"},
		{
			"the end of a process undoes the last, and the failover after it also those before", "bcde",
			[]loss{{lost: []int64{4, 5}}, {lost: []int64{2, 3}}},
			"a,a b,a b c,a b c d,a b c d e,a b c,a",
		},
		{
			"a failover brings back what the end of a process had undone", "e",
			[]loss{{lost: []int64{4, 5}}, {lost: []int64{5}}},
			"a,a b,a b c,a b c d,a b c d e,a b c d",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var changes []change
			for i, token := range []string{"e", "a", "c", "b", "d"} { // in the order of nothing
				n := int64(token[0] - 'a' + 1)
				changes = append(changes, change{token: token, order: n, seq: n, lost: strings.Contains(test.lost, token), cas: uint64(i)})
			}
			line := &timeline{}
			line.build(changes, test.losses)
			var got []string
			for _, c := range line.changes {
				got = append(got, c.content)
			}
			if strings.Join(got, ",") != test.want {
				t.Errorf("the contents are %q, want %s", got, test.want)
			}
		})
	}
}

func TestAGoroutineThatIsLeftIsFound(t *testing.T) {
	h := newHistory()
	before := simcheck.Goroutines()
	stay := make(chan struct{})
	defer close(stay)
	go func() { <-stay }()
	h.checkGoroutines(before)
	if len(h.violations) != 1 || !strings.Contains(h.violations[0].Text, "TestAGoroutineThatIsLeftIsFound") {
		t.Errorf("%v", h.violations)
	}
}

func TestAConnectionAndAnOperationThatAreLeftAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cast{settings: simulated(1), server: couchbasetest.RunT(t, couchbasetest.InMemory(), couchbasetest.Buckets(couchbasetest.Bucket{Name: bucketName})), history: newHistory()}
		if err := c.connect(); err != nil {
			t.Fatal(err)
		}
		c.disconnect()
		if len(c.history.violations) != 0 {
			t.Errorf("without a connection: %v", c.history.violations)
		}
		conn, err := c.server.Dialer().DialContext(t.Context(), "tcp", c.server.Address(0, "kv"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		synctest.Wait() // the server accepts it
		c.clients[3].spans.RequestSpan(nil, "an operation that does not end")
		c.disconnect()
		var texts []string
		for _, v := range c.history.violations {
			texts = append(texts, v.String())
		}
		all := strings.Join(texts, "\n")
		if !strings.Contains(all, "1 operations of client 3") || !strings.Contains(all, "1 connections are open") {
			t.Errorf("with a connection and an operation: %s", all)
		}
	})
}

// A map with a lower revision than the client's must not be taken: the probe finds a client that does.
func TestAHeldMapAloneIsNoViolation(t *testing.T) {
	s := simulated(1)
	s.Duration, s.Operations, s.Faults = 30*time.Second, 10, 0
	for _, v := range liveInBubble(t, s).check() {
		if v.Rule == "map" {
			t.Error(v)
		}
	}
}
