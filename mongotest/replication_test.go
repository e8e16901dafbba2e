package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// bubble runs a test against a replica set of three, in memory and on a fake clock.
func bubble(t *testing.T, test func(t *testing.T, rs *mongotest.Deployment), opts ...mongotest.Option) {
	t.Helper()
	bubbleOf(t, 3, test, opts...)
}

// bubbleOf is bubble for another number of members.
func bubbleOf(t *testing.T, members int, test func(t *testing.T, rs *mongotest.Deployment), opts ...mongotest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, mongotest.RunReplicaSetT(t, members, append(opts, mongotest.InMemory())...))
	})
}

// bubbleSharded is bubble for a sharded cluster.
func bubbleSharded(t *testing.T, mongos int, test func(t *testing.T, rs *mongotest.Deployment), opts ...mongotest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, mongotest.RunShardedT(t, 3, mongos, append(opts, mongotest.InMemory())...))
	})
}

// pass lets fake time go by.
func pass(d time.Duration) { <-time.After(d) }

const inc = `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"n": 1}}, "upsert": true}], "$db": "test"`

// retryable is an inc with a transaction number.
func retryable(txn int, more string) string {
	return fmt.Sprintf(`%s, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": `+
		`{"$numberLong": "%d"}%s}`, inc, txn, more)
}

// lastN returns the counter of the only document, as a majority has it; 0 if there is none.
func lastN(rs *mongotest.Deployment) int64 {
	docs := rs.ReadAll("test.c")
	if len(docs) == 0 {
		return 0
	}
	return number(docs[0], "n")
}

// labelled reports whether a reply has an error label.
func labelled(reply bson.Raw, label string) bool {
	return strings.Contains(reply.Lookup("errorLabels").String(), `"`+label+`"`)
}

func TestWriteConcern(t *testing.T) {
	for _, test := range []struct {
		rule, concern string
		isolate       []int
		code          int64 // of the write concern error, -1 for none
		took          time.Duration
	}{
		{"the default is a majority, which two of three are", `{}`, []int{2}, -1, 0},
		{"w:1 waits for nobody", `{"w": 1}`, []int{1, 2}, -1, 0},
		{"w:3 waits for all, until its time is up", `{"w": 3, "wtimeout": 500}`, []int{2}, 64, 500 * time.Millisecond},
		{"a majority that is not there", `{"w": "majority", "wtimeout": 100}`, []int{1, 2}, 64, 100 * time.Millisecond},
		{"w:4 of three is refused at once", `{"w": 4}`, nil, 100, 0},
		{"an unknown mode", `{"w": "frob"}`, nil, 79, 0},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				c := dial(t, rs, 0)
				for _, m := range test.isolate {
					rs.Isolate(m)
				}
				began := time.Now()
				reply := c.ok(`%s, "writeConcern": %s}`, inc, test.concern)
				if code := number(reply, "writeConcernError", "code"); code != test.code {
					t.Errorf("the write concern error's code is %d, want %d: %v", code, test.code, reply)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
			})
		})
	}
}

func TestReplicationDelayIsWaitedForByMajority(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		began := time.Now()
		c.ok(`%s, "writeConcern": {"w": 1}}`, inc)
		if took := time.Since(began); took != 0 {
			t.Errorf("w:1 took %v", took)
		}
		if n := lastN(rs); n != 0 {
			t.Errorf("before it is replicated a majority has n = %d", n)
		}
		c.ok(`%s}`, inc)
		if took := time.Since(began); took != 40*time.Millisecond {
			t.Errorf("w:majority took %v, want the delay of 40ms", took)
		}
		if n := lastN(rs); n != 2 {
			t.Errorf("n = %d, want 2", n)
		}
	}, mongotest.ReplicationDelay(40*time.Millisecond))
}

func TestUnreplicatedWriteIsRolledBack(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx := context.Background()
		c := dial(t, rs, 0)
		c.ok(`%s}`, inc)
		must[any](t)(nil, rs.WaitIdle(ctx))
		rs.Partition([]int{0}, []int{1, 2})
		c.ok("%s", retryable(1, `, "writeConcern": {"w": 1}`))
		c.ok(`{"create": "gone", "writeConcern": {"w": 1}, "$db": "test"}`)
		c.ok(`{"drop": "c", "writeConcern": {"w": 1}, "$db": "test"}`)
		pass(12 * time.Second)
		if p, term := rs.Primary(), rs.Term(); p != 1 || term != 2 {
			t.Fatalf("after the election timeout the primary is %d in term %d, want 1 in term 2", p, term)
		}
		reply := c.run(`%s}`, inc)
		if number(reply, "code") != 10107 || reply.Lookup("topologyVersion").Type != bson.TypeEmbeddedDocument {
			t.Errorf("the old primary answers %v, want 10107 with a topologyVersion", reply)
		}
		rs.Heal()
		if err := rs.WaitIdle(ctx); err != nil {
			t.Fatal(err)
		}
		if n := lastN(rs); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
		rolledBack := 0
		for _, e := range rs.Journal() {
			if e.RolledBack {
				rolledBack++
			}
		}
		if rolledBack != 3 {
			t.Errorf("the journal has %d entries that were rolled back, want 3:\n%s", rolledBack, rs.Dump())
		}
		// Its record was rolled back with the write, so the statement is executed now, once.
		d := dial(t, rs, 1)
		for range 2 {
			d.ok("%s", retryable(1, ""))
		}
		if n := lastN(rs); n != 2 {
			t.Errorf("after the retry n = %d, want 2", n)
		}
		must[any](t)(nil, rs.WaitIdle(ctx))
		old := dial(t, rs, 0).ok(`{"find": "c", "$db": "test", "$readPreference": {"mode": "secondary"}}`)
		if number(old, "cursor", "firstBatch", "0", "n") != 2 {
			t.Errorf("the old primary has %v, want n = 2", old)
		}
	}, mongotest.Member(2, mongotest.Priority(0)))
}

func TestStepDownWhileWaitingForTheWriteConcern(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		first := func(r *mongotest.Request) bool { return r.TxnNumber == 1 && r.Member == 0 }
		rs.Use("update", mongotest.While(first, mongotest.Fault{AfterApply: func() { must[any](t)(nil, rs.StepDown()) }}))
		reply := dial(t, rs, 0).ok("%s", retryable(1, ""))
		if number(reply, "writeConcernError", "code") != 11602 || !labelled(reply, "RetryableWriteError") {
			t.Errorf("the reply is %v, want a write concern error 11602 with the label", reply)
		}
		p := must[int](t)(rs.WaitPrimary(context.Background()))
		again := dial(t, rs, p).ok("%s", retryable(1, ""))
		if again.Lookup("retriedStmtIds", "0").Type != bson.TypeInt32 || lastN(rs) != 1 {
			t.Errorf("the retry is answered %v and n = %d, want retriedStmtIds and 1", again, lastN(rs))
		}
	})
}

func TestAnIsolatedPrimaryInterruptsItsWritesAndAnswersAfterwards(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		release := rs.Use("update", mongotest.Always(mongotest.Fault{Before: func() { rs.Isolate(0) }}))
		c.send(0, j("%s", retryable(1, "")))
		if !c.silent(time.Minute) {
			t.Fatal("an isolated member answered")
		}
		release()
		rs.Heal()
		_ = c.conn.SetReadDeadline(time.Time{})
		_, m, err := c.receive()
		if err != nil || number(m.Body, "writeConcernError", "code") != 11602 {
			t.Errorf("after healing came %v, %v, want a write concern error 11602", m.Body, err)
		}
		if err := rs.WaitIdle(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := lastN(rs); n != 0 {
			t.Errorf("n = %d, want 0 because the write was rolled back", n)
		}
	})
}

func TestDialToAnIsolatedMemberWaits(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Isolate(1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		began := time.Now()
		if _, err := rs.Dialer().DialContext(ctx, "tcp", rs.Addr(1)); err == nil || time.Since(began) != time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		go func() {
			pass(time.Second)
			rs.Heal()
		}()
		dial(t, rs, 1).ok(`{"ping": 1, "$db": "admin"}`)
	})
}

func TestKilledMemberComesBackWithItsData(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`%s}`, inc)
		rs.Kill(2)
		c.ok(`%s}`, inc)
		rs.Kill(1)
		if _, err := rs.Dialer().DialContext(context.Background(), "tcp", rs.Addr(1)); err == nil {
			t.Error("a dead member was reached")
		}
		pass(12 * time.Second)
		if p := rs.Primary(); p != -1 {
			t.Errorf("the primary is %d, though one of three is no majority", p)
		}
		reply := c.run(`{"find": "c", "$db": "test"}`)
		if number(reply, "code") != 13435 {
			t.Errorf("a read of what was the primary gives %v, want 13435", reply)
		}
		rs.Restart(2)
		rs.Restart(1)
		if p := must[int](t)(rs.WaitPrimary(context.Background())); p == 2 {
			t.Error("a member that had missed a write was elected")
		}
		if n := lastN(rs); n != 2 {
			t.Errorf("n = %d, want 2", n)
		}
	})
}

func TestReadConcernMajoritySeesOnlyWhatIsCommitted(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "c", "documents": [{"_id": 1, "n": 1}, {"_id": 2, "n": 2}], "$db": "test"}`)
		rs.Partition([]int{0}, []int{1, 2})
		c.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 9}}}], "$db": "test", "writeConcern": {"w": 1}}`)
		c.ok(`{"delete": "c", "deletes": [{"q": {"_id": 2}, "limit": 1}], "$db": "test", "writeConcern": {"w": 1}}`)
		c.ok(`{"insert": "c", "documents": [{"_id": 3}], "$db": "test", "writeConcern": {"w": 1}}`)
		for level, want := range map[string]string{"local": "[9 -1]", "majority": "[1 2]"} {
			reply := c.ok(`{"find": "c", "readConcern": {"level": "%s"}, "$db": "test"}`, level)
			got := fmt.Sprint([]int64{number(reply, "cursor", "firstBatch", "0", "n"), number(reply, "cursor", "firstBatch", "1", "n")})
			if got != want {
				t.Errorf("%s sees %s, want %s", level, got, want)
			}
		}
	})
}

func TestOnlyCommittedWritesOfItsTermCommit(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		for range 20 {
			must[any](t)(nil, rs.StepDown())
			must[int](t)(rs.WaitPrimary(context.Background()))
			dial(t, rs, rs.Primary()).ok(`%s}`, inc)
		}
		if n, term := lastN(rs), rs.Term(); n != 20 || term != 21 {
			t.Errorf("n = %d in term %d, want 20 in term 21", n, term)
		}
	})
}

func TestARetryAfterAFailoverIsNotExecutedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		dial(t, rs, rs.Primary()).ok("%s", retryable(1, ""))
		must[any](t)(nil, rs.StepDown())
		p := must[int](t)(rs.WaitPrimary(context.Background()))
		dial(t, rs, p).ok("%s", retryable(1, ""))
		if n := lastN(rs); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
	})
}
