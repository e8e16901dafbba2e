package simulation

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
	"github.com/holdfast-db/holdfast/mongotest"
)

// story is a small life that is right: two registers and two accounts with two changes each, one document that was inserted, and
// one that was inserted and deleted. Each test of a checker changes one thing of it.
type story struct {
	calls []*call
	truth *truth
	seen  []event // by a watcher
}

// rightStory returns the life before any change.
func rightStory() *story {
	s := &story{truth: &truth{documents: make(map[address]document), concernFailed: make(map[string]bool), arrivals: make(map[string]int)}}
	happened := func(change, ns, doc, token string) {
		at := bson.Timestamp{T: 1, I: uint32(len(s.truth.events) + 1)}
		s.truth.events = append(s.truth.events, event{at: at, change: change, ns: ns, doc: doc, token: token})
	}
	called := func(c *call) {
		c.began, c.ended = int64(2*len(s.calls)+1), int64(2*len(s.calls)+2)
		c.commands = 1
		if !c.atomic {
			s.truth.arrivals[c.id] = 1
		}
		s.calls = append(s.calls, c)
	}
	pushed := func(token, doc string) []write {
		return []write{{ns: registers, doc: doc, token: token, effect: push, claim: applied}}
	}
	for _, ns := range []string{registers, accounts} {
		s.truth.documents[address{ns, "d0"}] = document{ID: "d0", N: 2, Log: []string{"a", "b"}, Last: "b"}
		s.truth.documents[address{ns, "d1"}] = document{ID: "d1", N: 2, Log: []string{"a", "b"}, Last: "b"}
		for _, token := range []string{"a", "b"} {
			happened("update", ns, "d0", token)
			happened("update", ns, "d1", token)
		}
	}
	s.truth.documents[address{lives, "l1"}] = document{ID: "l1", Last: "l1"}
	happened("insert", lives, "l1", "l1")
	happened("insert", lives, "l2", "l2")
	happened("delete", lives, "l2", "l2")
	s.seen = append(s.seen, s.truth.events...)

	called(&call{id: "update 0a", writes: pushed("a", "d0")})
	called(&call{id: "update 1a", writes: pushed("a", "d1")})
	called(&call{id: "read", reads: []read{{ns: registers, doc: "d0", level: linearizable, log: []string{"a"}, n: 1}}})
	called(&call{id: "find and update 0b", writes: pushed("b", "d0"), image: &returned{log: []string{"a"}}})
	called(&call{id: "update 1b", writes: pushed("b", "d1")})
	for _, token := range []string{"a", "b"} {
		c := &call{id: "transaction " + token, atomic: true}
		for _, doc := range []string{"d0", "d1"} {
			c.writes = append(c.writes, write{ns: accounts, doc: doc, token: token, effect: push, claim: applied})
			before := map[string][]string{"a": {}, "b": {"a"}}[token]
			c.reads = append(c.reads, read{ns: accounts, doc: doc, level: snapshot, log: before, n: len(before)})
		}
		called(c)
	}
	called(&call{id: "insert 1", writes: []write{{ns: lives, doc: "l1", token: "l1", effect: insert, claim: applied}}})
	called(&call{id: "insert 2", writes: []write{{ns: lives, doc: "l2", token: "l2", effect: insert, claim: applied}}})
	called(&call{id: "delete 2", writes: []write{{ns: lives, doc: "l2", token: "l2", effect: remove, claim: applied}}})
	called(&call{
		id: "refused", err: errors.New("refused"), report: report{text: "refused", attempts: 1, why: "the server refused it", answered: true},
		writes: []write{{ns: registers, doc: "d0", token: "x", effect: push}},
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

// log changes the final log of a document.
func (s *story) log(ns, doc string, tokens ...string) {
	s.truth.documents[address{ns, doc}] = document{ID: doc, N: len(tokens), Log: tokens}
}

// forget removes the events of a token in a document, and repeat makes them happen twice.
func (s *story) forget(ns, doc, token string) {
	var kept []event
	for _, e := range s.truth.events {
		if e.ns != ns || e.doc != doc || e.token != token {
			kept = append(kept, e)
		}
	}
	s.truth.events = kept
}

func (s *story) repeat(ns, doc, token string) {
	for _, e := range s.truth.events {
		if e.ns == ns && e.doc == doc && e.token == token {
			e.at.T = 2
			s.truth.events = append(s.truth.events, e)
			return
		}
	}
}

// check returns what all checkers find.
func (s *story) check() []violation {
	l := &life{history: &history{calls: s.calls, begin: time.Now()}, truth: s.truth, watchers: []*watcher{{name: "w", events: s.seen}}}
	return l.check()
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
		{"an acknowledged update is not there", "once", func(s *story) { s.log(registers, "d1", "a"); s.forget(registers, "d1", "b") }},
		{"an acknowledged update is there twice", "once", func(s *story) { s.log(registers, "d1", "a", "b", "b"); s.repeat(registers, "d1", "b") }},
		{"a refused update is there", "once", func(s *story) { s.call("update 1b").writes[0].claim = notApplied }},
		{"an update whose outcome is unknown is there twice", "once", func(s *story) {
			s.call("update 1b").writes[0].claim = unknown
			s.log(registers, "d1", "a", "b", "b")
			s.repeat(registers, "d1", "b")
		}},
		{"a change that nobody made", "once", func(s *story) { s.call("update 1b").writes = nil }},
		{"an acknowledged insert is not there", "once", func(s *story) { delete(s.truth.documents, address{lives, "l1"}); s.forget(lives, "l1", "l1") }},
		{"a document vanished without a deletion", "once", func(s *story) { delete(s.truth.documents, address{lives, "l1"}) }},
		{"a deleted document is there", "once", func(s *story) { s.truth.documents[address{lives, "l2"}] = document{ID: "l2"} }},
		{"half of a transaction is there", "once", func(s *story) {
			c := s.call("transaction b")
			c.writes[0].claim, c.writes[1].claim = unknown, unknown
			s.log(accounts, "d1", "a")
			s.forget(accounts, "d1", "b")
		}},
		{"the document and the oplog differ", "truth", func(s *story) { s.log(registers, "d0", "b", "a") }},
		{"a number differs from its log", "truth", func(s *story) {
			s.truth.documents[address{registers, "d0"}] = document{ID: "d0", N: 3, Log: []string{"a", "b"}}
		}},
		{"a transaction reads a half of another one", "snapshot", func(s *story) {
			s.calls = append(s.calls, &call{id: "reader", reads: []read{
				{ns: accounts, doc: "d0", level: snapshot, log: []string{"a"}, n: 1},
				{ns: accounts, doc: "d1", level: snapshot, log: []string{"a", "b"}, n: 2},
			}})
			// The second transaction changed d0 first.
		}},
		{"an update is lost", "snapshot", func(s *story) {
			c := s.call("transaction b")
			c.reads[0].log, c.reads[0].n, c.reads[1].log, c.reads[1].n = nil, 0, nil, 0
		}},
		{"a committed read saw what was rolled back", "snapshot", func(s *story) {
			s.calls = append(s.calls, &call{id: "reader", reads: []read{{ns: registers, doc: "d0", level: committed, log: []string{"z"}, n: 1}}})
		}},
		{"a read saw a document in the middle of a change", "snapshot", func(s *story) {
			s.calls = append(s.calls, &call{id: "reader", reads: []read{{ns: registers, doc: "d0", level: anything, log: []string{"a"}, n: 2}}})
		}},
		{"an event is missing", "stream", func(s *story) { s.seen = s.seen[1:] }},
		{"an event came twice", "stream", func(s *story) { s.seen = append(s.seen, s.seen[2]) }},
		{"two events changed places", "stream", func(s *story) { s.seen[1], s.seen[2] = s.seen[2], s.seen[1] }},
		{"an event that never happened", "stream", func(s *story) {
			s.seen = append(s.seen, event{change: "update", ns: registers, doc: "d0", token: "z"})
		}},
		{"a stale linearizable read", "linearizable", func(s *story) { c := s.call("read"); c.began, c.ended = 21, 22 }},
		{"a write before its begin", "linearizable", func(s *story) {
			first := s.call("update 1a")
			first.began, first.ended = 101, 102
		}},
		{"an image without the change before", "linearizable", func(s *story) { s.call("find and update 0b").image.log = nil }},
		{"an image after without the own change", "linearizable", func(s *story) {
			s.call("find and update 0b").image = &returned{log: []string{"a"}, after: true}
		}},
		{"a swap that found another value", "linearizable", func(s *story) { s.call("update 1b").swapped = []string{} }},
		{"an error that says nothing", "error", func(s *story) { s.call("refused").silent = true }},
		{"an error without a why", "error", func(s *story) { s.call("refused").why = "" }},
		{"more messages than attempts", "error", func(s *story) { s.truth.arrivals["refused"] = 2 }},
		{"an unsent attempt that arrived", "error", func(s *story) { s.call("refused").unsent = 1 }},
		{"an outcome that was known is called unknown", "error", func(s *story) { s.call("refused").claim = unknown }},
		{"an inner error of a transaction that says nothing", "error", func(s *story) {
			c := s.call("refused")
			c.inner = append(c.inner, report{text: "x", silent: true})
		}},
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

func TestAGoroutineThatIsLeftIsFound(t *testing.T) {
	h := &history{}
	before := simcheck.Goroutines()
	stay := make(chan struct{})
	defer close(stay)
	go func() { <-stay }()
	compareGoroutines(h, before)
	if len(h.violations) != 1 || !strings.Contains(h.violations[0].Text, "TestAGoroutineThatIsLeftIsFound") {
		t.Errorf("%v", h.violations)
	}
}

func TestAConnectionThatIsLeftIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cast{rs: mongotest.RunReplicaSetT(t, 3, mongotest.InMemory()), history: &history{}}
		c.awaitNoConnections()
		if len(c.history.violations) != 0 {
			t.Errorf("without a connection: %v", c.history.violations)
		}
		conn, err := c.rs.Dialer().DialContext(t.Context(), "tcp", c.rs.Addr(0))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		synctest.Wait() // the server accepts it
		c.awaitNoConnections()
		if len(c.history.violations) != 1 {
			t.Errorf("with a connection: %v", c.history.violations)
		}
	})
}

func TestTheReplyToAnotherClientIsFound(t *testing.T) {
	a := &askers{history: &history{}, asked: make(map[int64]string)}
	reply := func(asker string) bson.Raw {
		b, err := bson.Marshal(bson.D{{Key: "ok", Value: 1}, {Key: askerField, Value: asker}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	none, err := bson.Marshal(bson.D{{Key: "ok", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		asked     string
		reply     bson.Raw
		succeeded bool
		wrong     bool
	}{
		{"me", reply("me"), true, false},
		{"me", reply("you"), true, true},
		{"me", none, true, true},
		{"me", none, false, false},
		{"me", nil, false, false},
		{"me", reply("you"), false, true},
		{"", none, true, false},
		{"", reply("you"), true, true},
	} {
		a.history.violations = nil
		if c.asked != "" {
			a.asked[int64(i)] = c.asked
		}
		a.check(int64(i), c.reply, c.succeeded)
		if (len(a.history.violations) > 0) != c.wrong {
			t.Errorf("asked %q, got %v: %v", c.asked, c.reply, a.history.violations)
		}
	}
}
