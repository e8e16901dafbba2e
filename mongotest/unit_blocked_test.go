package mongotest_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// begin sends a command that a transaction is expected to keep waiting, and returns where its reply comes, nil if the connection ends first.
func (p *players) begin(who, command string) <-chan bson.Raw {
	p.t.Helper()
	c, full := p.command(who, command)
	answered := make(chan bson.Raw, 1)
	c.send(0, j("%s", full))
	go func() {
		_, m, _ := c.receive()
		answered <- m.Body
	}()
	synctest.Wait()
	if len(answered) > 0 {
		p.t.Fatalf("%s is answered %v before the transaction ended", command, <-answered)
	}
	return answered
}

// merging is a $merge of the collection s into c.
func merging(how string) string {
	return fmt.Sprintf(`{"aggregate": "s", "pipeline": [{"$sort": {"_id": 1}}, {"$merge": {"into": "c", %s}}], "cursor": {}}`, how)
}

// A transaction that holds one of a command's documents delays the rest of the command. What it wrote before is there, and it goes on
// with what there is when the transaction has ended.
func TestACommandWaitsInTheMiddle(t *testing.T) {
	const three = `{"insert": "c", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 1}, {"_id": 3, "n": 1}]`
	for _, test := range []struct {
		rule, before, held, command, middle, end, want, left string
	}{
		{"insert, committed", "", "PUT 2 5", three + `}`, "1:1", "COMMIT", "write error 11000", "1:1 2:5"},
		{"insert, aborted", "", "PUT 2 5", three + `}`, "1:1", "ABORT", "n 3", "1:1 2:1 3:1"},
		{"insert, unordered", "", "PUT 2 5", three + `, "ordered": false}`, "1:1", "COMMIT", "write error 11000", "1:1 2:5 3:1"},
		{
			"update of many", three + `}`, "SET 2 5", `{"update": "c", "updates": [{"q": {"n": 1}, "u": {"$inc": {"n": 1}}, "multi": true}]}`,
			"1:2 2:1 3:1", "COMMIT", "n 2", "1:2 2:5 3:2",
		},
		{
			"two statements", three + `}`, "SET 2 5", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}}, {"q": {}, "u": {"$inc": {"n": 1}}, "multi": true}]}`,
			"1:3 2:1 3:1", "COMMIT", "n 4", "1:3 2:6 3:2",
		},
		{"delete of many", three + `}`, "SET 2 5", `{"delete": "c", "deletes": [{"q": {"n": 1}, "limit": 0}]}`, "2:1 3:1", "COMMIT", "n 2", "2:5"},
		{"delete of many, aborted", three + `}`, "SET 2 5", `{"delete": "c", "deletes": [{"q": {"n": 1}, "limit": 0}]}`, "2:1 3:1", "ABORT", "n 3", ""},
		{"merge, replace", three + `}`, "SET 2 5", merging(`"whenMatched": "replace"`), "1:9 2:1 3:1", "COMMIT", "", "1:9 2:9 3:9 4:9"},
		{"merge, merge", three + `}`, "SET 2 5", merging(`"whenMatched": "merge"`), "1:9 2:1 3:1", "ABORT", "", "1:9 2:9 3:9 4:9"},
		{"merge, a pipeline", three + `}`, "SET 2 5", merging(`"whenMatched": [{"$set": {"n": {"$add": ["$n", "$$new.n"]}}}]`), "1:10 2:1 3:1", "COMMIT", "", "1:10 2:14 3:10 4:9"},
		{"merge, a pipeline, aborted", three + `}`, "SET 2 5", merging(`"whenMatched": [{"$set": {"n": {"$add": ["$n", "$$new.n"]}}}]`), "1:10 2:1 3:1", "ABORT", "", "1:10 2:10 3:10 4:9"},
		{"merge, discard, matched later", "PUT 1 1", "PUT 2 5", merging(`"whenMatched": "replace", "whenNotMatched": "discard"`), "", "", "", "1:9"},
		{"merge, fail", "", "PUT 2 5", merging(`"whenMatched": "fail"`), "1:9", "COMMIT", "11000", "1:9 2:5 3:9 4:9"},
		{"merge, fail, aborted", "", "PUT 2 5", merging(`"whenMatched": "fail"`), "1:9", "ABORT", "", "1:9 2:9 3:9 4:9"},
		{"merge, keepExisting", "", "PUT 2 5", merging(`"whenMatched": "keepExisting"`), "1:9", "COMMIT", "", "1:9 2:5 3:9 4:9"},
		{"merge, not matched: fail", three + `}`, "DEL 2", merging(`"whenNotMatched": "fail"`), "1:9 2:1 3:1", "COMMIT", "13113", "1:9 3:9"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				p := newPlayers(t, rs)
				p.run("-", `{"insert": "s", "documents": [{"_id": 1, "n": 9}, {"_id": 2, "n": 9}, {"_id": 3, "n": 9}, {"_id": 4, "n": 9}]}`)
				p.run("-", `{"create": "c"}`)
				if test.before != "" {
					p.run("-", expand(test.before))
				}
				p.play("A+ | " + test.held + " | n 1")
				if test.middle == "" {
					p.play("W. | " + test.command + " | " + test.want + "\n- | FIND | " + test.left)
					return
				}
				answered := p.begin("W.", test.command)
				p.play("- | FIND | " + test.middle + "\nA | " + test.end + " | ok")
				if got := brief(<-answered); got != test.want {
					t.Errorf("answered %q, want %q", got, test.want)
				}
				p.play("- | FIND | " + test.left)
			})
		})
	}
}

// waitingInsert is an insert of which a transaction that has written 2 lets only the first document be written.
func waitingInsert(t *testing.T, test func(t *testing.T, p *players, answered <-chan bson.Raw), more string, opts ...mongotest.Option) {
	t.Helper()
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 0 0 | n 1\nA+ | PUT 2 5 | n 1")
		test(t, p, p.begin("W.", inserting(more)))
	}, opts...)
}

func inserting(more string) string {
	return `{"insert": "c", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 1}, {"_id": 3, "n": 1}]` + more + `}`
}

const firstNumber = `, "txnNumber": {"$numberLong": "1"}`

// A retryable insert whose client is gone in the middle is retried while it waits, or after it: each document is there once.
func TestAnInsertIsRetriedInTheMiddle(t *testing.T) {
	const more = firstNumber + `, "comment": "W"`
	waitingInsert(t, func(t *testing.T, p *players, _ <-chan bson.Raw) {
		_ = p.clients["W"].conn.Close()
		delete(p.clients, "W")
		again := p.begin("W.", inserting(more))
		p.play("A | ABORT | ok")
		reply := <-again
		if number(reply, "n") != 3 || number(reply, "retriedStmtIds", "0") != 0 {
			t.Errorf("the retry is answered %v", reply)
		}
		p.play("- | FIND | 0:0 1:1 2:1 3:1")
		synctest.Wait() // until the journal has what the first attempt wrote, which ends without an answer
		applied := make(map[int32]int)
		for _, e := range p.rs.Journal() {
			if e.Key == "W" && e.Applied {
				applied[e.StatementID]++
			}
		}
		if !maps.Equal(applied, map[int32]int{0: 1, 1: 1, 2: 1}) {
			t.Errorf("the statements were applied so often: %v", applied)
		}
	}, more)
}

// A newer number of the session ends a command that waits in the middle, and so does a step-down.
func TestWhatEndsACommandInTheMiddle(t *testing.T) {
	for name, test := range map[string]struct {
		more    string
		happens func(p *players)
		want    string
	}{
		"a newer number": {firstNumber, func(p *players) {
			p.clients["X"] = dial(p.t, p.rs, 0)
			_, full := p.command("W.", `{"insert": "d", "documents": [{"_id": 1}], "txnNumber": {"$numberLong": "2"}}`)
			p.clients["X"].ok("%s", full)
			p.play("A | ABORT | ok")
		}, "225"},
		"a step-down":    {"", func(p *players) { must[any](p.t)(nil, p.rs.StepDown()) }, "189"},
		"the time limit": {`, "maxTimeMS": 300`, func(*players) { pass(299 * time.Millisecond) }, "50"},
		"killOp": {"", func(p *players) {
			pass(time.Second)
			ops, _ := p.run("-", `{"currentOp": 1, "$db": "admin"}`).Lookup("inprog").ArrayOK()
			values, _ := ops.Values()
			for _, op := range values {
				if _, err := op.Document().LookupErr("command", "insert"); err == nil {
					p.run("-", fmt.Sprintf(`{"killOp": 1, "op": %d, "$db": "admin"}`, number(op.Document(), "opid")))
				}
			}
		}, "11601"},
	} {
		t.Run(name, func(t *testing.T) {
			waitingInsert(t, func(t *testing.T, p *players, answered <-chan bson.Raw) {
				began := time.Now()
				test.happens(p)
				if got := brief(<-answered); got != test.want || time.Since(began) > 2*time.Second {
					t.Errorf("answered %q after %v, want %q", got, time.Since(began), test.want)
				}
				for _, e := range p.rs.Journal() {
					if e.Command == "insert" && e.LSID != "" && e.Namespace == "test.c" && fmt.Sprint(e.ErrorCode) == test.want && e.Applied != (e.StatementID == 0) {
						t.Errorf("the journal says %s", e.String())
					}
				}
			}, test.more)
		})
	}
}

// The end of a client ends what it waits for, although the transaction goes on.
func TestACommandInTheMiddleEndsWithItsClient(t *testing.T) {
	for _, test := range []struct{ command, left string }{
		{`{"insert": "c", "documents": [{"_id": 0, "n": 1}, {"_id": 9, "n": 1}, {"_id": 10, "n": 1}]}`, "0:1 1:1 2:1 3:1"},
		{`{"update": "c", "updates": [{"q": {}, "u": {"$inc": {"n": 1}}, "multi": true}]}`, "1:2 2:1 3:1"},
		{`{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`, "2:1 3:1"},
		{merging(`"whenMatched": "replace"`), "1:9 2:1 3:1"},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			p := newPlayers(t, rs)
			p.play(`- | {"insert": "s", "documents": [{"_id": 1, "n": 9}, {"_id": 2, "n": 9}, {"_id": 3, "n": 9}]} | n 3
			        - | {"insert": "c", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 1}, {"_id": 3, "n": 1}]} | n 3
			        A+ | SET 2 5 | n 1
			        A | PUT 9 5 | n 1`)
			p.begin("W.", test.command)
			_ = p.clients["W"].conn.Close()
			pass(time.Second)
			must[any](t)(nil, rs.WaitIdle(t.Context()))
			p.play("A | ABORT | ok\n- | FIND | " + test.left)
		})
	}
}

// What a command has written before it waits is replicated, and a majority's readers see it.
func TestWhatWasWrittenBeforeAWaitIsReplicated(t *testing.T) {
	waitingInsert(t, func(_ *testing.T, p *players, _ <-chan bson.Raw) {
		pass(time.Second)
		p.play(`- | {"find": "c", "sort": {"_id": 1}, "readConcern": {"level": "majority"}} | 0:0 1:1`)
		p.play("A | ABORT | ok")
	}, "")
}

// A step-down ends a command in the middle of one of its statements: the error is the command's. The statement has been applied in part.
func TestAStepDownEndsACommandInAStatement(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1\n- | PUT 2 1 | n 1\nA+ | SET 2 5 | n 1")
		answered := p.begin("W.", `{"update": "c", "updates": [{"q": {}, "u": {"$inc": {"n": 1}}, "multi": true}], "ordered": false, "comment": "W"}`)
		must[any](t)(nil, rs.StepDown())
		if got := brief(<-answered); got != "189" {
			t.Errorf("answered %q", got)
		}
		for _, e := range rs.Journal() {
			if e.Key == "W" && (!e.Applied || e.RolledBack || e.ErrorCode != 189) {
				t.Errorf("the journal says %s", e.String())
			}
		}
	})
}

// The time limit of a command is that of all its waits together.
func TestTheTimeLimitIsForAllWaits(t *testing.T) {
	waitingInsert(t, func(t *testing.T, p *players, answered <-chan bson.Raw) {
		began := time.Now()
		p.play("B+ | PUT 3 5 | n 1")
		pass(200 * time.Millisecond)
		p.play("A | ABORT | ok")
		if got := brief(<-answered); got != "50" || time.Since(began) != 300*time.Millisecond {
			t.Errorf("answered %q after %v", got, time.Since(began))
		}
		p.play("- | FIND | 0:0 1:1 2:1")
	}, `, "maxTimeMS": 300`)
}

// The fail point for writes counts also what was written before the command waited.
func TestTheFailPointForWritesCountsAllUnits(t *testing.T) {
	for _, test := range []struct {
		skip       int
		middle     string
		end, final string
	}{
		{1, "0:0 1:1", "ABORT", "0:0 1:1"},
		{2, "0:0 1:1", "ABORT", "0:0 1:1 2:1"},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			p := newPlayers(t, rs)
			p.play("- | PUT 0 0 | n 1\nA+ | PUT 2 5 | n 1")
			p.run("-", fmt.Sprintf(`{"configureFailPoint": "onPrimaryTransactionalWrite", "mode": {"skip": %d}, "data": {"failBeforeCommitExceptionCode": 6, "closeConnection": false}, "$db": "admin"}`, test.skip))
			answered := p.begin("W.", inserting(firstNumber))
			p.play("- | FIND | " + test.middle + "\nA | " + test.end + " | ok")
			if got := brief(<-answered); got != "6" {
				t.Errorf("answered %q", got)
			}
			p.play("- | FIND | " + test.final)
		})
	}
}

// slowly is an expression that is v, after a second.
func slowly(v string) string {
	return fmt.Sprintf(`{"$function": {"body": "function(v) { sleep(1000); return v }", "args": [%s], "lang": "js"}}`, v)
}

// What takes long is evaluated without the mutex, and once.
func TestWhatTakesLongIsEvaluatedOnce(t *testing.T) {
	const source = `{"insert": "s", "documents": [{"_id": 1, "n": 9}]}`
	for _, test := range []struct{ rule, before, command, left string }{
		{"update", `{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`, `{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"n": ` + slowly(`9`) + `}}]}]}`, "1:9"},
		{"merge, pipeline", source + "\n" + `{"insert": "c", "documents": [{"_id": 1, "n": 0}]}`, merging(`"whenMatched": [{"$set": {"n": ` + slowly(`9`) + `}}]`), "1:9"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
				p := newPlayers(t, rs)
				for command := range strings.Lines(test.before) {
					p.run("-", strings.TrimSpace(command))
				}
				began := time.Now()
				p.run("-", test.command)
				if took := time.Since(began); took != time.Second {
					t.Errorf("it took %v", took)
				}
				p.play("- | FIND | " + test.left)
			})
		})
	}
}

// A document that another has changed is matched again, also by a filter that takes long.
func TestAChangedDocumentIsMatchedAgainSlowly(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 0 | n 1\n- | PUT 2 0 | n 1\n- | PUT 3 0 | n 1\n- | PUT 4 0 | n 1\n- | PUT 5 0 | n 1\nA+ | SET 2 5 | n 1")
		c, full := p.command("W.", `{"update": "c", "updates": [{"q": {"$where": "sleep(100) || this.n < 8"}, "u": {"$inc": {"n": 1}}, "multi": true}]}`)
		c.send(0, j("%s", full))
		pass(time.Second)
		p.play("- | SET 3 8 | n 1\n- | SET 4 7 | n 1\n- | DEL 5 | n 1\nA | COMMIT | ok")
		_, m, err := c.receive()
		if err != nil || brief(m.Body) != "n 3" {
			t.Errorf("answered %v, %v", m.Body, err)
		}
		p.play("- | FIND | 1:1 2:6 3:8 4:8")
	})
}

// A write that goes on in a later term of the same primary is refused, because others may have been the primary between the two.
func TestAWriteEndsWithItsTerm(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1")
		answered := p.begin("W.", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": [{"$set": {"n": {"$add": [`+slowly("3")+", "+slowly("4")+`]}}}]}]}`)
		p.run("-", `{"replSetStepDown": 1, "secondaryCatchUpPeriodSecs": 0, "force": true, "$db": "admin"}`)
		pass(1500 * time.Millisecond)
		p.play("- | SET 1 2 | n 1") // the primary is there again
		if got := brief(<-answered); got != "189" {
			t.Errorf("answered %q", got)
		}
		p.play("- | FIND | 1:2")
	})
}

// A transaction that is aborted while its statement waits for the unlock of the server has ended.
func TestATransactionEndsInTheMiddleOfALockedStatement(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 0 | n 1\n- | PUT 2 0 | n 1\nA+ | SET 1 5 | n 1")
		answered := p.begin("A", `{"update": "c", "updates": [{"q": {"_id": 2}, "u": [{"$set": {"n": `+slowly("7")+`}}]}]}`)
		dial(t, rs, 0).ok(lockWrites)
		pass(2 * time.Second)
		p.clients["A"] = dial(t, rs, 0)
		p.play("A | ABORT | ok")
		dial(t, rs, 0).ok(unlockWrites)
		if got := brief(<-answered); got != "251 T" {
			t.Errorf("answered %q", got)
		}
		p.play("- | FIND | 1:0 2:0")
	})
}
