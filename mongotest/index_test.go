package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

const uniqueA = `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a", "unique": true}], "$db": "test"`

// insertA inserts a document with one value of a and returns the code of its error, -1 for none.
func insertA(c *rawClient, id, a int, more string) int64 {
	reply := c.run(`{"insert": "c", "documents": [{"_id": %d, "a": %d}], "$db": "test"%s}`, id, a, more)
	return number(reply, "writeErrors", "0", "code")
}

// indexNames returns the names of a member's indexes, as one text.
func indexNames(rs *mongotest.Deployment, t *testing.T, member int) string {
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
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
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
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
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
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
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
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
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

// TestUniqueIndexesOfAllKindsAreReplicated: the next primary has their keys, and validate finds them whole. The manual's page on unique indexes
// excepts no kind but hashed ones.
func TestUniqueIndexesOfAllKindsAreReplicated(t *testing.T) {
	for _, kind := range []struct{ name, value string }{
		{"text", `"dog"`}, {"2d", `[1, 2]`}, {"2dsphere", `{"type": "Point", "coordinates": [1, 2]}`},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			c := dial(t, rs, 0)
			c.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": "%s"}, "name": "a", "unique": true}], "$db": "test"}`, kind.name)
			c.ok(`{"insert": "c", "documents": [{"_id": 1, "a": %s}, {"_id": 2}], "writeConcern": {"w": 3}, "$db": "test"}`, kind.value)
			valid := c.ok(`{"validate": "c", "$db": "test"}`)
			if !valid.Lookup("valid").Boolean() || number(valid, "keysPerIndex", "a") != 1 {
				t.Errorf("%s: the collection is %v", kind.name, valid)
			}
			rs.Kill(0)
			p, err := rs.WaitPrimary(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			reply := dial(t, rs, p).run(`{"insert": "c", "documents": [{"_id": 3, "a": %s}], "$db": "test"}`, kind.value)
			if code := number(reply, "writeErrors", "0", "code"); code != 11000 {
				t.Errorf("%s: the next primary answers %v", kind.name, reply)
			}
		})
	}
}
