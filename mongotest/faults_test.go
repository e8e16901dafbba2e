package mongotest_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		rule     string
		fault    func(rs *mongotest.Deployment) mongotest.Fault
		applied  bool
		answered bool
		err      error // of the client's read, nil for a reply
		code     int64
	}{
		{"the zero fault does nothing", func(*mongotest.Deployment) mongotest.Fault { return mongotest.Fault{} }, true, true, nil, -1},
		{"a lost request", func(*mongotest.Deployment) mongotest.Fault { return mongotest.Fault{LoseRequest: true} }, false, false, io.EOF, 0},
		{"a lost reply", func(*mongotest.Deployment) mongotest.Fault { return mongotest.Fault{LoseReply: true} }, true, false, io.EOF, 0},
		{
			"a cut reply", func(*mongotest.Deployment) mongotest.Fault {
				return mongotest.Fault{LoseReply: true, CutReplyAfter: 30}
			},
			true, false, io.ErrUnexpectedEOF, 0,
		},
		{
			"an error instead", func(*mongotest.Deployment) mongotest.Fault {
				return mongotest.Fault{Error: &mongotest.CommandError{Code: 91, Message: "going down"}}
			}, false, true, nil, 91,
		},
		{
			"a step-down before", func(rs *mongotest.Deployment) mongotest.Fault {
				return mongotest.Fault{Before: func() { _ = rs.StepDown() }}
			}, false, true, nil, 10107,
		},
		{
			"a kill before", func(rs *mongotest.Deployment) mongotest.Fault {
				return mongotest.Fault{Before: func() { rs.Kill(0) }}
			}, false, false, errAny, 0,
		},
		{
			"a kill after the write was applied", func(rs *mongotest.Deployment) mongotest.Fault {
				return mongotest.Fault{AfterApply: func() { rs.Kill(0) }}
			}, true, false, errAny, 0,
		},
		{
			"a kill after the write was acknowledged", func(rs *mongotest.Deployment) mongotest.Fault {
				return mongotest.Fault{After: func() { rs.Kill(0) }}
			}, true, false, errAny, 0,
		},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				rs.Use(mongotest.AnyCommand, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
					if r.Command != "update" || !r.Application || r.Database != "test" || r.TxnNumber != 1 {
						t.Errorf("the request is %+v", r)
					}
					return test.fault(rs)
				}))
				c := dial(t, rs, 0)
				c.send(0, j("%s", retryable(1, "")))
				_, m, err := c.receive()
				switch {
				case err == nil && test.err != nil, !errors.Is(test.err, errAny) && !errors.Is(err, test.err):
					t.Errorf("the client got %v, want %v", err, test.err)
				case test.err == nil && number(m.Body, "code") != test.code:
					t.Errorf("the reply is %v, want code %d", m.Body, test.code)
				}
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				j := rs.Journal()
				if len(j) != 1 || j[0].Applied != test.applied || j[0].Answered != test.answered || j[0].Statement == nil {
					t.Errorf("the journal has %+v, want applied %t, answered %t", j, test.applied, test.answered)
				}
			})
		})
	}
}

// The network may deliver a message after the client has given its connection up, and sent the command again.
func TestALateMessage(t *testing.T) {
	for _, test := range []struct {
		rule string
		txn  int // of the retry
		n    int
		late func(mongotest.Entry) bool
	}{
		{"the same transaction number is recognised", 1, 1, func(e mongotest.Entry) bool { return e.Deduplicated }},
		{"an older transaction number is refused", 2, 1, func(e mongotest.Entry) bool { return e.ErrorCode == 225 }},
		{"without a number the message is executed", 0, 2, func(e mongotest.Entry) bool { return e.Applied }},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				arrival := make(chan struct{})
				rs.Use("update", mongotest.FaultOnce(mongotest.Fault{Late: arrival}))
				first, again := retryable(1, ""), retryable(test.txn, "")
				if test.txn == 0 {
					first = `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}], "$db": "test"}`
					again = first
				}
				c := dial(t, rs, 0)
				c.send(0, j("%s", first))
				if _, _, err := c.receive(); !errors.Is(err, io.EOF) {
					t.Errorf("the client got %v, want the connection's end", err)
				}
				dial(t, rs, 0).ok("%s", again)
				close(arrival)
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				j := rs.Journal()
				if len(j) != 2 || !j[0].Answered || j[1].Answered || !test.late(j[1]) || lastN(rs) != int64(test.n) {
					t.Errorf("n = %d, want %d; the journal has %+v", lastN(rs), test.n, j)
				}
			})
		})
	}
}

func TestALateMessageEndsWithItsServer(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Use("update", mongotest.FaultOnce(mongotest.Fault{Late: make(chan struct{})}))
		c := dial(t, rs, 0)
		c.send(0, j("%s", retryable(1, "")))
		_, _, _ = c.receive()
		rs.Kill(0)
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		if j := rs.Journal(); len(j) > 0 && j[0].Applied {
			t.Errorf("the journal has %+v", j)
		}
	})
}

// errAny stands for any error.
var errAny = errors.New("any error")

func TestAWriteThatWasNotReplicatedDiesWithItsPrimary(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		release := rs.Use("update", mongotest.Always(mongotest.Fault{AfterApply: func() { rs.Kill(0) }}))
		c := dial(t, rs, 0)
		c.send(0, j("%s", retryable(1, `, "writeConcern": {"w": 1}`)))
		_, _, _ = c.receive()
		release()
		p := must[int](t)(rs.WaitPrimary(context.Background()))
		dial(t, rs, p).ok("%s", retryable(1, ""))
		rs.Restart(0)
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		if n := lastN(rs); n != 1 || !rs.Journal()[0].RolledBack {
			t.Errorf("n = %d, want 1 and a rolled back attempt:\n%s", n, rs.Dump())
		}
	})
}

func TestACallbackThatEndsItsGoroutineHoldsNothing(t *testing.T) { // as t.Fatal does
	end := func(*mongotest.Request) bool { runtime.Goexit(); return true }
	for name, m := range map[string]mongotest.Middleware{
		"Before":     mongotest.Always(mongotest.Fault{Before: runtime.Goexit}),
		"AfterApply": mongotest.Always(mongotest.Fault{AfterApply: runtime.Goexit}),
		"After":      mongotest.Always(mongotest.Fault{After: runtime.Goexit}),
		"While":      mongotest.While(end, mongotest.Fault{}),
		"Decide":     mongotest.Decide(func(r *mongotest.Request) mongotest.Fault { end(r); return mongotest.Fault{} }),
		"Middleware": func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			defer runtime.Goexit()
			return next(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				remove := rs.Use("update", m)
				c := dial(t, rs, 0)
				c.send(0, j("%s", retryable(1, "")))
				if _, _, err := c.receive(); !errors.Is(err, io.EOF) {
					t.Errorf("the client got %v, want the connection's end", err)
				}
				remove()
				must[any](t)(nil, rs.WaitIdle(within(t)))
				dial(t, rs, 0).ok("%s", retryable(2, `, "writeConcern": {"w": 3, "wtimeout": 1000}`))
			})
		})
	}
}

func TestAPipesConditionThatEndsItsGoroutineHoldsNothing(t *testing.T) {
	failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
		p.Expect("find", func(*mongotest.Request) bool { runtime.Goexit(); return true })
		c := dialAt(t, p.Dialer().DialContext, p.Addr())
		c.send(0, j(`{"find": "c", "$db": "test"}`))
		if _, _, err := c.receive(); !errors.Is(err, io.EOF) {
			t.Errorf("the client got %v, want the connection's end", err)
		}
	})
	if len(failures) != 1 || !strings.Contains(failures[0], "find did not come") {
		t.Error(failures)
	}
}

func TestSilentFaults(t *testing.T) {
	for _, fault := range []mongotest.Fault{{LoseRequest: true, Silent: true}, {LoseReply: true, Silent: true, CutReplyAfter: 3}} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			rs.Use("ping", mongotest.Always(fault))
			c := dial(t, rs, 0)
			c.send(0, j(`{"ping": 1, "$db": "admin"}`))
			c.send(0, j(`{"ping": 1, "$db": "admin"}`))
			if !c.silent(time.Hour) {
				t.Error("the connection is not silent")
			}
			must[any](t)(nil, rs.WaitIdle(context.Background()))
		})
	}
}

func TestDelayAndLatencyRunOnTheFakeClock(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Use(mongotest.AnyCommand, mongotest.Always(mongotest.Fault{Delay: time.Hour}))
		began := time.Now()
		c := dial(t, rs, 0)
		c.send(0, j(`{"ping": 1, "$db": "admin"}`))
		if _, _, err := c.receive(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < time.Hour+3*time.Second || took > time.Hour+6*time.Second {
			t.Errorf("it took %v, want an hour and three times 1s to 2s", took)
		}
	}, mongotest.Latency(time.Second, 2*time.Second))
}

func TestFailPoint(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok(`{"hello": 1, "client": {"application": {"name": "app"}}, "$db": "admin"}`)
	configure := func(mode, data string) {
		c.ok(`{"configureFailPoint": "failCommand", "mode": %s, "data": {"failCommands": ["insert", "find"], %s}, "$db": "admin"}`, mode, data)
	}
	for i, test := range []struct {
		rule, mode, data string
		want             []int64 // the codes of successive inserts
		label            string
	}{
		{"times", `{"times": 2}`, `"errorCode": 6`, []int64{6, 6, -1}, "RetryableWriteError"},
		{"skip", `{"times": 1, "skip": 1}`, `"errorCode": 6`, []int64{-1, 6, -1}, "RetryableWriteError"},
		{"given labels replace the server's", `{"times": 1}`, `"errorCode": 6, "errorLabels": ["Frob"]`, []int64{6}, "Frob"},
		{"even none", `{"times": 1}`, `"errorCode": 6, "errorLabels": []`, []int64{6}, "!RetryableWriteError"},
		{"a code that is not retryable", `{"times": 1}`, `"errorCode": 8`, []int64{8}, "!RetryableWriteError"},
		{"another application", `{"times": 1}`, `"errorCode": 6, "appName": "other"`, []int64{-1}, ""},
		{"this application", `{"times": 1}`, `"errorCode": 6, "appName": "app"`, []int64{6}, "RetryableWriteError"},
		{"off", `"off"`, `"errorCode": 6`, []int64{-1}, ""},
	} {
		configure(test.mode, test.data)
		for k, want := range test.want {
			reply := c.run("%s", `{"insert": "c", "documents": [{}], `+session(10*i+k+1))
			name, unwanted := strings.CutPrefix(test.label, "!")
			if number(reply, "code") != want || want > 0 && labelled(reply, name) == unwanted {
				t.Errorf("%s: insert %d is answered %v, want %d and %s", test.rule, k, reply, want, test.label)
			}
		}
	}
	configure(`{"times": 1}`, `"writeConcernError": {"code": 91, "errmsg": "Replication is being shut down"}`)
	reply := c.ok("%s", `{"insert": "c", "documents": [{"_id": 1}], `+session(1000))
	if number(reply, "n") != 1 || number(reply, "writeConcernError", "code") != 91 || !labelled(reply, "RetryableWriteError") {
		t.Errorf("a writeConcernError: %v", reply)
	}
	configure(`{"times": 1}`, `"closeConnection": true`)
	c.send(0, j(`{"find": "c", "$db": "test"}`))
	if _, _, err := c.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("closeConnection: %v", err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	for name, run := range map[string]struct {
		test func(t *testing.T, f func(t *testing.T))
		opts []mongotest.Option
	}{
		"tcp":    {func(t *testing.T, f func(t *testing.T)) { f(t) }, nil},
		"memory": {synctest.Test, []mongotest.Option{mongotest.InMemory()}}, // which waits for all goroutines
	} {
		t.Run(name, func(t *testing.T) {
			run.test(t, func(t *testing.T) {
				rs := must[*mongotest.Deployment](t)(mongotest.RunReplicaSet(3, run.opts...))
				c := dial(t, rs, 0)
				c.send(0, j(`{"hello": 1, "topologyVersion": %s, "maxAwaitTimeMS": 100000, "$db": "admin"}`,
					known(t, c.ok(`{"hello": 1, "$db": "admin"}`))))
				rs.Isolate(1)
				rs.Partition([]int{0}, []int{2})
				dial(t, rs, 0).send(0, j(`%s}`, inc))
				must[any](t)(nil, rs.Close())
				must[any](t)(nil, rs.Close())
				if _, err := rs.Dialer().DialContext(context.Background(), "tcp", rs.Addr(0)); err == nil {
					t.Error("a closed set was reached")
				}
			})
		})
	}
}

func TestOptionsThatContradict(t *testing.T) {
	for want, opts := range map[string][]mongotest.Option{
		"SetName: the name is empty":                      {mongotest.SetName("")},
		"Latency needs InMemory":                          {mongotest.Latency(time.Second, 2*time.Second)},
		"ElectionTimeout(0s): it must be positive":        {mongotest.ElectionTimeout(0)},
		"ReplicationDelay(-1ns): it must not be negative": {mongotest.ReplicationDelay(-1)},
		"JournalLimit(-2): it must not be negative":       {mongotest.JournalLimit(-2)},
		"TranscriptLimit(-3): it must not be negative":    {mongotest.TranscriptLimit(-3)},
		"one of the options is nil":                       {mongotest.InMemory(), nil},
		"Member(0): one of the options is nil":            {mongotest.Member(0, nil)},
		"Accept: listener 0 is nil":                       {mongotest.Listen("127.0.0.1:1"), mongotest.Accept(nil)},
		"WithProcesses: IsSelf or Join is nil":            {mongotest.Uninitiated(), mongotest.Listen("127.0.0.1:1"), mongotest.WithProcesses(mongotest.Processes{})},
	} {
		if _, err := mongotest.RunReplicaSet(1, opts...); err == nil || err.Error() != "mongotest: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestWhatCannotRunFailsTheTest(t *testing.T) {
	r := &tester{}
	mongotest.RunReplicaSetT(r, 0)
	mongotest.RunReplicaSetT(r, 51)
	mongotest.RunStandaloneT(r, mongotest.Uninitiated())
	mongotest.RunShardedT(r, 3, 0)
	mongotest.RunShardedT(r, 3, 1, mongotest.Uninitiated())
	mongotest.RunBlackPipeT(r, mongotest.ExpectTimeout(0))
	mongotest.RunBlackPipeT(r, nil)
	mongotest.RunProxyT(r, "http://a")
	want := []string{
		"mongotest: a replica set has 1 to 50 members; found 0",
		"mongotest: a replica set has 1 to 50 members; found 51",
		"mongotest: Uninitiated is an option of replica sets only",
		"mongotest: a sharded cluster has at least 1 mongos; found 0",
		"mongotest: Uninitiated is an option of replica sets only",
		"mongotest: ExpectTimeout(0s): it must be positive",
		"mongotest: one of the options is nil",
		"mongotest: RunProxy: the target must be host:port or begin with mongodb://",
	}
	if got := r.take(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
