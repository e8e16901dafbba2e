package mongotest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// indexes are what the random documents are held against: one at a time.
var randomIndexes = []string{
	`{"key": {"a": 1}, "name": "i", "unique": true}`,
	`{"key": {"a": 1}, "name": "i", "unique": true, "sparse": true}`,
	`{"key": {"a.x": 1}, "name": "i", "unique": true}`,
	`{"key": {"a.0": -1}, "name": "i", "unique": true}`,
	`{"key": {"a.0.x": 1}, "name": "i", "unique": true}`,
	`{"key": {"a.x.0": 1}, "name": "i", "unique": true}`,
	`{"key": {"a": 1, "b": -1}, "name": "i", "unique": true}`,
	`{"key": {"a.x": 1, "a.y": 1}, "name": "i", "unique": true, "sparse": true}`,
	`{"key": {"a.0": 1, "a.x": 1}, "name": "i", "unique": true}`,
	`{"key": {"a.x": 1, "b.x": 1}, "name": "i"}`,
	`{"key": {"b": 1}, "name": "i", "unique": true, "partialFilterExpression": {"a": {"$gt": 1}}}`,
}

// TestUniqueIndexesAgainstARealServer writes random documents, by insert, update and upsert, into a collection with an
// index, and builds the index over them afterwards: both servers must take and refuse the same.
func TestUniqueIndexesAgainstARealServer(t *testing.T) {
	uri := must[*url.URL](t)(url.Parse(spectest.Server(t)))
	theirs := dialAt(t, new(net.Dialer).DialContext, uri.Host)
	ours := dial(t, mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.JournalLimit(0)), 0)
	db := fmt.Sprintf("mongotest_%d_unique", os.Getpid())
	defer theirs.run(`{"dropDatabase": 1, "$db": "%s"}`, db)
	m := maker{rand.New(rand.NewPCG(5, 6))}
	for n, ix := range randomIndexes {
		for range 4 {
			compareIndex(t, m, ix, db, n, ours, theirs)
		}
	}
}

func compareIndex(t *testing.T, m maker, ix, db string, n int, servers ...*rawClient) {
	t.Helper()
	var replies [2]string
	ask := func(command string) {
		for i, c := range servers {
			replies[i] = typeless(normalise(c.run(`%s, "$db": "%s"}`, strings.TrimSuffix(command, "}"), db)))
		}
		if replies[0] != replies[1] {
			t.Errorf("index %d %s: %s\ngot  %s\nwant %s", n, ix, command, replies[0], replies[1])
		}
	}
	ask(`{"drop": "c"}`)
	ask(`{"createIndexes": "c", "indexes": [` + ix + `]}`)
	for id := range 20 {
		ask(`{"insert": "c", "documents": [` + m.document(id) + `]}`)
	}
	for range 20 {
		ask(fmt.Sprintf(`{"update": "c", "updates": [{"q": {"_id": %d}, "u": {"$set": {"%s": %s}}, "upsert": true}]}`,
			m.IntN(24), m.one([]string{"a", "b"}), m.one(values)))
	}
	ask(`{"find": "c", "hint": "i", "projection": {"_id": 1}}`)
	ask(`{"dropIndexes": "c", "index": "i"}`)
	for id := range 3 {
		ask(`{"insert": "c", "documents": [` + m.document(100+id) + `]}`)
	}
	ask(`{"createIndexes": "c", "indexes": [` + ix + `]}`)
}

// typeless cuts what is said about a value in a text, for rare types are written in other ways.
func typeless(reply string) string {
	at := strings.Index(reply, "dup key: ")
	if end := strings.Index(reply, `","key`); at >= 0 && end > at {
		reply = reply[:at] + reply[end:]
	}
	if at := strings.Index(reply, "Ambiguous field name"); at >= 0 {
		reply = reply[:at]
	}
	return reply
}

const uniqueA = `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a", "unique": true}], "$db": "test"`

// insertA inserts a document with one value of a and returns the code of its error, -1 for none.
func insertA(c *rawClient, id, a int, more string) int64 {
	reply := c.run(`{"insert": "c", "documents": [{"_id": %d, "a": %d}], "$db": "test"%s}`, id, a, more)
	return number(reply, "writeErrors", "0", "code")
}

// indexNames returns the names of a member's indexes, as one text.
func indexNames(rs *mongotest.ReplicaSet, t *testing.T, member int) string {
	t.Helper()
	reply := dial(t, rs, member).run(`{"listIndexes": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`)
	var names []string
	for i := range 10 {
		if v, err := reply.LookupErr("cursor", "firstBatch", fmt.Sprint(i), "name"); err == nil {
			names = append(names, v.StringValue())
		}
	}
	return strings.Join(names, " ")
}

func TestIndexesAreReplicatedAndEnforcedByTheNextPrimary(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.ReplicaSet) {
		c := dial(t, rs, 0)
		c.ok("%s}", uniqueA)
		if code := insertA(c, 1, 7, ""); code != -1 {
			t.Fatalf("the insert is answered %d", code)
		}
		must[any](t)(nil, rs.StepDown())
		p := must[int](t)(rs.WaitPrimary(context.Background()))
		if code := insertA(dial(t, rs, p), 2, 7, ""); p == 0 || code != 11000 {
			t.Errorf("the primary %d answers a duplicate %d, want 11000", p, code)
		}
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		for member := range 3 {
			if names := indexNames(rs, t, member); names != "_id_ a" {
				t.Errorf("member %d has the indexes %s", member, names)
			}
		}
	})
}

func TestIndexesAreRolledBack(t *testing.T) {
	const lonely = `, "writeConcern": {"w": 1}`
	for _, test := range []struct {
		rule          string
		before, alone string
		names         string
		code          int64 // of a duplicate after the rollback
	}{
		{"an index that only the lost primary had is gone", `{"ping": 1, "$db": "test"`, uniqueA, "_id_", -1},
		{"an index that only the lost primary had dropped is there", uniqueA, `{"dropIndexes": "c", "index": "a", "$db": "test"`, "_id_ a", 11000},
		{"so is one that went with its collection", uniqueA, `{"drop": "c", "$db": "test"`, "_id_ a", 11000},
		{"and one that got another name", uniqueA, `{"renameCollection": "test.c", "to": "test.d", "$db": "admin"`, "_id_ a", 11000},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.ReplicaSet) {
				c := dial(t, rs, 0)
				insertA(c, 1, 7, "")
				c.ok("%s}", test.before)
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				rs.Partition([]int{0}, []int{1, 2})
				c.ok("%s%s}", test.alone, lonely)
				pass(12 * time.Second)
				rs.Heal()
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				if names := indexNames(rs, t, 0); names != test.names {
					t.Errorf("the old primary has the indexes %s, want %s", names, test.names)
				}
				rs.Kill(1)
				rs.Kill(2)
				rs.Restart(1) // so that the old primary is elected
				for rs.Primary() != 0 {
					pass(time.Second)
					if p := rs.Primary(); p == 1 {
						must[any](t)(nil, rs.StepDown())
					}
				}
				if code := insertA(dial(t, rs, 0), 2, 7, ""); code != test.code {
					t.Errorf("a duplicate is answered %d, want %d", code, test.code)
				}
			})
		})
	}
}

func TestAnUnreplicatedHolderOfAKeyIsRolledBack(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.ReplicaSet) {
		c := dial(t, rs, 0)
		c.ok("%s}", uniqueA)
		insertA(c, 1, 1, "")
		insertA(c, 2, 2, "")
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		rs.Partition([]int{0}, []int{1, 2})
		c.ok(`{"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}], "$db": "test", "writeConcern": {"w": 1}}`)
		c.ok(`{"update": "c", "updates": [{"q": {"_id": 2}, "u": {"$set": {"a": 1}}}], "$db": "test", "writeConcern": {"w": 1}}`)
		if code := insertA(c, 3, 2, `, "writeConcern": {"w": 1}`); code != -1 {
			t.Errorf("a key that an update gave up is answered %d", code)
		}
		pass(12 * time.Second)
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		must[any](t)(nil, rs.StepDown())
		for must[int](t)(rs.WaitPrimary(context.Background())) != 0 {
			pass(time.Second)
			must[any](t)(nil, rs.StepDown())
		}
		c = dial(t, rs, 0)
		for a, want := range map[int]int64{1: 11000, 2: 11000, 3: -1} {
			if code := insertA(c, 10+a, a, ""); code != want {
				t.Errorf("a = %d is answered %d, want %d", a, code, want)
			}
		}
		if got := fmt.Sprint(rs.ReadAll("test.c")); !strings.Contains(got, `"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"}`) ||
			strings.Index(got, `"_id": {"$numberInt":"1"}`) > strings.Index(got, `"_id": {"$numberInt":"2"}`) {
			t.Errorf("after the rollback there is %s", got)
		}
	})
}

func TestARetriedStatementIsNotADuplicate(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok("%s}", uniqueA)
	insert := `{"insert": "c", "documents": [{"_id": 1, "a": 1}], ` + session(1)
	c.ok("%s", insert)
	if again := c.ok("%s", insert); number(again, "n") != 1 || number(again, "retriedStmtIds", "0") != 0 {
		t.Errorf("the retry is answered %v", again)
	}
	for range 2 {
		failed := c.ok("%s", `{"insert": "c", "documents": [{"_id": 2, "a": 1}], `+session(2))
		if number(failed, "writeErrors", "0", "code") != 11000 {
			t.Errorf("a duplicate is answered %v", failed)
		}
	}
}

func TestARenameIsSeenByMajoritiesAndRolledBack(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.ReplicaSet) {
		c := dial(t, rs, 0)
		c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "$db": "test"}`)
		c.ok(`{"insert": "d", "documents": [{"_id": 9}], "$db": "test"}`)
		rs.Partition([]int{0}, []int{1, 2})
		c.ok(`{"renameCollection": "test.c", "to": "test.d", "dropTarget": true, "$db": "admin", "writeConcern": {"w": 1}}`)
		c.ok(`{"delete": "d", "deletes": [{"q": {"_id": 2}, "limit": 1}], "$db": "test", "writeConcern": {"w": 1}}`)
		c.ok(`{"insert": "c", "documents": [{"_id": 4}], "$db": "test", "writeConcern": {"w": 1}}`)
		check := func(when, concern string) {
			for ns, want := range map[string]string{"c": "1 2 3", "d": "9"} {
				reply := c.ok(`{"find": "%s", "readConcern": {"level": "%s"}, "$db": "test", "$readPreference": {"mode": "nearest"}}`, ns, concern)
				var ids []string
				for i := range 5 {
					if id := number(reply, "cursor", "firstBatch", fmt.Sprint(i), "_id"); id >= 0 {
						ids = append(ids, fmt.Sprint(id))
					}
				}
				if got := strings.Join(ids, " "); got != want {
					t.Errorf("%s %s has %s, want %s", when, ns, got, want)
				}
			}
		}
		check("committed", "majority")
		pass(12 * time.Second)
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		check("after the rollback", "local")
	})
}
