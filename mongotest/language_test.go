package mongotest_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The operators for arrays, tested by commands. The language itself is tested in internal/query.
func TestArraysInCommands(t *testing.T) {
	const before = `{"_id": 1, "a": [{"x": 1, "n": 0}, {"x": 2, "n": 0}, {"x": 2, "n": 5}]}`
	for _, c := range []struct{ name, command, reply, after string }{
		{
			"an update of the element that matched",
			`{"update": "c", "updates": [{"q": {"a.x": 2}, "u": {"$inc": {"a.$.n": 1}}}], "$db": "db"}`,
			`"nModified": {"$numberInt":"1"}`,
			`{"_id": 1, "a": [{"x": 1, "n": 0}, {"x": 2, "n": 1}, {"x": 2, "n": 5}]}`,
		},
		{
			"an update of every element",
			`{"update": "c", "updates": [{"q": {}, "u": {"$inc": {"a.$[].n": 1}}, "multi": true}], "$db": "db"}`,
			`"nModified": {"$numberInt":"1"}`,
			`{"_id": 1, "a": [{"x": 1, "n": 1}, {"x": 2, "n": 1}, {"x": 2, "n": 6}]}`,
		},
		{
			"an update of the elements that a filter names",
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a.$[e].n": 9}}, "arrayFilters": [{"e.x": 2, "e.n": 0}]}], "$db": "db"}`,
			`"nModified": {"$numberInt":"1"}`,
			`{"_id": 1, "a": [{"x": 1, "n": 0}, {"x": 2, "n": 9}, {"x": 2, "n": 5}]}`,
		},
		{
			"an identifier without its filter",
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a.$[e].n": 9}}}], "$db": "db"}`,
			`No array filter found for identifier 'e' in path 'a.$[e].n'`, before,
		},
		{
			"filters that are no array",
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a.$[e].n": 9}}, "arrayFilters": {"e": 1}}], "$db": "db"}`,
			`BSON field 'update.updates.arrayFilters' is the wrong type 'object', expected type 'array'`, before,
		},
		{
			"a modification that returns the element that matched",
			`{"findAndModify": "c", "query": {"a.x": 2}, "update": {"$set": {"a.$.n": 3}}, "fields": {"a.$": 1}, "$db": "db"}`,
			`"value": {"_id": {"$numberInt":"1"},"a": [{"x": {"$numberInt":"2"},"n": {"$numberInt":"0"}}]}`,
			`{"_id": 1, "a": [{"x": 1, "n": 0}, {"x": 2, "n": 3}, {"x": 2, "n": 5}]}`,
		},
		{
			"a modification by filters",
			`{"findAndModify": "c", "query": {}, "update": {"$set": {"a.$[e].n": 3}}, "arrayFilters": [{"e.n": 5}], "new": true, "fields": {"a": {"$slice": -1}}, "$db": "db"}`,
			`"a": [{"x": {"$numberInt":"2"},"n": {"$numberInt":"3"}}]`,
			`{"_id": 1, "a": [{"x": 1, "n": 0}, {"x": 2, "n": 0}, {"x": 2, "n": 3}]}`,
		},
		{
			"a find of the element that matched",
			`{"find": "c", "filter": {"a.n": 5}, "projection": {"a.$": 1}, "$db": "db"}`,
			`"firstBatch": [{"_id": {"$numberInt":"1"},"a": [{"x": {"$numberInt":"2"},"n": {"$numberInt":"5"}}]}]`, before,
		},
		{
			"a find of the first element that matches",
			`{"find": "c", "projection": {"a": {"$elemMatch": {"x": 2}}}, "$db": "db"}`,
			`"a": [{"x": {"$numberInt":"2"},"n": {"$numberInt":"0"}}]`, before,
		},
		{
			"a positional projection and the new document",
			`{"findAndModify": "c", "query": {"a.x": 2}, "update": {"$set": {"b": 1}}, "fields": {"a.$": 1}, "new": true, "$db": "db"}`,
			`cannot use a positional projection and return the new document`, before,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
			client := dial(t, rs, 0)
			client.ok(`{"insert": "c", "documents": [%s], "$db": "db"}`, before)
			if reply := client.run("%s", c.command).String(); !strings.Contains(reply, c.reply) {
				t.Errorf("the reply is %s; want %s in it", reply, c.reply)
			}
			if got, want := rs.ReadAll("db.c")[0].String(), raw(t, c.after).String(); got != want {
				t.Errorf("then there is %s, want %s", got, want)
			}
		})
	}
}

func TestTooDeepDocumentsAreRefused(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := dial(t, rs, 0)
	deep := func(levels int) string {
		return strings.Repeat(`{"a": `, levels-1) + "{}" + strings.Repeat("}", levels-1)
	}
	client.ok(`{"insert": "c", "documents": [%s], "$db": "db"}`, deep(180))
	reply := client.ok(`{"insert": "c", "documents": [%s], "$db": "db"}`, deep(181))
	if got := number(reply, "writeErrors", "0", "code"); got != 15 {
		t.Errorf("181 levels: %v", reply)
	}
}

// A document is checked to its depth before anything is done with it.
func TestMalformedNestedDocumentsAreRefused(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := dial(t, rs, 0)
	client.ok(`{"insert": "c", "documents": [{"_id": 1}], "$db": "db"}`)
	command := raw(t, `{"insert": "c", "documents": [{"_id": 2, "a": {"b": {"c": "text"}}}], "$db": "db"}`)
	at := strings.Index(string(command), "\x05\x00\x00\x00text")
	binary.LittleEndian.PutUint32(command[at:], 0x7fffffff)
	client.sendBytes(0, command)
	if _, _, err := client.receive(); err != nil {
		client = dial(t, rs, 0)
	}
	if n := len(rs.ReadAll("db.c")); n != 1 {
		t.Errorf("%d documents are there", n)
	}
	client.ok(`{"ping": 1, "$db": "admin"}`)
}

// So does MongoDB's own engine: the other statements are executed, and then the command fails.
func TestAnUpdateWithAnUnknownStageFailsAsACommand(t *testing.T) {
	for _, pipeline := range []string{`[{"$bad": 1}]`, `[{"$set": {"a": 1}}, {"bad": 1}]`, `[{}]`, `[{"$set": {"a": 1}, "$unset": "b"}]`} {
		c := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
		got := c.run(`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "upsert": true}, {"q": {}, "u": %s}], "$db": "db"}`, pipeline)
		if code := number(got, "code"); number(got, "ok") != 0 || code != 40323 && code != 40324 {
			t.Errorf("%s: %v", pipeline, got)
		}
		if n := number(c.ok(`{"count": "c", "$db": "db"}`), "n"); n != 1 {
			t.Errorf("%s: %d documents", pipeline, n)
		}
	}
}
