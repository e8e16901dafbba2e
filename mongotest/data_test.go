package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// tester is a Tester that notes what it is told.
type tester struct {
	mu       sync.Mutex
	errors   []string
	logs     []string
	cleanups []func()
}

func (*tester) Helper()            {}
func (r *tester) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *tester) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.errors) > 0
}

func (r *tester) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *tester) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *tester) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

// take returns the errors so far and forgets them.
func (r *tester) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.errors
	r.errors = nil
	return list
}

// end is the end of the test.
func (r *tester) end() {
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
}

func TestDataIsReadAndWrittenWithoutTheWire(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "u", Password: "p"}))
	must[any](t)(nil, rs.Insert("test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}}, j(`{"_id": 2, "n": 2}`)))
	must[any](t)(nil, rs.CreateIndex("test.c", bson.D{{Key: "n", Value: 1}}, bson.E{Key: "unique", Value: true}))
	for name, err := range map[string]error{
		"the _id is taken":          rs.Insert("test.c", j(`{"_id": 1}`)),
		"the unique index forbids":  rs.Replace("test.c", j(`{"_id": 1, "n": 2}`)),
		"the index cannot be built": rs.CreateIndex("test.c", j(`{"n": 1}`), bson.E{Key: "name", Value: "n_1"}, bson.E{Key: "sparse", Value: true}),
	} {
		if e := (*mongotest.CommandError)(nil); !errors.As(err, &e) || e.Code != 11000 && e.Code != 86 {
			t.Errorf("%s: %v", name, err)
		}
	}
	must[any](t)(nil, rs.Replace("test.c", j(`{"_id": 1, "n": 5}`)))
	must[any](t)(nil, rs.Replace("test.c", j(`{"_id": 3, "n": 3}`)))
	if n, err := rs.Delete("test.c", j(`{"n": 2}`)); n != 1 || err != nil {
		t.Errorf("deleted: %d, %v", n, err)
	}
	if docs, err := rs.Find("test.c", j(`{"n": {"$gt": 3}}`)); len(docs) != 1 || err != nil {
		t.Errorf("found: %v, %v", docs, err)
	}
	rs.CheckCount(t, "test.c", 2)
	rs.CheckIndex(t, "test.c", j(`{"n": 1}`), bson.E{Key: "unique", Value: true}, bson.E{Key: "name", Value: "n_1"})
	rs.CheckDocuments(t, "test.c", j(`{"n": 3.0, "_id": 3}`), bson.M{"n": int64(5), "_id": 1})
	must[any](t)(nil, rs.WaitIdle(within(t)))
	for m := range rs.Members() {
		if docs := rs.ReadMember(m, "test.c"); len(docs) != 2 {
			t.Errorf("member %d has %v", m, docs)
		}
	}
	must[any](t)(nil, rs.Drop("test.c"))
	must[any](t)(nil, rs.Drop("test.c"))
	rs.CheckCount(t, "test.c", 0)
}

func TestAResultLargerThanAMessageIsRead(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	for i := range 3 {
		must[any](t)(nil, rs.Insert("test.c", bson.D{{Key: "_id", Value: i}, {Key: "s", Value: strings.Repeat("x", 10<<20)}}))
	}
	if docs, err := rs.Find("test.c", nil); len(docs) != 3 || err != nil {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

func TestDirectAccessFailsInsteadOfWaitingForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := must[*mongotest.Deployment](t)(mongotest.RunReplicaSet(3, mongotest.InMemory()))
		rs.Isolate(0)
		err := rs.Insert("test.c", j(`{"_id": 1}`)) // by the old primary, which steps down after the election timeout
		if e := (*mongotest.CommandError)(nil); !errors.As(err, &e) || e.Code != 11602 {
			t.Errorf("a primary without a majority: %v", err)
		}
		if n := len(rs.ReadMember(0, "test.c")); n != 1 {
			t.Errorf("the old primary has %d documents, want its own", n)
		}
		must[int](t)(rs.WaitPrimary(context.Background()))
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		rs.CheckCount(t, "test.c", 0)
		rs.Kill(1)
		if _, err := rs.Command(1, "admin", j(`{"ping": 1}`)); err == nil {
			t.Error("a killed member answered")
		}
		must[any](t)(nil, rs.Close())
		if err := rs.Insert("test.c", j(`{}`)); err == nil {
			t.Error("a closed set took a document")
		}
	})
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	_, empty := rs.Command(0, "admin", bson.D{})
	for want, err := range map[string]error{
		`the namespace "test" is not database.collection`:  rs.Insert("test", j(`{}`)),
		`the namespace "test." is not database.collection`: rs.Drop("test."),
		`Replace: the document has no _id`:                 rs.Replace("test.c", j(`{}`)),
		`Insert: encoding document 1:`:                     rs.Insert("test.c", j(`{}`), 1),
		`Insert: argument 0 is a bson.A; pass`:             rs.Insert("test.c", bson.A{j(`{}`)}),
		`Command: the command is an empty document`:        empty,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mongotest: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for method, read := range map[string]func(){
		"ReadAll": func() { rs.ReadAll("nodot") }, "ReadMember": func() { rs.ReadMember(0, "nodot") },
	} {
		if got := panics(read); got != `mongotest: the namespace "nodot" is not database.collection` {
			t.Errorf("%s: %q", method, got)
		}
	}
	if _, err := rs.Command(1, "admin", j(`{"ping": 1}`)); err == nil {
		t.Error("a member that does not exist answered")
	}
}

func TestDirectWritesAndClientsDoNotDisturbEachOther(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	var group sync.WaitGroup
	for w := range 4 {
		c := dial(t, rs, 0)
		group.Go(func() {
			for i := range 50 {
				c.ok(`{"insert": "c", "documents": [{"_id": "wire %d %d"}], "$db": "test"}`, w, i)
			}
		})
		group.Go(func() {
			for i := range 50 {
				if err := rs.Insert("test.c", bson.D{{Key: "_id", Value: fmt.Sprint("call ", w, i)}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	rs.CheckCount(t, "test.c", 400)
}

func TestChecksTellWhatDiffers(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	must[any](t)(nil, rs.Insert("test.c", j(`{"_id": 1, "a": [1, {"b": 2, "c": 3}]}`), j(`{"_id": 2, "n": 1}`), j(`{"_id": 4}`)))
	c := dial(t, rs, 0)
	c.ok(`{"ping": 1, "$db": "admin"}`)
	c.ok(`{"hello": 1, "$db": "admin"}`)
	c.ok(`{"ismaster": 1, "$db": "admin"}`)
	c.ok(`{"findAndModify": "d", "query": {}, "remove": true, "$db": "test"}`)
	c.ok(`{"findandmodify": "d", "query": {}, "remove": true, "$db": "test"}`)
	c.ok(`{"dropIndexes": "c", "index": "*", "$db": "test"}`)
	c.run(`{"frobnicate": 1, "$db": "test"}`)
	r := &tester{}
	for _, test := range []struct {
		rule  string
		check func()
		want  []string // parts of the error; nil if there is none
	}{
		{"the order of fields and documents does not matter, numbers are compared by value", func() {
			rs.CheckDocuments(r, "test.c", j(`{"_id": 4}`), j(`{"a": [1.0, {"c": 3, "b": 2}], "_id": 1}`), bson.M{"_id": 2, "n": int64(1)})
		}, nil},
		{"what is missing, other and too much is shown", func() {
			rs.CheckDocuments(r, "test.c", j(`{"_id": 1, "a": [1, {"b": 2, "c": 3}]}`), j(`{"_id": 2, "n": 7}`), j(`{"_id": 3}`))
		}, []string{"- {\"_id\":2,\"n\":7}\n+ {\"_id\":2,\"n\":1}\n- {\"_id\":3}\n+ {\"_id\":4}\n"}},
		{"the order in arrays matters", func() {
			rs.CheckDocuments(r, "test.c", j(`{"_id": 1, "a": [{"b": 2, "c": 3}, 1]}`), j(`{"_id": 2, "n": 1}`), j(`{"_id": 4}`))
		}, []string{"- {\"_id\":1"}},
		{"a document is not counted twice", func() {
			rs.CheckDocuments(r, "test.c", j(`{"_id": 4}`), j(`{"_id": 4}`), j(`{"_id": 2, "n": 1}`))
		}, []string{"- {\"_id\":4}"}},
		{"the number of documents", func() { rs.CheckCount(r, "test.c", 2) }, []string{"3 documents, want 2"}},
		{"an index that is there", func() { rs.CheckIndex(r, "test.c", j(`{"_id": 1}`)) }, nil},
		{"an index that is not", func() { rs.CheckIndex(r, "test.c", j(`{"n": 1}`)) }, []string{`{"n":1}`, `{"_id":1}`}},
		{"an index without that option", func() {
			rs.CheckIndex(r, "test.c", j(`{"_id": 1}`), bson.E{Key: "sparse", Value: true})
		}, []string{"sparse"}},
		{"an index of no collection", func() { rs.CheckIndex(r, "test.none", j(`{"_id": 1}`)) }, []string{"NamespaceNotFound"}},
		{"commands", func() { rs.CheckCommands(r, "ping", 1) }, nil},
		{"commands by names in another case", func() { rs.CheckCommands(r, "PING", 1) }, nil},
		{"commands by their newest name", func() { rs.CheckCommands(r, "findAndModify", 2) }, nil},
		{"commands by an older name", func() { rs.CheckCommands(r, "findandmodify", 2) }, nil},
		{"commands by an older name that is another word", func() { rs.CheckCommands(r, "deleteIndexes", 1) }, nil},
		{"hello is all its names", func() { rs.CheckCommands(r, "hello", 2) }, nil},
		{"any command is none of hello's", func() { rs.CheckCommands(r, mongotest.AnyCommand, 5) }, nil},
		{"a name of no command", func() { rs.CheckCommands(r, "insret", 0) }, []string{`there is no command "insret"`}},
		{"a name of no command that a client sent", func() { rs.CheckCommands(r, "frobnicate", 1) }, nil},
		{"too few commands", func() { rs.CheckCommands(r, "ping", 2) }, []string{"received 1 times, want 2"}},
		{"what cannot be encoded", func() { rs.CheckDocuments(r, "test.c", 1) }, []string{"mongotest: CheckDocuments: encoding document 0"}},
		{"a value that cannot be encoded", func() {
			rs.CheckDocuments(r, "test.c", bson.D{{Key: "c", Value: make(chan int)}})
		}, []string{"encoding document 0"}},
		{"a slice of documents", func() { rs.CheckDocuments(r, "test.c", []bson.D{}) }, []string{
			"mongotest: CheckDocuments: argument 0 is a []bson.D; pass the documents with ... (of a []any), or one by one",
		}},
	} {
		test.check()
		got := r.take()
		if len(got) != min(1, len(test.want)) {
			t.Errorf("%s: the errors are %q", test.rule, got)
			continue
		}
		for _, part := range test.want {
			if !strings.Contains(got[0], part) {
				t.Errorf("%s: %s\nlacks %s", test.rule, got[0], part)
			}
		}
	}
}
