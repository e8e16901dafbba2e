package mongotest_test

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// overflow writes twice as much as an oplog of 1 MiB has room for.
func overflow(c *rawClient) {
	text := strings.Repeat("x", 64<<10)
	for range 32 {
		c.ok(`{"update": "filler", "updates": [{"q": {"_id": 1}, "u": {"text": "%s"}, "upsert": true}], "writeConcern": {"w": "majority"}, "$db": "test"}`, text)
	}
}

func TestWhoNeedsARemovedEntryOfTheOplogGetsTheServersError(t *testing.T) {
	for _, test := range []struct {
		name, command string
		code          int64
	}{
		{"a change stream that resumes", `{"aggregate": "c", "pipeline": [{"$changeStream": {"startAtOperationTime": %s}}], "cursor": {}, "$db": "test"}`, 286},
		{"a read of an old snapshot", `{"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": %s}, "$db": "test"}`, 239},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				c := dial(t, rs, 0)
				command := fmt.Sprintf(test.command, stamp(c.ok(insertOne), 0, "operationTime"))
				c.ok("%s", command)
				overflow(c)
				if reply := c.run("%s", command); number(reply, "code") != test.code {
					t.Errorf("it is answered %v, want the code %d", reply, test.code)
				}
			}, mongotest.OplogSize(1))
		})
	}
}

func TestAnOpenTransactionKeepsItsEntries(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(insertOne)
		c.ok(`{"insert": "filler", "documents": [{"_id": 2}], "$db": "test"}`)
		const session = `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "autocommit": false`
		find := `{"find": "%s", ` + session + `%s, "$db": "test"}`
		c.ok(find, "c", `, "startTransaction": true, "readConcern": {"level": "snapshot"}`)
		overflow(c)
		if n := length(c.ok(find, "filler", "")); n != 1 {
			t.Errorf("the transaction sees %d documents, want the one from before", n)
		}
	}, mongotest.OplogSize(1))
}

func TestAMemberThatWasAwayTooLongIsRecovering(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		rs.Isolate(2)
		overflow(c)
		rs.Heal()
		pass(10 * time.Second)
		late := dial(t, rs, 2)
		if hello := late.ok(`{"hello": 1, "$db": "admin"}`); hello.Lookup("secondary").Boolean() {
			t.Errorf("it says that it is a secondary: %v", hello)
		}
		if state := number(late.ok(`{"replSetGetStatus": 1, "$db": "admin"}`), "myState"); state != 3 {
			t.Errorf("its state is %d, want 3, RECOVERING", state)
		}
		reply := late.run(`{"find": "filler", "$readPreference": {"mode": "nearest"}, "$db": "test"}`)
		if number(reply, "code") != 13436 {
			t.Errorf("a read is answered %v, want 13436", reply)
		}
		c.ok(`{"insert": "c", "documents": [{"_id": 2}], "writeConcern": {"w": 2}, "$db": "test"}`)
	}, mongotest.OplogSize(1))
}

func TestAnOplogHasNotLessThanAMebibyte(t *testing.T) {
	_, err := mongotest.RunReplicaSet(1, mongotest.OplogSize(0))
	if err == nil || err.Error() != "mongotest: OplogSize(0): it must be at least 1" {
		t.Errorf("got %v", err)
	}
}

// largeWrites is how many documents of 512 KiB a long run writes. The figure has 600, with the oplog of 256 MiB that a set has without an option.
var largeWrites = flag.Int("writes", 150, "how many large documents the long run writes: 600 for the figure")

func TestALongRunOfLargeWritesRetainsNoMoreThanTheOplog(t *testing.T) {
	oplog, maxRetained := 16, uint64(90) // MiB; 110 are retained if the oplog is not trimmed
	if *largeWrites >= 600 {
		oplog, maxRetained = 256, 512
	}
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		text := strings.Repeat("x", 512<<10)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range *largeWrites {
			c.ok(`{"insert": "c", "documents": [{"_id": %d, "text": "%s"}], "$db": "test"}`, i, text)
			c.ok(`{"update": "c", "updates": [{"q": {"_id": %d}, "u": {"$set": {"text": "%s"}}}], "$db": "test"}`, i, text)
			c.ok(`{"delete": "c", "deletes": [{"q": {"_id": %d}, "limit": 1}], "$db": "test"}`, i)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		retained := (after.HeapAlloc - min(after.HeapAlloc, before.HeapAlloc)) >> 20
		if *largeWrites >= 600 {
			fmt.Printf("figure mock-retained-mib %d\n", retained)
		}
		if retained > maxRetained {
			t.Errorf("%d MiB are retained, want at most %d", retained, maxRetained)
		}
		runtime.KeepAlive(rs)
	}, mongotest.OplogSize(oplog))
}
