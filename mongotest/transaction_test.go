package mongotest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

func TestTransactions(t *testing.T) {
	for rule, script := range map[string]string{
		"its writes are its own until it is committed": `
			A+ | PUT 3 3 | n 1
			A  | SET 1 9 | n 1
			A  | DEL 2   | n 1
			A  | FIND    | 1:9 3:3
			-  | FIND    | 1:1 2:2
			A  | COMMIT  | ok
			-  | FIND    | 1:9 3:3`,
		"a command that the server does not know": `
			A+ | PUT 3 3        | n 1
			A  | {"fantasy": 1} | 59`,
		"an abort leaves nothing": `
			A+ | PUT 3 3 | n 1
			A  | SET 1 9 | n 1
			A  | ABORT   | ok
			-  | FIND    | 1:1 2:2`,
		"it sees the data as they were when it began": `
			A+ | FIND    | 1:1 2:2
			-  | SET 1 5 | n 1
			-  | DEL 2   | n 1
			-  | PUT 3 3 | n 1
			A  | FIND    | 1:1 2:2
			A  | COMMIT  | ok
			B+ | FIND    | 1:5 3:3`,
		"what another has written and not committed conflicts": `
			A+ | SET 1 5 | n 1
			B+ | SET 2 5 | n 1
			B  | SET 1 6 | 112 T
			B  | COMMIT  | 251 T
			A  | COMMIT  | ok
			-  | FIND    | 1:5 2:2`,
		"what was written since it began conflicts": `
			A+ | FIND    | 1:1 2:2
			-  | SET 1 5 | n 1
			A  | SET 1 6 | 112 T
			A  | FIND    | 251 T`,
		"what was deleted since it began conflicts": `
			A+ | FIND    | 1:1 2:2
			-  | DEL 1   | n 1
			A  | SET 1 6 | 112 T`,
		"an _id that another inserts conflicts": `
			A+ | PUT 3 3 | n 1
			B+ | PUT 3 4 | 112 T`,
		"an _id that was inserted since conflicts": `
			A+ | FIND    | 1:1 2:2
			-  | PUT 3 3 | n 1
			A  | PUT 3 4 | 112 T`,
		"a document may be changed more than once": `
			A+ | PUT 3 3 | n 1
			A  | SET 3 4 | n 1
			A  | SET 3 5 | n 1
			A  | DEL 3   | n 1
			A  | PUT 3 6 | n 1
			A  | COMMIT  | ok
			-  | FIND    | 1:1 2:2 3:6`,
		"a write error ends it": `
			A+ | PUT 3 3 | n 1
			A  | PUT 1 1 | write error 11000
			A  | COMMIT  | 251 T
			-  | FIND    | 1:1 2:2`,
		"a unique key that another uses conflicts": `
			-  | {"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n", "unique": true}]} | ok
			A+ | PUT 3 3 | n 1
			B+ | PUT 4 3 | 112 T
			A  | ABORT   | ok
			B+ | PUT 4 3 | n 1
			B  | COMMIT  | ok`,
		"a unique key that was taken since conflicts": `
			-  | {"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n", "unique": true}]} | ok
			A+ | FIND    | 1:1 2:2
			-  | PUT 3 3 | n 1
			A  | PUT 4 3 | 112 T`,
		"a unique key that it freed itself can be used again": `
			-  | {"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n", "unique": true}]} | ok
			A+ | DEL 1   | n 1
			A  | PUT 4 1 | n 1
			A  | COMMIT  | ok
			-  | FIND    | 2:2 4:1`,
		"findAndModify and aggregate are part of it": `
			A+ | {"findAndModify": "c", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}} | ok
			A  | {"aggregate": "c", "pipeline": [{"$match": {"n": 2}}], "cursor": {}}        | 1:2 2:2
			A  | {"aggregate": "c", "pipeline": [{"$limit": 1}, {"$lookup": {"from": "c", "pipeline": [], "as": "all"}}, {"$project": {"n": {"$sum": "$all.n"}}}], "cursor": {}} | 1:4
			-  | FIND    | 1:1 2:2
			A  | COMMIT  | ok
			-  | FIND    | 1:2 2:2`,
		"a commit may be repeated": `
			A+ | PUT 3 3 | n 1
			A  | COMMIT  | ok
			A  | COMMIT  | ok
			A  | ABORT   | 256
			A  | FIND    | 256
			-  | FIND    | 1:1 2:2 3:3`,
		"an aborted one stays aborted": `
			A+ | FIND    | 1:1 2:2
			A  | ABORT   | ok
			A  | COMMIT  | 251 T
			A  | ABORT   | 251 T
			A  | FIND    | 251 T`,
		"one that never began": `
			A  | FIND    | 251 T
			A  | COMMIT  | 251 T`,
		"the next one of a session ends the one before": `
			A+ | SET 1 5 | n 1
			A+ | FIND    | 1:1 2:2
			B+ | SET 1 6 | n 1`,
		"a retryable write of the session ends the one before": `
			A+ | SET 1 5 | n 1
			A. | {"insert": "c", "documents": [{"_id": 7, "n": 7}], "txnNumber": {"$numberLong": "2"}} | n 1
			-  | SET 1 6 | n 1`,
		"an older one is refused": `
			A+ | FIND    | 1:1 2:2
			A+ | FIND    | 1:1 2:2
			A. | {"find": "c", "txnNumber": {"$numberLong": "1"}, "autocommit": false} | 225`,
		"it begins once": `
			A+ | FIND    | 1:1 2:2
			A  | {"find": "c", "startTransaction": true} | 117 `,
		"what may not be part of it": `
			A+ | FIND | 1:1 2:2
			A  | {"count": "c"} | 263
			B+ | FIND | 1:1 2:2
			B  | {"drop": "c"} | 263
			C+ | {"find": "system.users", "$db": "admin"} | 263
			D+ | {"listCollections": 1} | 263`,
		"what may not begin it": `
			A+ | {"commitTransaction": 1, "$db": "admin"} | 263
			A+ | {"abortTransaction": 1, "$db": "admin"} | 263
			A+ | {"killCursors": "c", "cursors": [{"$numberLong": "1"}]} | 263
			A+ | FIND | 1:1 2:2
			A  | {"killCursors": "c", "cursors": [{"$numberLong": "1"}]} | ok`,
		"stages that tell of the server are none of it": `
			A+ | {"aggregate": "c", "pipeline": [{"$indexStats": {}}], "cursor": {}} | 263
			B+ | FIND | 1:1 2:2
			B  | {"aggregate": "c", "pipeline": [{"$collStats": {"count": {}}}], "cursor": {}} | 263
			B  | COMMIT | 251 T
			C+ | {"aggregate": 1, "pipeline": [{"$listLocalSessions": {}}], "cursor": {}} | 263`,
		"no writes to the server's own collections": `
			A+ | PUT 3 3 | n 1
			A  | {"insert": "system.js", "documents": [{"_id": 3}]} | 50791
			A  | COMMIT | 251 T
			B+ | {"findAndModify": "system.js", "query": {}, "remove": true} | 50791
			C+ | {"find": "system.js"} |
			C. | {"insert": "system.js", "documents": [{"_id": 3}]} | n 1`,
		"what is none of its statements leaves it open": `
			A+ | PUT 3 3 | n 1
			A. | {"insert": "c", "documents": [{"_id": 4}], "txnNumber": {"$numberLong": "1"}} | 72
			A  | COMMIT  | ok
			-  | FIND    | 1:1 2:2 3:3`,
		"a retryable write of its number when it has ended": `
			A+ | PUT 3 3 | n 1
			A  | COMMIT  | ok
			A. | {"insert": "c", "documents": [{"_id": 4}], "txnNumber": {"$numberLong": "1"}} | 72
			A+ | SET 1 5 | n 1
			A  | ABORT   | ok
			A. | {"insert": "c", "documents": [{"_id": 5}], "txnNumber": {"$numberLong": "2"}} | 72`,
		"read and write concern belong to its begin and its end": `
			A+ | {"find": "c", "readConcern": {"level": "snapshot"}} | 1:1 2:2
			A  | {"find": "c", "readConcern": {"level": "snapshot"}} | 72
			B+ | {"find": "c", "readConcern": {"level": "available"}} | 72
			C+ | {"insert": "c", "documents": [{"_id": 3}], "writeConcern": {"w": 1}} | 72
			D+ | PUT 3 3 | n 1
			D  | {"commitTransaction": 1, "$db": "admin", "writeConcern": {"w": "majority"}} | ok`,
		"what a command says of it must fit together": `
			A. | {"find": "c", "startTransaction": true, "txnNumber": {"$numberLong": "1"}} | 72
			A. | {"find": "c", "autocommit": false} | 72
			A. | {"find": "c", "startTransaction": true, "autocommit": true, "txnNumber": {"$numberLong": "1"}} | 72
			A. | {"find": "c", "startTransaction": false, "autocommit": false, "txnNumber": {"$numberLong": "1"}} | 72
			A. | {"commitTransaction": 1, "$db": "admin", "txnNumber": {"$numberLong": "1"}} | 50768`,
		"it makes collections and indexes": `
			A+ | {"create": "d"} | ok
			A  | {"createIndexes": "d", "indexes": [{"key": {"n": 1}, "name": "n", "unique": true}]} | ok
			A  | {"insert": "d", "documents": [{"_id": 1, "n": 1}]} | n 1
			A  | {"insert": "e", "documents": [{"_id": 1, "n": 1}]} | n 1
			-  | {"find": "d"} |
			A  | COMMIT | ok
			-  | {"find": "e"} | 1:1
			-  | {"insert": "d", "documents": [{"_id": 2, "n": 1}]} | write error 11000`,
		"no index on what there is": `
			A+ | {"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n"}]} | 263`,
		"no index on an empty collection that was there before": `
			-  | {"create": "d"} | ok
			A+ | {"createIndexes": "d", "indexes": [{"key": {"n": 1}, "name": "n"}]} | 263`,
		"an index that is there already is no new one": `
			-  | {"createIndexes": "d", "indexes": [{"key": {"n": 1}, "name": "n"}]} | ok
			A+ | {"createIndexes": "d", "indexes": [{"key": {"n": 1}, "name": "n"}]} | ok`,
		"no index on a collection of the transaction that has documents": `
			A+ | {"create": "d"} | ok
			A  | {"insert": "d", "documents": [{"_id": 1}]} | n 1
			A  | {"createIndexes": "d", "indexes": [{"key": {"n": 1}, "name": "n"}]} | 263`,
		"a collection that was there before is not created": `
			-  | {"create": "d"} | ok
			A+ | {"create": "d"} | 48`,
		"a collection of the transaction is not created again": `
			A+ | {"create": "d"} | ok
			A  | {"create": "d"} | 48
			A  | FIND | 251 T`,
		"a view that was there before is not created": `
			-  | {"create": "v", "viewOn": "c", "pipeline": []} | ok
			A+ | {"create": "v", "viewOn": "c", "pipeline": []} | 48`,
		"not what has another shape since it began": `
			A+ | {"find": "other"} |
			-  | {"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n"}]} | ok
			A  | FIND | 246 T`,
		"no writes to capped collections": `
			-  | {"create": "k", "capped": true, "size": 4096} | ok
			A+ | {"insert": "k", "documents": [{"_id": 1}]} | 263`,
		"a session's end is its end": `
			A+ | SET 1 5 | n 1
			-  | {"killSessions": [{"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}]} | ok
			A  | COMMIT  | 251 T
			B+ | SET 1 6 | n 1
			-  | {"killAllSessions": []} | ok
			B  | COMMIT  | 251 T`,
		"a fail point is no statement": `
			A+ | SET 1 5 | n 1
			-  | {"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {"failCommands": ["find"], "errorCode": 11600}, "$db": "admin"} | ok
			A  | FIND    | 11600 T
			A  | COMMIT  | ok
			-  | FIND    | 1:5 2:2`,
	} {
		t.Run(rule, func(t *testing.T) {
			p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()))
			p.play("- | PUT 1 1 | n 1\n- | PUT 2 2 | n 1")
			p.play(script)
		})
	}
}

func TestCursorsOfTransactions(t *testing.T) {
	p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()))
	p.play("- | PUT 1 1 | n 1\n- | PUT 2 2 | n 1\n- | PUT 3 3 | n 1")
	open := func(who string) string {
		id := number(p.run(who, `{"find": "c", "batchSize": 1}`), "cursor", "id")
		return fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1}`, id)
	}
	more := open("A+")
	p.play(`A  | ` + more + ` | 2:2
	        A. | ` + more + ` | 50740
	        -  | ` + more + ` | 50736
	        B. | ` + more + ` | 50738
	        A  | ` + more + ` | 3:3`)
	more = open("A.")
	p.play("A+ | " + more + " | 50739")
	more = open("-")
	p.play("A. | " + more + " | 50737")
	more = open("A+")
	p.play(`A  | COMMIT | ok
	        A. | ` + more + ` | 43`)
}

// TestKilledSessionsHaveNoCursors checks which cursors a command on sessions leaves.
func TestKilledSessionsHaveNoCursors(t *testing.T) {
	const a = `{"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`
	for _, test := range []struct {
		rule, command string
		a, b, none    string // the next batch of a cursor of either session and of none
	}{
		{"a session that is named", `{"killSessions": [` + a + `], "$db": "admin"}`, "43", "2:2", "2:2"},
		{"every session where none is named", `{"killSessions": [], "$db": "admin"}`, "43", "43", "2:2"},
		{"every session", `{"killAllSessions": [], "$db": "admin"}`, "43", "43", "2:2"},
		{"the end of a session is noticed later", `{"endSessions": [` + a + `], "$db": "admin"}`, "2:2", "2:2", "2:2"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()))
			p.play("- | PUT 1 1 | n 1\n- | PUT 2 2 | n 1")
			more := make(map[string]string)
			for _, who := range []string{"A.", "B.", "-"} {
				more[who] = fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c"}`, number(p.run(who, `{"find": "c", "batchSize": 1}`), "cursor", "id"))
			}
			p.play("- | " + test.command + " | ok\nA. | " + more["A."] + " | " + test.a + "\nB. | " + more["B."] + " | " + test.b + "\n- | " + more["-"] + " | " + test.none)
		})
	}
}

func TestSnapshotReads(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	p := newPlayers(t, rs)
	p.play("- | PUT 1 1 | n 1")
	reply := p.run("-", `{"find": "c", "readConcern": {"level": "snapshot"}}`)
	s, i, ok := reply.Lookup("cursor", "atClusterTime").TimestampOK()
	if brief(reply) != "1:1" || !ok {
		t.Fatalf("the first snapshot: %v", reply)
	}
	p.play("- | SET 1 2 | n 1\n- | PUT 2 2 | n 1")
	at := fmt.Sprintf(`"readConcern": {"level": "snapshot", "atClusterTime": {"$timestamp": {"t": %d, "i": %d}}}`, s, i)
	p.play(`- | {"find": "c", ` + at + `} | 1:1
	        - | {"aggregate": "c", "pipeline": [], "cursor": {}, ` + at + `} | 1:1
	        - | {"distinct": "c", "key": "n", ` + at + `} | ok
	        - | {"find": "c", "readConcern": {"level": "snapshot"}} | 1:2 2:2
	        - | {"count": "c", "readConcern": {"level": "snapshot"}} | 72
	        - | {"find": "c", "readConcern": {"level": "local", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}}}} | 72
	        - | {"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}}}} | 239
	        A+ | {"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": {"$timestamp": {"t": 1, "i": 1}}}} | 239 T`)
	if values := p.run("-", `{"distinct": "c", "key": "n", `+at+`}`).Lookup("values").String(); !strings.Contains(values, `"1"`) || strings.Contains(values, `"2"`) {
		t.Errorf("distinct at the snapshot: %s", values)
	}
}

// TestWritesWaitForTransactions runs an ordinary write into a transaction's way.
func TestWritesWaitForTransactions(t *testing.T) {
	for _, test := range []struct {
		rule, command, end string
		want, left         string
	}{
		{"until the commit", expand("SET 1 7"), "A | COMMIT | ok", "n 1", "1:7 2:2"},
		{"until the abort", expand("SET 1 7"), "A | ABORT | ok", "n 1", "1:7 2:2"},
		{"what it finds then counts", `{"update": "c", "updates": [{"q": {"n": 1}, "u": {"$set": {"n": 7}}}]}`, "A | COMMIT | ok", "n 0", "1:5 2:2"},
		{"a drop waits for everything", `{"drop": "c"}`, "A | COMMIT | ok", "ok", ""},
		{"a database waits for everything", `{"dropDatabase": 1}`, "A | COMMIT | ok", "ok", ""},
		{"an index waits for everything", `{"createIndexes": "c", "indexes": [{"key": {"n": 1}, "name": "n"}]}`, "A | ABORT | ok", "ok", "1:1 2:2"},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			p := newPlayers(t, rs)
			p.play("- | PUT 1 1 | n 1\n- | PUT 2 2 | n 1\nA+ | SET 1 5 | n 1\n" + `- | {"insert": "b", "documents": [{"_id": 1}]} | n 1`)
			answered := p.begin("W.", test.command)
			p.play("- | SET 2 2 | n 1") // others do not wait
			p.play(test.end)
			if got := brief(<-answered); got != test.want {
				t.Errorf("%s: answered %q, want %q", test.rule, got, test.want)
			}
			p.play("- | FIND | " + test.left)
			for _, e := range rs.Journal() {
				if e.LSID != "" && e.TxnNumber < 0 && (e.RolledBack || e.ErrorCode != 0 || e.Applied != (test.want != "n 0")) {
					t.Errorf("%s: the journal says %s", test.rule, e.String())
				}
			}
		})
	}
}

func TestWaitingForATransactionHasALimit(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1\nA+ | SET 1 5 | n 1")
		began := time.Now()
		p.play(`- | {"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 7}}}], "maxTimeMS": 300} | 50`)
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		p.play("A | COMMIT | ok\n- | FIND | 1:5")
	})
}

// A transaction that ends gives up its own locks, not those of another one.
func TestATransactionKeepsItsLocksWhenAnotherEnds(t *testing.T) {
	for _, end := range []string{"B | COMMIT | ok", "B | ABORT | ok", "B | SET 1 7 | 112 T"} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			p := newPlayers(t, rs)
			p.play("- | PUT 1 1 | n 1\n- | PUT 2 2 | n 1\nA+ | SET 1 5 | n 1\nB+ | SET 2 6 | n 1\n" + end)
			p.play("C+ | SET 1 7 | 112 T\nC+ | SET 2 7 | n 1\nA | COMMIT | ok\nC | COMMIT | ok\n- | FIND | 1:5 2:7")
		})
	}
}

func TestTransactionsDoNotLiveForEver(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1\nA+ | SET 1 5 | n 1")
		pass(59 * time.Second)
		p.play("A | FIND | 1:5")
		pass(time.Second)
		synctest.Wait()
		p.play(`A | COMMIT | 251 T
		        - | {"setParameter": 1, "transactionLifetimeLimitSeconds": 5, "$db": "admin"} | ok
		        A+ | SET 1 5 | n 1`)
		pass(5 * time.Second)
		synctest.Wait()
		p.play("A | COMMIT | 251 T\n- | FIND | 1:1")
	})
}

func TestTransactionsSurviveAFailover(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play(`-  | PUT 1 1 | n 1
		        A+ | SET 1 5 | n 1
		        A  | PUT 2 2 | n 1
		        B+ | PUT 3 3 | n 1
		        A  | COMMIT  | ok`)
		rs.Kill(0)
		next := newPlayers(t, rs)
		next.at = must[int](t)(rs.WaitPrimary(t.Context()))
		next.numbers = p.numbers
		next.play(`A | COMMIT | ok
		           A | ABORT  | 256
		           A | FIND   | 256
		           B | COMMIT | 251 T
		           - | FIND   | 1:5 2:2`)
		rs.Restart(0)
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		next.at, next.clients = 0, make(map[string]*rawClient)
		next.play(`- | {"find": "c", "$readPreference": {"mode": "secondary"}} | 1:5 2:2
		           A | COMMIT | 10107
		           A+ | {"find": "c", "$readPreference": {"mode": "secondary"}} | 10107 T`)
	})
}

func TestTransactionsAreRolledBackWhole(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1")
		rs.Partition([]int{0})
		p.play(`A+ | SET 1 4 | n 1
		        A  | SET 1 5 | n 1
		        A  | {"insert": "d", "documents": [{"_id": 2, "n": 2}]} | n 1
		        A  | {"commitTransaction": 1, "$db": "admin", "writeConcern": {"w": 1}} | ok
		        -  | FIND | 1:5`)
		pass(12 * time.Second)
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		p.play(`- | {"find": "c", "$readPreference": {"mode": "secondary"}} | 1:1
		        - | {"find": "d", "$readPreference": {"mode": "secondary"}} |`)
		undone := 0
		for _, e := range rs.Journal() {
			if e.RolledBack && e.Applied && e.TxnNumber == 1 {
				undone++
			}
		}
		if undone != 3 {
			t.Errorf("the journal has %d statements of the transaction that were rolled back, want 3", undone)
		}
		next := newPlayers(t, rs)
		next.at, next.numbers = must[int](t)(rs.WaitPrimary(t.Context())), p.numbers
		next.play("A | COMMIT | 251 T")
		for rs.Primary() != 0 { // the member where the commit was
			must[any](t)(nil, rs.StepDown())
			pass(time.Second)
		}
		again := newPlayers(t, rs)
		again.numbers = p.numbers
		again.play("A | COMMIT | 251 T")
	})
}

func TestTheJournalTellsWhenATransactionIsCommitted(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	p := newPlayers(t, rs)
	p.play("A+ | PUT 1 1 | n 1")
	if e := rs.Journal()[0]; e.Applied {
		t.Errorf("before the commit: %v", e.String())
	}
	p.play("A | COMMIT | ok")
	if e := rs.Journal()[0]; !e.Applied || e.TxnNumber != 1 {
		t.Errorf("after the commit: %v", e.String())
	}
}

func TestTransactionsNeedAReplicaSet(t *testing.T) {
	p := newPlayers(t, mongotest.RunStandaloneT(t, mongotest.InMemory()))
	p.play("A+ | FIND | 20")
	old := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("4.2")))
	old.play(`A+ | {"create": "d"} | 263`)
}

// TestTheCursorOfABulkWriteStaysInItsTransaction fetches and kills it there, in the database admin, which others do not use in one.
func TestTheCursorOfABulkWriteStaysInItsTransaction(t *testing.T) {
	p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("8.0")))
	const write = `{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}, {"insert": 0, "document": {}}, {"insert": 0, "document": {}}],
		"nsInfo": [{"ns": "test.c"}], "cursor": {"batchSize": 1}, "$db": "admin"}`
	id := number(p.run("A+", write), "cursor", "id")
	more := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "$cmd.bulkWrite", "batchSize": 1, "$db": "admin"}`, id)
	if got := p.run("A", more); number(got, "cursor", "nextBatch", "0", "idx") != 1 || number(got, "cursor", "id") != id {
		t.Errorf("getMore is answered %v", got)
	}
	if got := p.run("-", more); number(got, "code") != 50736 {
		t.Errorf("getMore without the session is answered %v", got)
	}
	kill := fmt.Sprintf(`{"killCursors": "$cmd.bulkWrite", "cursors": [{"$numberLong": "%d"}], "$db": "admin"}`, id)
	if got := p.run("A", kill); number(got, "cursorsKilled", "0") != id {
		t.Errorf("killCursors is answered %v", got)
	}
	p.play("A | COMMIT | ok")
}

// TestWhoMakesCollections checks that before 4.4 a transaction makes no collection to write into.
func TestWhoMakesCollections(t *testing.T) {
	const upsert = `{"update": "new", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 1}}, "upsert": true}]}`
	const create = `{"insert": "new", "documents": [{"_id": 1}]}`
	newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("4.4"))).play("A+ | " + create + " | n 1")
	p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("4.2")))
	if got := p.run("A+", create).String(); !strings.Contains(got, "Cannot create namespace test.new in multi-document transaction.") {
		t.Errorf("the reply is %s", got)
	}
	p.play(`A  | COMMIT | 251 T
	        A+ | ` + create + ` | write error 263
	        B+ | ` + upsert + ` | write error 263
	        C+ | {"findAndModify": "new", "query": {"_id": 1}, "update": {"n": 1}, "upsert": true} | 263
	        D+ | {"update": "new", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 1}}}]} | n 0
	        -  | {"find": "new"} |`)
}

// TestUnacknowledgedStatementsAreSent keeps a reply from being written where the client wants none.
func TestUnacknowledgedStatementsAreSent(t *testing.T) {
	p := newPlayers(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()))
	c, full := p.command("A+", expand("PUT 1 1"))
	c.send(wire.MoreToCome, j("%s", full))
	p.play("A | COMMIT | ok\n- | FIND | 1:1")
}

func TestSnapshotsAreOfWhatAMajorityHas(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1")
		rs.Partition([]int{0})
		p.play(`- | {"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 2}}}], "writeConcern": {"w": 1}} | n 1
		        - | {"find": "c", "readConcern": {"level": "snapshot"}} | 1:1
		        - | {"find": "c", "readConcern": {"level": "majority"}} | 1:1
		        - | FIND | 1:2`)
	})
}
