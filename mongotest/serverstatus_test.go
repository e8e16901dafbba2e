package mongotest_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

const statusCommand = `{"serverStatus": 1, "$db": "admin"}`

// TestTheStatusCountsOperations checks what the section opcounters counts for one command, as the real server counts. Until 7.0 an
// aggregation is a command, then it is a query, https://jira.mongodb.org/browse/SERVER-66495, and in 9.0 it is a kind of its own.
func TestTheStatusCountsOperations(t *testing.T) {
	for _, version := range []string{"7.0", "8.0", "9.0"} {
		rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version(version))
		c := dial(t, rs, 0)
		aggregation := map[string]string{"7.0": "command", "8.0": "query", "9.0": "aggregate"}[version]
		for _, test := range []struct{ command, kind string }{
			{`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "test"}`, "insert insert insert"},
			{`{"insert": "c", "documents": [{"_id": 1}, {"_id": 4}], "$db": "test"}`, "insert"},
			{`{"insert": "c", "documents": [{"_id": 1}, {"_id": 5}], "ordered": false, "$db": "test"}`, "insert insert"},
			{`{"insert": "c", "documents": [{"_id": 6}], "nosuch": 1, "$db": "test"}`, ""},
			{`{"find": "c", "$db": "test"}`, "query"},
			{`{"find": "c", "filter": {"$nosuch": 1}, "$db": "test"}`, "query"},
			{`{"aggregate": "c", "pipeline": [], "cursor": {}, "$db": "test"}`, aggregation},
			{`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "multi": true}, {"q": {"_id": 9}, "u": {"a": 2}}], "$db": "test"}`, "update update"},
			{`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}], "$db": "test"}`, "delete"},
			{`{"findAndModify": "c", "query": {"_id": 2}, "remove": true, "$db": "test"}`, "command"},
			{`{"getMore": {"$numberLong": "5"}, "collection": "c", "$db": "test"}`, "getmore"},
			{`{"count": "c", "$db": "test"}`, "command"},
			{`{"nosuch": 1, "$db": "test"}`, ""},
			{`{"hello": 1, "$db": "admin"}`, ""},
		} {
			before := operations(c)
			c.run("%s", test.command)
			after := operations(c)
			for kind, n := range after {
				want := strings.Count(test.kind, kind)
				if kind == "command" {
					want++ // the command that asks
				}
				if got := n - before[kind]; got != int64(want) {
					t.Errorf("%s: %s counts as %d of %s, want %d", version, test.command, got, kind, want)
				}
			}
		}
		if _, there := operations(c)["aggregate"]; there != (version == "9.0") {
			t.Errorf("%s counts aggregations apart: %v", version, there)
		}
	}
}

func operations(c *rawClient) map[string]int64 {
	elements, _ := c.ok(statusCommand).Lookup("opcounters").Document().Elements()
	counts := make(map[string]int64)
	for _, e := range elements {
		counts[e.Key()] = e.Value().Int64()
	}
	return counts
}

// TestTheStatusKnowsWhatIsThere checks the values of sections that are known exactly.
func TestTheStatusKnowsWhatIsThere(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version("8.0"))
	c, other := dial(t, rs, 0), dial(t, rs, 0)
	other.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`)
	other.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`)
	other.run(`{"find": "c", "filter": {"$nosuch": 1}, "$db": "test"}`)
	other.ok(`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}, {"delete": 0, "filter": {}}], "nsInfo": [{"ns": "test.d"}], "$db": "admin"}`)
	before := c.ok(statusCommand)
	status := c.ok(statusCommand)
	for _, test := range []struct {
		rule, path string
		want       int64
	}{
		{"a write error and an error of a command", "asserts.user", 2},
		{"open connections", "connections.current", 2},
		{"", "connections.totalCreated", 2},
		{"the one that asks has a message", "connections.active", 1},
		{"nobody waits for a hello", "connections.awaitingTopologyChanges", 0},
		{"the command that asks is none on data", "globalLock.activeClients.total", 0},
		{"messages", "network.numRequests", 6},
		{"a message is read, ", "network.physicalBytesIn", number(status, "network", "bytesIn")},
		{"and the reply before is written", "network.bytesOut", number(before, "network", "bytesOut") + sizeOfReply(before)},
		{"a statement of a bulkWrite", "opcounters.insert", 3},
		{"", "opcounters.delete", 1},
		{"a document of 14 bytes", "wiredTiger.cache.bytes currently in the cache", 14},
		{"two collections, two indexes", "wiredTiger.cache.pages currently held in the cache", 4},
	} {
		if got := number(status, strings.Split(test.path, ".")...); got != test.want {
			t.Errorf("%s: %s is %d, want %d", test.rule, test.path, got, test.want)
		}
	}
	if number(status, "mem", "resident") < 1 || number(status, "mem", "virtual") < number(status, "mem", "resident") {
		t.Errorf("the memory is %v", status.Lookup("mem"))
	}
}

// sizeOfReply is that of the message: a header, the flags and the kind of the section.
func sizeOfReply(doc bson.Raw) int64 { return 16 + 4 + 1 + int64(len(doc)) }

// TestSectionsOfTheStatus checks which sections there are. The real server was seen to answer the same.
func TestSectionsOfTheStatus(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	for _, test := range []struct{ rule, fields, has, hasNot string }{
		{"all", ``, "asserts connections globalLock network opcounters repl storageEngine wiredTiger mem metrics", ""},
		{"but those declined", `, "network": 0, "repl": false, "asserts": null`, "opcounters", "network repl asserts"},
		{"with mem among the metrics", `, "metrics": 0`, "network", "metrics mem"},
		{"", `, "mem": 0`, "metrics mem", ""},
		{"none", `, "none": 1`, "host uptime", "asserts connections metrics mem"},
		{"but those asked for", `, "none": true, "asserts": 1, "metrics": {}`, "asserts metrics mem", "connections"},
		{"no others", `, "nosuch": 1`, "asserts", "nosuch"},
	} {
		checkSections(t, test.rule, dial(t, rs, 0).ok(`{"serverStatus": 1%s, "$db": "admin"}`, test.fields), test.has, test.hasNot)
	}
	checkSections(t, "a mongos has no data", front(t, rs, 0).ok(statusCommand), "opcounters network mem", "globalLock wiredTiger storageEngine repl")
}

func checkSections(t *testing.T, rule string, status bson.Raw, has, hasNot string) {
	t.Helper()
	for _, name := range strings.Fields(has) {
		if _, err := status.LookupErr(name); err != nil {
			t.Errorf("%s: no section %s", rule, name)
		}
	}
	for _, name := range strings.Fields(hasNot) {
		if _, err := status.LookupErr(name); err == nil {
			t.Errorf("%s: a section %s", rule, name)
		}
	}
}

// TestAMongosAndItsMemberCount checks that both count a command.
func TestAMongosAndItsMemberCount(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	router, member := front(t, rs, 0), dial(t, rs, 0)
	router.ok(`{"insert": "c", "documents": [{}, {}], "$db": "test"}`)
	router.ok(`{"find": "c", "$db": "test"}`)
	for name, c := range map[string]*rawClient{"mongos": router, "member": member} {
		if n := operations(c); n["insert"] != 2 || n["query"] != 1 {
			t.Errorf("the %s has counted %v", name, n)
		}
	}
}

// Each start of a server begins new counts, also while a mongos has a command executed there. The race detector sees it if they share them.
func TestAServerStartsAgainWhileItCounts(t *testing.T) {
	const restarts = 2000
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	var clients sync.WaitGroup
	var ended atomic.Bool
	for range 4 {
		c := front(t, rs, 0)
		clients.Go(func() {
			for !ended.Load() {
				c.run(`{"count": "c", "$db": "test"}`)
			}
		})
	}
	for range restarts {
		rs.Kill(0)
		rs.Restart(0)
	}
	ended.Store(true)
	clients.Wait()
	c := dial(t, rs, 0)
	if n := operations(c)["insert"]; n != 0 {
		t.Errorf("after its last start the server counts %d inserts", n)
	}
}
