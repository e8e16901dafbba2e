package mongotest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// tailer is a tailable cursor on a raw connection.
type tailer struct {
	c  *rawClient
	id int64
}

// tail opens a cursor on db.cap and returns it with what it has at first.
func tail(c *rawClient, more string) (*tailer, []int64) {
	c.t.Helper()
	t := &tailer{c: c}
	return t, t.read(c.ok(`{"find": "cap", "tailable": true%s, "$db": "db"}`, more), "firstBatch")
}

func (t *tailer) read(reply bson.Raw, field string) []int64 {
	t.id = number(reply, "cursor", "id")
	var ids []int64
	for _, doc := range elements(reply.Lookup("cursor", field)) {
		ids = append(ids, number(doc, "_id"))
	}
	return ids
}

func (t *tailer) get(more string) bson.Raw {
	t.c.t.Helper()
	return t.c.run(`{"getMore": {"$numberLong": "%d"}, "collection": "cap"%s, "$db": "db"}`, t.id, more)
}

func insertInto(c *rawClient, more string, ids ...string) {
	c.t.Helper()
	c.ok(`{"insert": "cap", "documents": [%s]%s, "$db": "db"}`, `{"_id": `+strings.Join(ids, `}, {"_id": `)+`}`, more)
}

func TestTailableCursors(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"create": "cap", "capped": true, "size": 4096, "max": 4, "$db": "db"}`)
		insertInto(c, "", "1", "2")
		for _, one := range []struct {
			rule, more  string
			first, then []int64
		}{
			{"it stays open at the end", ``, []int64{1, 2}, []int64{3}},
			{"a filter", `, "filter": {"_id": {"$gte": 2}}`, []int64{2}, []int64{3}},
			{"a filter that matches nothing yet", `, "filter": {"_id": 3}`, nil, []int64{3}},
			{"a filter that computes", `, "filter": {"$expr": {"$gte": ["$_id", "$$least"]}}, "let": {"least": 2}`, []int64{2}, []int64{3}},
			{"what is skipped is skipped once", `, "skip": 1`, []int64{2}, []int64{3}},
			{"a limit is one on all", `, "limit": 2`, []int64{1, 2}, nil},
			{"batches", `, "batchSize": 1`, []int64{1}, []int64{2, 3}},
			{"natural order", `, "sort": {"$natural": 1}`, []int64{1, 2}, []int64{3}},
			{"from nothing on", `, "batchSize": 0`, nil, []int64{1, 2, 3}},
			{"what a majority has", `, "readConcern": {"level": "majority"}`, []int64{1, 2}, []int64{3}},
		} {
			cursor, first := tail(c, one.more)
			insertInto(c, "", "3")
			if then := cursor.read(cursor.get(""), "nextBatch"); !slices.Equal(first, one.first) || !slices.Equal(then, one.then) || cursor.id == 0 {
				t.Errorf("%s: first %v, then %v, id %d; want %v and %v", one.rule, first, then, cursor.id, one.first, one.then)
			}
			c.ok(`{"delete": "cap", "deletes": [{"q": {"_id": 3}, "limit": 1}], "$db": "db"}`)
		}
		for _, more := range []string{`"hint": {"_id": 1}`, `"hint": {"$natural": -1}`, `"returnKey": true`, `"showRecordId": true`} {
			if reply := c.run(`{"find": "cap", "tailable": true, %s, "$db": "db"}`, more); number(reply, "code") != 238 {
				t.Errorf("a tailable cursor with %s is answered %s, want 238", more, reply)
			}
		}
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		_, secondaries := tail(dial(t, rs, 1), `, "$readPreference": {"mode": "secondary"}`)
		if !slices.Equal(secondaries, []int64{1, 2}) {
			t.Errorf("a secondary has %v", secondaries)
		}
	})
}

func TestEndsOfTailableCursors(t *testing.T) {
	for _, one := range []struct{ rule, command, want string }{
		{
			"who is overtaken is told so", `{"insert": "cap", "documents": [{"_id": 3}, {"_id": 4}, {"_id": 5}, {"_id": 6}], "$db": "db"}`,
			`Executor error during getMore :: caused by :: CollectionScan died due to failure to restore tailable cursor position. Last seen record id: RecordId(2)","code": {"$numberInt":"136"},"codeName": "CappedPositionLost"`,
		},
		{"the position is gone", `{"delete": "cap", "deletes": [{"q": {"_id": 2}, "limit": 1}], "$db": "db"}`, "Last seen record id: RecordId(2)"},
		{"the collection is dropped", `{"drop": "cap", "$db": "db"}`, `"errmsg": "collection dropped. UUID `},
		{"another collection takes its place", `{"renameCollection": "db.other", "to": "db.cap", "dropTarget": true, "$db": "admin"}`, `"codeName": "QueryPlanKilled"`},
		{"the collection is renamed", `{"renameCollection": "db.cap", "to": "db.x", "$db": "admin"}`, `"codeName": "QueryPlanKilled"`},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			c := dial(t, rs, 0)
			c.ok(`{"create": "cap", "capped": true, "size": 4096, "max": 3, "$db": "db"}`)
			insertInto(c, "", "1", "2")
			c.ok(`{"create": "other", "capped": true, "size": 4096, "$db": "db"}`)
			c.ok(`{"insert": "other", "documents": [{"_id": 1}, {"_id": 2}], "$db": "db"}`)
			cursor, _ := tail(c, `, "awaitData": true`)
			c.ok("%s", one.command)
			if reply := cursor.get("").String(); !strings.Contains(reply, one.want) {
				t.Errorf("%s: the reply is %s; want %q in it", one.rule, reply, one.want)
			}
			if reply := cursor.get(""); number(reply, "code") != 43 {
				t.Errorf("%s: then the reply is %s; want no cursor", one.rule, reply)
			}
		})
	}
}

// TestAwaitData checks who waits for documents, how long, and that a primary without its set returns the documents that it has.
func TestAwaitData(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c, writer := dial(t, rs, 0), dial(t, rs, 0)
		c.ok(`{"create": "cap", "capped": true, "size": 4096, "$db": "db"}`)
		insertInto(c, "", "1")
		plain, _ := tail(c, ``)
		waiting, _ := tail(c, `, "awaitData": true`)
		timed := func(cursor *tailer, more string) (bson.Raw, time.Duration) {
			start := time.Now()
			reply := cursor.get(more)
			return reply, time.Since(start)
		}
		if _, took := timed(plain, ""); took > time.Millisecond {
			t.Errorf("without awaitData it took %v", took)
		}
		if reply := plain.get(`, "maxTimeMS": 5`).String(); !strings.Contains(reply, "cannot set maxTimeMS on getMore command for a non-awaitData cursor") {
			t.Errorf("maxTimeMS without awaitData is answered %s", reply)
		}
		if _, took := timed(waiting, ""); took != time.Second {
			t.Errorf("with awaitData it took %v, want a second", took)
		}
		if _, took := timed(waiting, `, "maxTimeMS": 300`); took != 300*time.Millisecond {
			t.Errorf("with maxTimeMS 300 it took %v", took)
		}
		idle, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		written := make(chan struct{})
		time.AfterFunc(100*time.Millisecond, func() {
			defer close(written)
			if err := rs.WaitIdle(idle); err != nil {
				t.Errorf("who waits for documents is not idle: %v", err)
			}
			rs.Partition([]int{0})
			insertInto(writer, `, "writeConcern": {"w": 1}`, "2")
		})
		reply, took := timed(waiting, "")
		<-written
		if got := waiting.read(reply, "nextBatch"); !slices.Equal(got, []int64{2}) || took > 200*time.Millisecond {
			t.Errorf("it waited %v for %v", took, got)
		}
	})
}

func TestOfficialDriverTails(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		db := connect(t, rs).Database("db")
		must[any](t)(nil, db.CreateCollection(ctx, "cap", options.CreateCollection().SetCapped(true).SetSizeInBytes(4096)))
		c := db.Collection("cap")
		must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 0}`)))
		cursor := must[*mongo.Cursor](t)(c.Find(ctx, j(`{}`), options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(5*time.Second)))
		defer cursor.Close(ctx)
		go func() {
			for i := range 9 {
				pass(3 * time.Second)
				_, _ = c.InsertOne(ctx, j(`{"_id": %d}`, i+1))
			}
		}()
		for i := range int32(10) {
			if !cursor.Next(ctx) || cursor.Current.Lookup("_id").Int32() != i {
				t.Fatalf("document %d is %v, %v", i, cursor.Current, cursor.Err())
			}
		}
	})
}
