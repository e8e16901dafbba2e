package mongotest_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The text is that of the real server, whatever errmsg says.
func TestAFailPointIgnoresWhatItDoesNotKnow(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	c.ok(`{"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {"failCommands": ["find"], "errorCode": 8, "errmsg": "x"}, "$db": "admin"}`)
	if got := c.run(`{"find": "c", "$db": "db"}`); got.Lookup("errmsg").StringValue() != "Failing command via 'failCommand' failpoint" {
		t.Errorf("find is answered %v", got)
	}
}

func TestAFailPointOfAThread(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c, other := dial(t, rs, 0), dial(t, rs, 0)
	id := number(other.ok(`{"hello": 1, "$db": "admin"}`), "connectionId")
	c.ok(`{"configureFailPoint": "failCommand", "mode": "alwaysOn",
		"data": {"failCommands": ["find"], "errorCode": 8, "threadName": "conn%d"}, "$db": "admin"}`, id)
	c.ok(`{"find": "c", "$db": "db"}`)
	if got := other.run(`{"find": "c", "$db": "db"}`); number(got, "code") != 8 {
		t.Errorf("find is answered %v", got)
	}
}

func TestAFailPointSeesTheApplicationOfTheVeryHello(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	const point = `{"configureFailPoint": "failCommand", "mode": "alwaysOn",
		"data": {"failCommands": ["hello", "isMaster"], "errorCode": 8, "appName": "me"}, "$db": "admin"}`
	front(t, rs, 0).ok(point)
	dial(t, rs, 0).ok(point)
	for _, name := range []string{"hello", "isMaster", "ismaster"} {
		for app, want := range map[string]int64{"me": 8, "you": -1} {
			command := fmt.Sprintf(`{"%s": 1, "client": {"application": {"name": "%s"}, "driver": {"name": "d", "version": "1"},
				"os": {"type": "t"}}, "$db": "admin"}`, name, app)
			for at, c := range map[string]*rawClient{"a member": dial(t, rs, 0), "a mongos": front(t, rs, 0)} {
				if got := number(c.run("%s", command), "code"); got != want {
					t.Errorf("at %s the first %s of %q fails with %d, want %d", at, name, app, got, want)
				}
			}
		}
	}
}

func TestMaxTimeAlwaysTimeOut(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	c.ok(`{"insert": "c", "documents": [{}, {}, {}], "$db": "db"}`)
	limited := number(c.ok(`{"find": "c", "batchSize": 1, "maxTimeMS": 10000, "$db": "db"}`), "cursor", "id")
	free := number(c.ok(`{"find": "c", "batchSize": 1, "$db": "db"}`), "cursor", "id")
	more := func(id int64) string {
		return fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "db"}`, id)
	}
	c.ok(`{"configureFailPoint": "maxTimeAlwaysTimeOut", "mode": "alwaysOn", "$db": "admin"}`)
	for _, test := range []struct {
		name, command string
		want          int64
	}{
		{"a read", `{"find": "c", "maxTimeMS": 60000, "$db": "db"}`, 50},
		{"a write", `{"insert": "c", "documents": [{}], "maxTimeMS": 60000, "$db": "db"}`, 50},
		{"another command", `{"ping": 1, "maxTimeMS": 60000, "$db": "db"}`, 50},
		{"a command without limit", `{"find": "c", "$db": "db"}`, -1},
		{"a limit of 0 is none", `{"find": "c", "maxTimeMS": 0, "$db": "db"}`, -1},
		{"a getMore of a cursor with a limit", more(limited), 50},
		{"the cursor is gone", more(limited), 43},
		{"a getMore of another", more(free), -1},
		{"itself", `{"configureFailPoint": "maxTimeAlwaysTimeOut", "mode": "off", "maxTimeMS": 60000, "$db": "admin"}`, -1},
		{"when it is off", `{"find": "c", "maxTimeMS": 60000, "$db": "db"}`, -1},
	} {
		if got := number(c.run("%s", test.command), "code"); got != test.want {
			t.Errorf("%s: the error is %d, want %d", test.name, got, test.want)
		}
	}
	if n := number(c.ok(`{"count": "c", "$db": "db"}`), "n"); n != 3 {
		t.Errorf("there are %d documents, want 3", n)
	}
}

func TestMaxTimeAlwaysTimeOutOfAMongos(t *testing.T) {
	c := front(t, mongotest.RunShardedT(t, 1, 1, mongotest.InMemory()), 0)
	c.ok(`{"configureFailPoint": "maxTimeAlwaysTimeOut", "mode": {"times": 1}, "$db": "admin"}`)
	for i, want := range []int64{50, -1} {
		if got := number(c.run(`{"find": "c", "maxTimeMS": 60000, "$db": "db"}`), "code"); got != want {
			t.Errorf("find %d: the error is %d, want %d", i, got, want)
		}
	}
}

func TestMaxTimeNeverTimeOut(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "c", "documents": [{}], "$db": "db"}`)
		dial(t, rs, 1).ok(`{"configureFailPoint": "stopReplProducer", "mode": "alwaysOn", "$db": "admin"}`)
		dial(t, rs, 2).ok(`{"configureFailPoint": "stopReplProducer", "mode": "alwaysOn", "$db": "admin"}`)
		const write = `{"insert": "c", "documents": [{}], "maxTimeMS": 100, "writeConcern": {"w": "majority", "wtimeout": 1000}, "$db": "db"}`
		if got := c.run(write); number(got, "code") != 50 && number(got, "writeConcernError", "code") != 50 {
			t.Errorf("without the fail point the insert is answered %v", got)
		}
		c.ok(`{"configureFailPoint": "maxTimeNeverTimeOut", "mode": "alwaysOn", "$db": "admin"}`)
		if got := c.run(write); number(got, "writeConcernError", "code") != 64 {
			t.Errorf("with it the insert is answered %v", got)
		}
	})
}

func TestStopReplProducer(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		set := func(member int, mode string) {
			dial(t, rs, member).ok(`{"configureFailPoint": "stopReplProducer", "mode": "%s", "$db": "admin"}`, mode)
		}
		write := func(w string) bson.Raw {
			return c.run(`{"insert": "c", "documents": [{}], "writeConcern": {"w": %s, "wtimeout": 1000}, "$db": "db"}`, w)
		}
		set(1, "alwaysOn")
		if got := write("2"); number(got, "writeConcernError", "code") != -1 {
			t.Errorf("with one secondary that stands still, w: 2 is answered %v", got)
		}
		if got := write("3"); number(got, "writeConcernError", "code") != 64 {
			t.Errorf("with one secondary that stands still, w: 3 is answered %v", got)
		}
		set(2, "alwaysOn")
		if got := write(`"majority"`); number(got, "writeConcernError", "code") != 64 {
			t.Errorf("with two secondaries that stand still, a majority is answered %v", got)
		}
		set(1, "off")
		set(2, "off")
		if got := write("3"); number(got, "writeConcernError", "code") != -1 {
			t.Errorf("afterwards w: 3 is answered %v", got)
		}
	})
}

// TestOnPrimaryTransactionalWriteCountsDocuments inserts four.
func TestOnPrimaryTransactionalWriteCountsDocuments(t *testing.T) {
	for _, test := range []struct {
		name, point string
		answered    int64 // the error's code, 0 for a success, -1 if the connection is closed
		want        int64 // the documents that are there then
	}{
		{"skip counts documents", `"mode": {"skip": 3}, "data": {"failBeforeCommitExceptionCode": 1}`, -1, 3},
		{"all are skipped", `"mode": {"skip": 4}, "data": {"failBeforeCommitExceptionCode": 1}`, 0, 4},
		{"none is skipped", `"mode": "alwaysOn", "data": {"failBeforeCommitExceptionCode": 1}`, -1, 0},
		{"without a code all are written", `"mode": {"skip": 2}`, -1, 4},
		{"the connection stays", `"mode": {"skip": 2}, "data": {"failBeforeCommitExceptionCode": 91, "closeConnection": false}`, 91, 2},
		{"nothing is to happen", `"mode": "alwaysOn", "data": {"closeConnection": false}`, 0, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
			c := dial(t, rs, 0)
			c.ok(`{"create": "c", "$db": "db"}`)
			c.ok(`{"configureFailPoint": "onPrimaryTransactionalWrite", %s, "$db": "admin"}`, test.point)
			c.send(0, j(`{"insert": "c", "documents": [{}, {}, {}, {}], "$db": "db", %s, "txnNumber": {"$numberLong": "1"}}`, lsid))
			got := int64(-1)
			if _, m, err := c.receive(); err == nil {
				got = max(0, number(m.Body, "code"))
			}
			if got != test.answered {
				t.Errorf("the answer is %d, want %d", got, test.answered)
			}
			if n := int64(len(rs.ReadAll("db.c"))); n != test.want {
				t.Errorf("%d documents are there, want %d", n, test.want)
			}
		})
	}
}
