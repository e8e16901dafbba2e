package mgo

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/globalsign/mgo"
	"github.com/globalsign/mgo/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

type document struct {
	ID    int `bson:"_id"`
	N     int
	Extra string `bson:",omitempty"`
}

const documents = 250

func TestMgoReadsAndWrites(t *testing.T) {
	for name, a := range map[string]age{"today": today, "2014": of2014} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s, sent := w.connect(a)
			c := s.DB("app").C("c")
			fill(t, c)
			checkReads(t, c)
			w.checkCursors(c)
			checkWrites(t, c)
			checkErrors(t, c)
			if old := a == of2014; (sent.has(wire.OpGetMore) > 0) != old || sent.has(wire.OpKillCursors) == 0 || sent.has(wire.OpMsg) > 0 {
				t.Errorf("%d OP_GET_MORE, %d OP_KILL_CURSORS, %d OP_MSG", sent.has(wire.OpGetMore), sent.has(wire.OpKillCursors), sent.has(wire.OpMsg))
			}
		})
	}
}

func fill(t *testing.T, c *driver.Collection) {
	t.Helper()
	var all []any
	for i := range documents {
		all = append(all, document{ID: i, N: i % 10, Extra: "x"})
	}
	check(t, c.Insert(all...))
	check(t, c.EnsureIndexKey("n"))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantIDs checks the documents of a query.
func wantIDs(t *testing.T, name string, q *driver.Query, want ...int) {
	t.Helper()
	var all []document
	if err := q.All(&all); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var ids []int
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	if !slices.Equal(ids, want) {
		t.Errorf("%s: %v, want %v", name, ids, want)
	}
}

func checkReads(t *testing.T, c *driver.Collection) {
	t.Helper()
	wantIDs(t, "skip and limit", c.Find(nil).Sort("-_id").Skip(2).Limit(3), 247, 246, 245)
	wantIDs(t, "a limit over several batches", c.Find(bson.M{"_id": bson.M{"$lt": 7}}).Sort("_id").Batch(2).Limit(5), 0, 1, 2, 3, 4)
	wantIDs(t, "hint, comment, maxTimeMS", c.Find(bson.M{"n": 3, "_id": bson.M{"$lt": 30}}).Sort("_id").Hint("n").Comment("c").SetMaxTime(time.Minute), 3, 13, 23)
	wantIDs(t, "none", c.Find(bson.M{"n": 99}))
	var one document
	if err := c.Find(bson.M{"_id": 5}).Select(bson.M{"n": 1}).One(&one); err != nil || one != (document{ID: 5, N: 5}) {
		t.Errorf("%+v, %v", one, err)
	}
	if err := c.FindId(-1).One(&one); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("a document that does not exist: %v", err)
	}
	if n, err := c.Find(bson.M{"n": 3}).Count(); n != 25 || err != nil {
		t.Errorf("count: %d, %v", n, err)
	}
	var values []int
	if err := c.Find(nil).Distinct("n", &values); err != nil || len(values) != 10 {
		t.Errorf("distinct: %v, %v", values, err)
	}
	var sums []bson.M
	if err := c.Pipe([]bson.M{{"$group": bson.M{"_id": "$n"}}}).Batch(3).All(&sums); err != nil || len(sums) != 10 {
		t.Errorf("aggregate: %v, %v", sums, err)
	}
	var explained bson.M
	if err := c.Find(bson.M{"n": 3}).Explain(&explained); err != nil || explained["queryPlanner"] == nil {
		t.Errorf("explain: %v, %v", explained, err)
	}
}

func (w *world) checkCursors(c *driver.Collection) {
	w.Helper()
	iter, n := c.Find(nil).Sort("_id").Batch(20).Iter(), 0
	for d := (document{}); iter.Next(&d); n++ {
		if d.ID != n {
			w.Fatalf("document %d is %+v", n, d)
		}
	}
	if err := iter.Close(); err != nil || n != documents {
		w.Errorf("%d documents, %v", n, err)
	}
	before := w.killed()
	iter = c.Find(nil).Batch(20).Iter()
	if d := (document{}); !iter.Next(&d) {
		w.Error("a cursor has no documents")
	}
	check(w.T, iter.Close())                              // by OP_KILL_CURSORS, which has no reply
	check(w.T, c.Database.Run(bson.M{"dbStats": 1}, nil)) // on the same connection
	if n := w.killed() - before; n != 1 {
		w.Errorf("%d cursors were killed", n)
	}
}

// killed returns how often the primary was told to end cursors.
func (w *world) killed() int64 {
	return w.set.Counters(w.set.Primary()).Commands["killCursors"]
}

func checkWrites(t *testing.T, c *driver.Collection) {
	t.Helper()
	check(t, c.Update(bson.M{"_id": 1}, bson.M{"$set": bson.M{"n": 100}}))
	if info, err := c.UpdateAll(bson.M{"n": 3}, bson.M{"$inc": bson.M{"n": 1000}}); err != nil || info.Updated != 25 {
		t.Errorf("%+v, %v", info, err)
	}
	if info, err := c.UpsertId(1000, bson.M{"$set": bson.M{"n": 7}}); err != nil || info.UpsertedId != 1000 {
		t.Errorf("%+v, %v", info, err)
	}
	check(t, c.RemoveId(2))
	if err := c.RemoveId(2); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("a second remove: %v", err)
	}
	if info, err := c.RemoveAll(bson.M{"n": 1003}); err != nil || info.Removed != 25 {
		t.Errorf("%+v, %v", info, err)
	}
	var d document
	info, err := c.FindId(1000).Apply(driver.Change{Update: bson.M{"$inc": bson.M{"n": 1}}, ReturnNew: true}, &d)
	if err != nil || info.Updated != 1 || d != (document{ID: 1000, N: 8}) {
		t.Errorf("%+v, %+v, %v", info, d, err)
	}
	if n, err := c.Count(); n != documents+1-1-25 || err != nil {
		t.Errorf("%d documents, %v", n, err)
	}
}

func checkErrors(t *testing.T, c *driver.Collection) {
	t.Helper()
	if err := c.Insert(document{ID: 1}); !driver.IsDup(err) {
		t.Errorf("a duplicate: %v", err)
	}
	var e *driver.QueryError
	if err := c.Find(bson.M{"n": bson.M{"$unknown": 1}}).One(nil); !errors.As(err, &e) || e.Code != 2 {
		t.Errorf("an unknown operator: %v", err)
	}
}

// mgo tails by an OP_QUERY and OP_GET_MORE even if the server knows the command find.
func TestMgoTails(t *testing.T) {
	w := newWorld(t)
	s, sent := w.connect(today)
	c := s.DB("app").C("capped")
	check(t, c.Create(&driver.CollectionInfo{Capped: true, MaxBytes: 1 << 20}))
	check(t, c.Insert(document{ID: 0}))
	iter := c.Find(nil).Batch(2).Tail(time.Minute)
	for i := range 5 {
		var d document
		if !iter.Next(&d) || d.ID != i {
			t.Fatalf("%+v instead of document %d, %v", d, i, iter.Err())
		}
		check(t, c.Insert(document{ID: i + 1}))
	}
	check(t, iter.Close())
	if q := sent.query("app.capped"); q.Flags&(wire.TailableCursor|wire.AwaitData) != wire.TailableCursor|wire.AwaitData || sent.has(wire.OpGetMore) == 0 {
		t.Errorf("flags %b, %d OP_GET_MORE", q.Flags, sent.has(wire.OpGetMore))
	}
}

// The writes without a reply are followed by getLastError, which tells why they are refused.
func TestMgoIsToldThatItsWritesAreTooOld(t *testing.T) {
	w := newWorld(t)
	s, sent := w.connect(of2012)
	c := s.DB("app").C("c")
	for name, write := range map[string]func() error{
		"OP_INSERT": func() error { return c.Insert(document{ID: 1}) },
		"OP_UPDATE": func() error { return c.UpdateId(1, bson.M{"$set": bson.M{"n": 1}}) },
		"OP_DELETE": func() error { return c.RemoveId(1) },
	} {
		s.Refresh()
		var e *driver.QueryError
		if err := write(); !errors.As(err, &e) || e.Code != 352 || !strings.HasPrefix(e.Message, name+" is no longer supported") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent.has(wire.OpInsert) != 1 || sent.has(wire.OpUpdate) != 1 || sent.has(wire.OpDelete) != 1 {
		t.Error("mgo did not send each old write once")
	}
	for _, e := range w.set.Journal() {
		t.Errorf("a member executed %s", &e)
	}
}
