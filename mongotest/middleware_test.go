package mongotest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestMiddleware(t *testing.T) {
	answer := func(doc bson.D) mongotest.Middleware {
		return func(*mongotest.Request, mongotest.Handler) *mongotest.Reply { return mongotest.NewReply(doc) }
	}
	for _, test := range []struct {
		rule    string
		command string // of the middleware
		m       mongotest.Middleware
		run     string
		check   func(reply bson.Raw) bool
		stored  int
	}{
		{
			"it answers itself and nothing is executed", "insert", answer(bson.D{{Key: "n", Value: 7}}),
			`{"insert": "c", "documents": [{}], "$db": "test"}`,
			func(reply bson.Raw) bool { return number(reply, "n") == 7 && number(reply, "ok") == 1 }, 0,
		},
		{
			"it changes the reply of what was executed", "insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				reply := next(r)
				reply.Body = append(reply.Body[:len(reply.Body)-1:len(reply.Body)-1], "\x10extra\x00\x05\x00\x00\x00\x00"...)
				reply.Body[0] += 11
				return reply
			},
			`{"insert": "c", "documents": [{}], "$db": "test"}`,
			func(reply bson.Raw) bool { return number(reply, "n") == 1 && number(reply, "extra") == 5 }, 1,
		},
		{
			"it makes an error of what was executed", "insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				reply := next(r)
				reply.Error = &mongotest.CommandError{Code: 91, Message: "after all"}
				return reply
			},
			`{"insert": "c", "documents": [{}], "$db": "test"}`,
			func(reply bson.Raw) bool {
				return number(reply, "code") == 91 && number(reply, "ok") == 0 && number(reply, "n") == -1
			}, 1,
		},
		{
			"an empty reply is an error that says so", "insert", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply { return &mongotest.Reply{} },
			`{"insert": "c", "documents": [{}], "$db": "test"}`,
			func(reply bson.Raw) bool {
				return number(reply, "code") == 238 && strings.Contains(reply.Lookup("errmsg").StringValue(), "answered insert with a Reply that has nothing in it")
			}, 0,
		},
		{
			"it calls on", "insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply { return next(r) },
			`{"insert": "c", "documents": [{}], "$db": "test"}`, func(reply bson.Raw) bool { return number(reply, "n") == 1 }, 1,
		},
		{
			"it concerns its own command only", "find", answer(bson.D{}),
			`{"insert": "c", "documents": [{}], "$db": "test"}`, func(reply bson.Raw) bool { return number(reply, "n") == 1 }, 1,
		},
		{
			"the case of the name does not matter", "findandmodify", answer(bson.D{{Key: "value", Value: 9}}),
			`{"findAndModify": "c", "remove": true, "$db": "test"}`, func(reply bson.Raw) bool { return number(reply, "value") == 9 }, 0,
		},
		{
			"an older name is the same command", "dropIndexes", answer(bson.D{{Key: "n", Value: 7}}),
			`{"deleteIndexes": "c", "index": "*", "$db": "test"}`, func(reply bson.Raw) bool { return number(reply, "n") == 7 }, 0,
		},
		{
			"a command that does not exist can be made", "frobnicate", answer(bson.D{{Key: "frobbed", Value: 1}}),
			`{"frobnicate": 1, "$db": "test"}`, func(reply bson.Raw) bool { return number(reply, "frobbed") == 1 }, 0,
		},
		{
			"any command does not mean hello", mongotest.AnyCommand, answer(bson.D{{Key: "n", Value: 7}}),
			`{"hello": 1, "$db": "admin"}`, func(reply bson.Raw) bool { return number(reply, "n") == -1 }, 0,
		},
		{
			"any command", mongotest.AnyCommand, answer(bson.D{{Key: "n", Value: 7}}),
			`{"ping": 1, "$db": "admin"}`, func(reply bson.Raw) bool { return number(reply, "n") == 7 }, 0,
		},
		{
			"hello means its older names too", "hello", answer(bson.D{{Key: "n", Value: 7}}),
			`{"isMaster": 1, "$db": "admin"}`, func(reply bson.Raw) bool { return number(reply, "n") == 7 }, 0,
		},
	} {
		rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
		remove := rs.Use(test.command, test.m)
		if reply := dial(t, rs, 0).run("%s", test.run); !test.check(reply) {
			t.Errorf("%s: the reply is %v", test.rule, reply)
		}
		if got := len(rs.ReadAll("test.c")); got != test.stored {
			t.Errorf("%s: %d documents were stored, want %d", test.rule, got, test.stored)
		}
		remove()
		dial(t, rs, 0).ok(`{"insert": "d", "documents": [{"_id": 1}], "$db": "test"}`)
		rs.CheckCount(t, "test.d", 1)
	}
}

func TestMiddlewareThatCameFirstIsOutside(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	var order []string
	note := func(name string) mongotest.Middleware {
		return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			order = append(order, name)
			defer func() { order = append(order, name) }()
			return next(r)
		}
	}
	rs.Use("ping", note("a"))
	remove := rs.Use(mongotest.AnyCommand, note("b"))
	rs.Use("ping", note("c"))
	c := dial(t, rs, 0)
	c.ok(`{"ping": 1, "$db": "admin"}`)
	remove()
	remove()
	c.ok(`{"ping": 1, "$db": "admin"}`)
	if got := strings.Join(order, ""); got != "abccba"+"acca" {
		t.Errorf("the order was %s", got)
	}
}

func TestHowOftenAFaultHappens(t *testing.T) {
	refused := mongotest.Fault{Error: &mongotest.CommandError{Code: 91}}
	for _, test := range []struct {
		rule string
		m    mongotest.Middleware
		want []int64 // the codes of successive pings
	}{
		{"once", mongotest.FaultOnce(refused), []int64{91, -1, -1}},
		{"times", mongotest.Times(2, refused), []int64{91, 91, -1}},
		{"never", mongotest.Times(0, refused), []int64{-1, -1, -1}},
		{"always", mongotest.Always(refused), []int64{91, 91, 91}},
		{"while", mongotest.While(func(r *mongotest.Request) bool { return r.RequestID%2 == 0 }, refused), []int64{-1, 91, -1}},
	} {
		rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
		rs.Use("ping", test.m)
		c := dial(t, rs, 0)
		for i, want := range test.want {
			if got := number(c.run(`{"ping": 1, "$db": "admin"}`), "code"); got != want {
				t.Errorf("%s: ping %d has code %d, want %d", test.rule, i, got, want)
			}
		}
	}
}

func TestFailPointsByCall(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	must[any](t)(nil, rs.SetFailPoint(0, mongotest.FailPoint{
		Commands: []string{"ping"}, Skip: 1, Times: 1, ErrorCode: 91, ErrorLabels: []string{"Frob"}, Block: time.Millisecond,
	}))
	c := dial(t, rs, 0)
	for i, want := range []int64{-1, 91, -1} {
		if reply := c.run(`{"ping": 1, "$db": "admin"}`); number(reply, "code") != want || labelled(reply, "Frob") != (want == 91) {
			t.Errorf("ping %d: %v, want code %d", i, reply, want)
		}
	}
	insert := `{"insert": "c", "documents": [{}], "$db": "test"}`
	must[any](t)(nil, rs.SetFailPoint(0, mongotest.FailPoint{
		Commands: []string{"insert"}, WriteConcernError: &mongotest.CommandError{Code: 64, Message: "not yet"},
	}))
	for range 2 { // without Times it always acts
		if reply := c.ok("%s", insert); number(reply, "writeConcernError", "code") != 64 {
			t.Errorf("a write concern error: %v", reply)
		}
	}
	dial(t, rs, 1).ok(`{"ping": 1, "$db": "admin"}`) // the other members have none
	must[any](t)(nil, rs.Insert("test.c", j(`{}`)))  // nor does it concern the test's own hand
	c.ok(`{"configureFailPoint": "failCommand", "mode": "off", "$db": "admin"}`)
	if reply := c.ok("%s", insert); number(reply, "writeConcernError", "code") != -1 {
		t.Errorf("after off by command: %v", reply)
	}
	must[any](t)(nil, rs.SetFailPoint(0, mongotest.FailPoint{Name: mongotest.FailCommand, Commands: []string{"ping"}, CloseConnection: true}))
	rs.ClearFailPoint(0, mongotest.FailCommand)
	c.ok(`{"ping": 1, "$db": "admin"}`)
	must[any](t)(nil, rs.SetFailPoint(0, mongotest.FailPoint{Commands: []string{"findandmodify"}, ErrorCode: 91}))
	for _, name := range []string{"findandmodify", "findAndModify"} {
		if reply := c.run(`{"%s": "c", "remove": true, "$db": "test"}`, name); number(reply, "code") != 91 {
			t.Errorf("an older name in a fail point, %s: %v", name, reply)
		}
	}
	for name, p := range map[string]mongotest.FailPoint{
		"name": {Name: "hangForEver"}, "times": {Times: -1}, "probability": {Probability: 2}, "command": {Commands: []string{"insret"}},
	} {
		if err := rs.SetFailPoint(0, p); err == nil {
			t.Errorf("a bad %s was taken", name)
		}
	}
}

func TestCounters(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c, d := dial(t, rs, 0), dial(t, rs, 1)
		for range 3 {
			c.ok(`{"ping": 1, "$db": "admin"}`)
		}
		d.ok(`{"ping": 1, "$db": "admin"}`)
		d.run(`{"frobnicate": 1, "$db": "admin"}`)
		must[any](t)(nil, rs.Insert("test.c", j(`{}`))) // is not counted
		_ = dial(t, rs, 0).conn.Close()
		synctest.Wait()
		if got := rs.Counters(0); got.Commands["ping"] != 3 || len(got.Commands) != 1 || got.Opened != 2 || got.Current != 1 {
			t.Errorf("member 0 counted %+v", got)
		}
		if got := rs.Counters(1, 2); got.Commands["ping"] != 1 || got.Commands["frobnicate"] != 1 || got.Opened != 1 {
			t.Errorf("members 1 and 2 counted %+v", got)
		}
		rs.CheckCommands(t, "ping", 4)
		rs.Kill(0)
		rs.Restart(0)
		synctest.Wait()
		if got := rs.Counters(0); got.Commands["ping"] != 3 || got.Opened != 2 || got.Current != 0 {
			t.Errorf("after a restart member 0 has counted %+v", got)
		}
	})
}

func TestTranscript(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.TranscriptLimit(5))
	rs.Use("ping", mongotest.FaultOnce(mongotest.Fault{LoseReply: true, CutReplyAfter: 3}))
	lost := dial(t, rs, 0)
	lost.send(0, j(`{"ping": 1, "$db": "admin"}`))
	_, _, _ = lost.receive()
	c := dial(t, rs, 0)
	if got := rs.Transcript(); len(got) != 2 || got[0].Reply || got[0].Fault != "" || !got[1].Reply || got[1].Fault != "cut" {
		t.Errorf("a cut reply: %v", got)
	}
	for range 9 {
		c.ok(`{"ping": 1, "$db": "admin"}`)
	}
	c.sendBytes(0, raw(t, `{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`))
	_, _, _ = c.receive()
	got := rs.Transcript()
	if len(got) != 5 {
		t.Fatalf("%d messages are kept, want 5", len(got))
	}
	request, reply := got[3], got[4]
	if request.Reply || request.ConnID != 2 || request.RequestID != 10 || number(request.Body, "documents", "0", "_id") != 1 {
		t.Errorf("the request is %v", request)
	}
	if !reply.Reply || reply.ResponseTo != 10 || number(reply.Body, "n") != 1 || reply.Time.IsZero() {
		t.Errorf("the reply is %v", reply)
	}
	dump := rs.Dump()
	if !strings.Contains(dump, request.String()) || !strings.Contains(dump, "ping:10") || !json.Valid([]byte(reply.String())) {
		t.Errorf("the dump is %s", dump)
	}
}

func TestAFailedTestGetsTheDump(t *testing.T) {
	for _, failed := range []bool{true, false} {
		r := &tester{}
		rs := mongotest.RunReplicaSetT(r, 1, mongotest.InMemory(), mongotest.TranscriptLimit(10))
		dial(t, rs, 0).ok(`{"ping": 1, "$db": "admin"}`)
		if failed {
			r.Errorf("something")
		}
		r.end()
		if logged := strings.Join(r.logs, "\n"); strings.Contains(logged, `"ping"`) != failed {
			t.Errorf("failed %t: the log is %q", failed, logged)
		}
		if err := rs.Insert("test.c", j(`{}`)); err == nil {
			t.Error("the server is not closed")
		}
	}
}

func TestAServerAloneIsPrimaryAgainAtOnce(t *testing.T) {
	for name, rs := range map[string]*mongotest.Deployment{
		"set of one": mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), "standalone": mongotest.RunStandaloneT(t, mongotest.InMemory()),
	} {
		must[any](t)(nil, rs.Insert("test.c", j(`{"_id": 1}`)))
		rs.Kill(0)
		rs.Restart(0)
		if rs.Primary() != 0 {
			t.Errorf("%s: there is no primary", name)
		}
		dial(t, rs, 0).ok(`{"insert": "c", "documents": [{"_id": 2}], "$db": "test"}`)
		rs.CheckCount(t, "test.c", 2)
	}
}

func TestParallelServersHaveNothingInCommon(t *testing.T) {
	for i := range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
			p := mongotest.RunBlackPipeT(t, mongotest.InMemory())
			rs.Use("find", mongotest.Times(i, mongotest.Fault{Error: &mongotest.CommandError{Code: 91}}))
			p.Expect("find").Reply(bson.D{{Key: "n", Value: i}})
			c := dial(t, rs, 0)
			for k := range 8 {
				c.ok(`{"insert": "c", "documents": [{"_id": %d}], "$db": "test"}`, k)
				if failed := number(c.run(`{"find": "c", "$db": "test"}`), "code") == 91; failed != (k < i) {
					t.Errorf("find %d failed: %t", k, failed)
				}
			}
			rs.CheckCount(t, "test.c", 8)
			rs.CheckCommands(t, "find", 8)
			if got := dialAt(t, p.Dialer().DialContext, p.Addr()).ok(`{"find": "c", "$db": "test"}`); number(got, "n") != int64(i) {
				t.Errorf("the pipe answers %v", got)
			}
		})
	}
}

func TestEveryEntryOfTheJournalHasATerm(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		must[any](t)(nil, rs.StepDown())
		p := must[int](t)(rs.WaitPrimary(t.Context()))
		c := dial(t, rs, p)
		s, _ := watch(c, "test.c", "{}")
		c.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "test"}`, s.id)
		c.run(`{"insert": "c", "documents": [{}], "frob": 1, "$db": "test"}`)
		c.run(`{"find": "c", "filter": 1, "$db": "test"}`)
		dial(t, rs, 0).run(`{"insert": "c", "documents": [{}], "$db": "test"}`) // no primary any more
		rs.Use("delete", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 91}}))
		c.run(`{"delete": "c", "deletes": [{"q": {}, "limit": 1}], "$db": "test"}`)
		rs.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseRequest: true}))
		c.send(0, j(`%s}`, inc))
		_, _, _ = c.receive()
		journal := rs.Journal()
		for _, e := range journal {
			if e.Term != 2 {
				t.Errorf("the term is %d, want 2: %v", e.Term, &e)
			}
		}
		if len(journal) != 7 {
			t.Errorf("the journal has %d entries, want 7:\n%s", len(journal), rs.Dump())
		}
	})
}
