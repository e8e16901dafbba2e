package mongotest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

const (
	moving     = `{"renameCollection": "db.c", "to": "other.d", "$db": "admin"}`
	withTwoAnd = `{"insert": "c", "documents": [{"_id": 2}, {"_id": 1}], "$db": "db"}`
)

// TestACollectionThatMovesToAnotherDatabase checks what is left and what has come, at each member.
func TestACollectionThatMovesToAnotherDatabase(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(withTwoAnd)
		client.ok(`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}], "$db": "db"}`)
		client.ok(`{"renameCollection": "db.c", "to": "other.d", "writeConcern": {"w": 3}, "$db": "admin"}`)
		for member := range rs.Members() {
			c := dial(t, rs, member)
			found := c.ok(`{"find": "d", "$readPreference": {"mode": "nearest"}, "$db": "other"}`)
			var ids []int64
			for _, doc := range elements(found.Lookup("cursor", "firstBatch")) {
				ids = append(ids, number(doc, "_id"))
			}
			if !slices.Equal(ids, []int64{2, 1}) {
				t.Errorf("member %d has the documents %v, want 2 and 1", member, ids)
			}
			indexes := c.ok(`{"listIndexes": "d", "$readPreference": {"mode": "nearest"}, "$db": "other"}`)
			if got := elements(indexes.Lookup("cursor", "firstBatch")); len(got) != 2 {
				t.Errorf("member %d has the indexes %s", member, got)
			}
			for db, want := range map[string]int{"db": 0, "other": 1} {
				list := c.ok(`{"listCollections": 1, "$readPreference": {"mode": "nearest"}, "$db": "%s"}`, db)
				if got := elements(list.Lookup("cursor", "firstBatch")); len(got) != want {
					t.Errorf("member %d has in %s %s", member, db, got)
				}
			}
		}
	})
}

// TestBefore60TheCopiesAreNotTold checks that the inserts of the copy have fromMigrate, so that a stream has only the rename.
func TestBefore60TheCopiesAreNotTold(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		client.ok(withTwoAnd)
		s, _ := watch(client, "other", `{}`)
		client.ok(moving)
		if got := names(s.rest()); !slices.Equal(got, []string{"rename"}) {
			t.Errorf("the events are %q, want the rename", got)
		}
		log := client.ok(`{"find": "oplog.rs", "filter": {"op": "i", "ns": {"$regex": "^other"}}, "$db": "local"}`).String()
		if strings.Count(log, `"fromMigrate": true`) != 2 {
			t.Errorf("the oplog has %s", log)
		}
	}, mongotest.Version("5.0"))
}

// TestAMoveWaitsForATransaction checks that nothing of it is done while a transaction has written to the source.
func TestAMoveWaitsForATransaction(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play("- | PUT 1 1 | n 1\nA+ | SET 1 2 | n 1")
		moved := p.begin("-", `{"renameCollection": "test.c", "to": "other.d", "$db": "admin"}`)
		p.play("A | COMMIT | ok")
		if reply := <-moved; number(reply, "ok") != 1 {
			t.Fatalf("the move is answered %s", reply)
		}
		list := p.run("-", `{"find": "oplog.rs", "filter": {"ns": {"$regex": "^other"}}, "projection": {"o": 1}, "$db": "local"}`).String()
		if made := strings.Count(list, `"create": "tmp`); made != 1 {
			t.Errorf("%d temporary collections were made: %s", made, list)
		}
	})
}

// TestTheUUIDThatTheSourceMustHave checks the right one, and the name of the collection that has another one's. The page of
// renameCollection and the errors of a standalone server tell the fields.
func TestTheUUIDThatTheSourceMustHave(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := dial(t, rs, 0)
		id := make(map[string]string)
		for _, coll := range []string{"a", "b"} {
			client.ok(`{"create": "%s", "$db": "db"}`, coll)
			list := client.ok(`{"listCollections": 1, "filter": {"name": "%s"}, "$db": "db"}`, coll)
			id[coll] = elements(list.Lookup("cursor", "firstBatch"))[0].Lookup("info", "uuid").String()
		}
		const rename = `{"renameCollection": "db.a", "to": "db.x", "collectionUUID": %s, "$db": "admin"}`
		reply := client.run(rename, id["b"])
		if actual, _ := reply.Lookup("actualCollection").StringValueOK(); number(reply, "code") != 361 || actual != "b" {
			t.Errorf("the UUID of b is answered %s", reply)
		}
		client.ok(rename, id["a"])
	})
}
