package mongotest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

const oplog = `"find": "oplog.rs", "$db": "local"`

// shape returns the names of a document's fields.
func shape(doc bson.Raw) string { return strings.Join(fieldNames(doc), " ") }

func TestTheOplogCanBeRead(t *testing.T) {
	const session = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "%d"}`
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		for _, test := range []struct {
			name, command string
			shape         string // of the newest entry
			want          string // JSON that it has
		}{
			{"insert", `{"insert": "c", "documents": [{"_id": 1, "a": {"b": 1, "c": [1, 2, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]}, "z": 1}], "$db": "db"}`, "op ns ui o o2 ts t v wall", `"op": "i","ns": "db.c"`},
			{
				"update", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.c.1": 5, "n": 1}, "$unset": {"z": 1}}}], "$db": "db"}`,
				"op ns ui o o2 ts t v wall",
				`"o": {"$v": {"$numberInt":"2"},"diff": {"d": {"z": false},"i": {"n": {"$numberInt":"1"}},"sa": {"sc": {"a": true,"u1": {"$numberInt":"5"}}}}}`,
			},
			{"replace", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"b": 1}}], "$db": "db"}`, "op ns ui o o2 ts t v wall", `"o": {"_id": {"$numberInt":"1"},"b": {"$numberInt":"1"}},"o2": {"_id": {"$numberInt":"1"}}`},
			{"delete", `{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}], "$db": "db"}`, "op ns ui o ts t v wall", `"op": "d"`},
			{"create", `{"create": "d", "capped": true, "size": 4096, "$db": "db"}`, "op ns ui o ts t v wall", `"ns": "db.$cmd"`},
			{"collMod", `{"collMod": "d", "cappedSize": 8192, "$db": "db"}`, "op ns ui o o2 ts t v wall", `"o": {"collMod": "d","cappedSize": {"$numberInt":"8192"}}`},
			{"createIndexes", `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}], "$db": "db"}`, "op ns ui o ts t v wall", `{"commitIndexBuild": "c","indexes": [{"v"`},
			{"dropIndexes", `{"dropIndexes": "c", "index": "a_1", "$db": "db"}`, "op ns ui o o2 ts t v wall", `"o": {"dropIndexes": "c","index": "a_1"}`},
			{"rename", `{"renameCollection": "db.d", "to": "db.e", "$db": "admin"}`, "op ns ui o ts t v wall", `"o": {"renameCollection": "db.d","to": "db.e","stayTemp": false}`},
			{"drop", `{"drop": "e", "$db": "db"}`, "op ns ui o ts t v wall", `"o": {"drop": "e"}`},
			{"view", `{"create": "v", "viewOn": "c", "pipeline": [{"$match": {}}], "$db": "db"}`, "op ns o ts t v wall", `"ns": "db.system.views","o": {"_id": "db.v","viewOn": "c","pipeline"`},
			{"note", `{"appendOplogNote": 1, "data": {"x": 1}, "$db": "admin"}`, "op ns o ts t v wall", `"op": "n","ns": "","o": {"x": {"$numberInt":"1"}}`},
			{
				"retryable write", `{"insert": "c", "documents": [{"_id": 2}, {"_id": 3}], ` + strings.Replace(session, "%d", "1", 1) + `, "$db": "db"}`,
				"lsid txnNumber op ns ui o o2 stmtId ts t v wall prevOpTime", `"stmtId": {"$numberInt":"1"}`,
			},
			{
				"transaction", `{"insert": "c", "documents": [{"_id": 4}], "startTransaction": true, "autocommit": false, ` + strings.Replace(session, "%d", "2", 1) + `, "$db": "db"}`,
				"", "",
			},
			{
				"commit", `{"commitTransaction": 1, "autocommit": false, ` + strings.Replace(session, "%d", "2", 1) + `, "$db": "admin"}`,
				"lsid txnNumber op ns o ts t v wall prevOpTime", `"ns": "admin.$cmd","o": {"applyOps": [{"op": "i","ns": "db.c"`,
			},
			{"dropDatabase", `{"dropDatabase": 1, "$db": "db"}`, "op ns o ts t v wall", `"o": {"dropDatabase": {"$numberInt":"1"}}`},
		} {
			reply := c.ok("%s", test.command)
			newest := c.ok(`{"find": "oplog.rs", "sort": {"$natural": -1}, "limit": 1, "$db": "local"}`).Lookup("cursor", "firstBatch", "0").Document()
			if test.shape == "" {
				continue
			}
			if got := shape(newest); got != test.shape || !strings.Contains(newest.String(), test.want) {
				t.Errorf("%s: the entry is %s with %s, want %s with %s", test.name, got, newest, test.shape, test.want)
			}
			if test.name != "dropDatabase" && stamp(reply, 0, "operationTime") != stamp(newest, 0, "ts") {
				t.Errorf("%s: the entry is of another time than the command: %s", test.name, newest)
			}
		}
		first := c.ok(`{%s, "limit": 1}`, oplog).Lookup("cursor", "firstBatch", "0").Document()
		if !strings.Contains(first.String(), `"op": "n","ns": "","o": {"msg": "initiating set"}`) {
			t.Errorf("the oplog begins with %s", first)
		}
		count := c.ok(`{"aggregate": "oplog.rs", "pipeline": [{"$match": {"op": "i", "ns": "db.c"}}, {"$count": "n"}], "cursor": {}, "$db": "local"}`)
		if n := number(count, "cursor", "firstBatch", "0", "n"); n != 3 {
			t.Errorf("there are %d inserts: %s", n, count)
		}
	})
}

func TestUpdatesInTheOplogOfOlderServers(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "c", "documents": [{"_id": 1, "a": {"b": 1}, "z": 1}], "$db": "db"}`)
		c.ok(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a.b": 2}, "$unset": {"z": 1}}}], "$db": "db"}`)
		newest := c.ok(`{"find": "oplog.rs", "sort": {"$natural": -1}, "limit": 1, "$db": "local"}`).Lookup("cursor", "firstBatch", "0").Document()
		if got, want := newest.Lookup("o").String(), `{"$v": {"$numberInt":"1"},"$unset": {"z": true},"$set": {"a.b": {"$numberInt":"2"}}}`; got != want {
			t.Errorf("the update is %s, want %s", got, want)
		}
		if shape(newest) != "op ns ui o o2 ts t h v wall" {
			t.Errorf("the entry has %s", shape(newest))
		}
	}, mongotest.Version("4.0"))
}

func TestTheOplogCanBeTailed(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		s := &stream{c: c}
		if first := s.read(c.ok(`{%s, "filter": {"op": "i"}, "tailable": true, "awaitData": true}`, oplog), "firstBatch"); len(first) != 0 {
			t.Fatalf("there are %s", first)
		}
		for i := range 2 {
			c.ok(`{"insert": "c", "documents": [{"_id": %d}], "$db": "db"}`, i)
			if got := s.more(); len(got) != 1 || number(got[0], "o", "_id") != int64(i) {
				t.Fatalf("after insert %d there are %s", i, got)
			}
		}
		if more := s.more(); len(more) != 0 || s.id == 0 {
			t.Errorf("at the end there are %s, cursor %d", more, s.id)
		}
	})
}

func TestATailThatFallsBehindTheOplogIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(insertOne)
		id := number(c.ok(`{%s, "tailable": true, "batchSize": 1}`, oplog), "cursor", "id")
		overflow(c)
		if reply := c.run(`{"getMore": {"$numberLong": "%d"}, "collection": "oplog.rs", "$db": "local"}`, id); number(reply, "code") != 136 {
			t.Errorf("the reply is %s", reply)
		}
		stats := c.ok(`{"collStats": "oplog.rs", "$db": "local"}`)
		if number(stats, "maxSize") != 1<<20 || !stats.Lookup("capped").Boolean() {
			t.Errorf("the statistics are %s", stats)
		}
	}, mongotest.OplogSize(1))
}

func TestTheOplogCannotBeWritten(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		for _, test := range []struct {
			command string
			code    int64
		}{
			{`{"insert": "oplog.rs", "documents": [{}], "$db": "local"}`, 73},
			{`{"update": "oplog.rs", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}], "$db": "local"}`, 73},
			{`{"delete": "oplog.rs", "deletes": [{"q": {}, "limit": 0}], "$db": "local"}`, 73},
			{`{"findAndModify": "oplog.rs", "remove": true, "$db": "local"}`, 73},
			{`{"createIndexes": "oplog.rs", "indexes": [{"key": {"a": 1}, "name": "a"}], "$db": "local"}`, 73},
			{`{"create": "oplog.rs", "$db": "local"}`, 73},
			{`{"collMod": "oplog.rs", "cappedSize": 1, "$db": "local"}`, 73},
			{`{"drop": "oplog.rs", "$db": "local"}`, 20},
			{`{"renameCollection": "local.oplog.rs", "to": "local.x", "$db": "admin"}`, 20},
		} {
			if reply := c.run("%s", test.command); number(reply, "code") != test.code {
				t.Errorf("%s: %s, want code %d", test.command, reply, test.code)
			}
		}
		if list := c.ok(`{"listCollections": 1, "filter": {"name": "oplog.rs"}, "$db": "local"}`); length(list) != 1 {
			t.Errorf("the collections are %s", list)
		}
	})
}

func TestAStandaloneHasNoOplog(t *testing.T) {
	c := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	if length(c.ok(`{%s}`, oplog)) != 0 || number(c.ok(`{"insert": "oplog.rs", "documents": [{}], "$db": "local"}`), "n") != 1 {
		t.Error("there is one")
	}
}

func TestCurrentOpTellsWhatIsIdle(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "db"}`)
		id := number(c.ok(`{"find": "c", "batchSize": 1, "noCursorTimeout": true, "$db": "db"}`), "cursor", "id")
		began := time.Now()
		pass(time.Second)
		c.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "db"}`, id)
		const idle = `{"aggregate": 1, "pipeline": [{"$currentOp": %s}, {"$match": {"type": {"$ne": "op"}}}], "cursor": {}, "$db": "admin"}`
		if n := length(c.ok(idle, `{}`)); n != 0 {
			t.Errorf("without the option there are %d cursors", n)
		}
		got := c.ok(idle, `{"idleCursors": true}`).Lookup("cursor", "firstBatch", "0").Document()
		want := fmt.Sprintf(`{"cursorId": {"$numberLong":"%d"},"createdDate": {"$date":{"$numberLong":"%d"}},"lastAccessDate": {"$date":{"$numberLong":"%d"}},`+
			`"nDocsReturned": {"$numberLong":"2"},"nBatchesReturned": {"$numberLong":"2"},"noCursorTimeout": true,"tailable": false,"awaitData": false,`+
			`"originatingCommand": {"find": "c","batchSize": {"$numberInt":"1"},"noCursorTimeout": true,"$db": "db"}}`,
			id, began.UnixMilli(), time.Now().UnixMilli())
		if shape(got) != "type host ns cursor" || got.Lookup("cursor").String() != want {
			t.Errorf("the cursor is %s, want %s", got, want)
		}
		const session = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "5"}, "autocommit": false`
		c.ok(`{"find": "c", "startTransaction": true, "readConcern": {"level": "snapshot"}, %s, "$db": "db"}`, session)
		pass(time.Second)
		reply := c.ok(`{"currentOp": 1, "type": "idleSession", "$db": "admin"}`)
		list := elements(reply.Lookup("inprog"))
		if len(list) != 1 || shape(list[0]) != "type host desc client connectionId lsid transaction waitingForLock active locks lockStats" {
			t.Fatalf("the sessions are %s", reply)
		}
		if txn := list[0].Lookup("transaction").Document(); number(txn, "timeOpenMicros") != 1_000_000 || number(txn, "parameters", "txnNumber") != 5 {
			t.Errorf("the transaction is %s", txn)
		}
		if n := length(c.ok(idle, `{"idleSessions": false}`)); n != 0 {
			t.Errorf("with idleSessions: false there are %d sessions", n)
		}
		c.ok(`{"abortTransaction": 1, %s, "$db": "admin"}`, session)
		if n := length(c.ok(idle, `{}`)); n != 0 {
			t.Errorf("after the transaction there are %d sessions", n)
		}
	})
}

func TestCurrentOpTakesAFilter(t *testing.T) {
	bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		for more, want := range map[string]int{`"$all": true`: 1, `"op": "command"`: 1, `"op": "none"`: 0, `"$ownOps": true, "command.currentOp": 1`: 1} {
			if list := elements(c.ok(`{"currentOp": 1, %s, "$db": "admin"}`, more).Lookup("inprog")); len(list) != want {
				t.Errorf("%s: there are %s, want %d", more, list, want)
			}
		}
		if reply := c.run(`{"currentOp": 1, "$foo": 1, "$db": "admin"}`); number(reply, "code") != 2 {
			t.Errorf("the reply is %s", reply)
		}
	})
}
