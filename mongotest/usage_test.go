package mongotest_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestTopCountsByNamespace(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	for _, command := range []string{
		`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "test"}`,
		`{"insert": "d", "documents": [{"_id": 1}], "$db": "test"}`,
		`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}], "$db": "test"}`,
		`{"delete": "c", "deletes": [{"q": {"_id": 7}, "limit": 1}], "$db": "test"}`,
		`{"count": "c", "$db": "test"}`,
		`{"insert": "gone", "documents": [{"_id": 1}], "$db": "test"}`,
		`{"drop": "gone", "$db": "test"}`,
	} {
		c.ok("%s", command)
	}
	id := number(c.ok(`{"find": "c", "batchSize": 1, "$db": "test"}`), "cursor", "id")
	c.ok(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "test"}`, id)
	totals := c.ok(`{"top": 1, "$db": "admin"}`).Lookup("totals").Document()
	for name, want := range map[string]int64{
		"total": 6, "readLock": 3, "writeLock": 3, "queries": 1, "getmore": 1, "insert": 1, "update": 1, "remove": 1, "commands": 1,
	} {
		used := totals.Lookup("test.c", name).Document()
		if number(used, "count") != want || number(used, "time") < 0 {
			t.Errorf("%s: %v, want %d", name, used, want)
		}
	}
	if number(totals, "test.d", "total", "count") != 1 || number(totals, "test.gone", "total", "count") != -1 {
		t.Errorf("totals: %v", totals)
	}
	if reply := c.run(`{"top": 1, "$db": "test"}`); number(reply, "code") != 13 {
		t.Errorf("outside of admin: %v", reply)
	}
}

func TestSearchIndexesNeedASearchEngine(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	for _, name := range []string{"createSearchIndexes", "updateSearchIndex", "dropSearchIndex", "listSearchIndexes"} {
		if reply := c.run(`{"%s": "c", "$db": "test"}`, name); number(reply, "code") != 31082 {
			t.Errorf("%s: %v", name, reply)
		}
	}
	old := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("6.0")), 0)
	if reply := old.run(`{"createSearchIndexes": "c", "$db": "test"}`); number(reply, "code") != 59 {
		t.Errorf("before 7.0: %v", reply)
	}
}
