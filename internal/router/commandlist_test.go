package router_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// routed says where a command with $readPreference {mode: "secondary"} goes.
type routed struct {
	command   bson.D
	secondary bool
	gone      bool // servers of today do not have it
}

func command(name string, value any, more ...bson.E) bson.D { return append(d(name, value), more...) }

func e(name string, value any) bson.E { return bson.E{Key: name, Value: value} }

func stages(stages ...bson.D) []bson.E {
	list := bson.A{}
	for _, s := range stages {
		list = append(list, s)
	}
	return []bson.E{e("pipeline", list), e("cursor", bson.D{})}
}

var mapAndReduce = []bson.E{e("map", bson.JavaScript("function() { emit(1, 1) }")), e("reduce", bson.JavaScript("function(k, v) { return v.length }"))}

func mapReduce(name string, out any) bson.D {
	return command(name, "c", append(append([]bson.E{}, mapAndReduce...), e("out", out))...)
}

// The list of commands that obey a read preference (Read Preferences, "Commands", with find added), and others.
var commandList = map[string]routed{
	"find":                   {command: d("find", "c"), secondary: true},
	"aggregate":              {command: command("aggregate", "c", stages(d("$match", bson.D{}))...), secondary: true},
	"aggregate no stage":     {command: command("aggregate", "c", stages()...), secondary: true},
	"count":                  {command: d("count", "c"), secondary: true},
	"distinct":               {command: command("distinct", "c", e("key", "_id")), secondary: true},
	"mapReduce inline":       {command: mapReduce("mapReduce", d("inline", 1)), secondary: true},
	"mapreduce inline":       {command: mapReduce("mapreduce", d("inline", 1)), secondary: true, gone: true},
	"collStats":              {command: d("collStats", "c"), secondary: true},
	"collstats":              {command: d("collstats", "c"), secondary: true},
	"dbStats":                {command: d("dbStats", 1), secondary: true},
	"dbstats":                {command: d("dbstats", 1), secondary: true},
	"group":                  {command: d("group", d("ns", "c")), secondary: true, gone: true},
	"geoNear":                {command: d("geoNear", "c"), secondary: true, gone: true},
	"geoSearch":              {command: d("geoSearch", "c"), secondary: true, gone: true},
	"geoWalk":                {command: d("geoWalk", "c"), secondary: true, gone: true},
	"text":                   {command: d("text", "c"), secondary: true, gone: true},
	"parallelCollectionScan": {command: d("parallelCollectionScan", "c"), secondary: true, gone: true},

	"aggregate $out":            {command: command("aggregate", "c", stages(d("$out", "out"))...)},
	"aggregate $out at the end": {command: command("aggregate", "c", stages(d("$match", bson.D{}), d("$out", "out"))...)},
	"aggregate $merge":          {command: command("aggregate", "c", stages(d("$merge", d("into", "target")))...)},
	"mapReduce into":            {command: mapReduce("mapReduce", "into")},
	"mapReduce merge":           {command: mapReduce("mapReduce", d("merge", "merged"))},
	"mapReduce replace":         {command: mapReduce("mapreduce", d("replace", "replaced")), gone: true},
	"listCollections":           {command: d("listCollections", 1)},
	"listIndexes":               {command: d("listIndexes", "c")},
	"explain":                   {command: d("explain", d("find", "c"))},
	"insert":                    {command: command("insert", "c", e("documents", bson.A{d("a", 1)}))},
	"update":                    {command: command("update", "c", e("updates", bson.A{bson.D{e("q", bson.D{}), e("u", d("$set", d("a", 1)))}}))},
	"delete":                    {command: command("delete", "c", e("deletes", bson.A{bson.D{e("q", d("a", 7)), e("limit", 1)}}))},
	"findAndModify":             {command: command("findAndModify", "c", e("query", bson.D{}), e("update", d("$set", d("a", 2))))},
	"create":                    {command: d("create", "another")},
	"createIndexes":             {command: command("createIndexes", "c", e("indexes", bson.A{bson.D{e("key", d("a", 1)), e("name", "a_1")}}))},
	"a command in other case":   {command: d("FIND", "c"), gone: true},
	"an unknown command":        {command: d("dance", 1), gone: true},
}

func TestWhereACommandWithAReadPreferenceGoes(t *testing.T) {
	for _, pinned := range []bool{true, false} {
		inWorld(t, func(w *world) {
			w.seed()
			c := w.dial()
			for name, r := range commandList {
				before := w.receivedBy(r.command[0].Key)
				o := c.outcomeOf(r.command, preferring("secondary"))
				if r.gone != (o.Code == 59) || !r.gone && o.OK != 1 {
					w.Errorf("%s: %+v", name, o)
				}
				member := changed(before, w.receivedBy(r.command[0].Key))
				if member < 0 || (member != w.set.Primary()) != r.secondary {
					w.Errorf("%s went to member %d; the primary is %d", name, member, w.set.Primary())
				}
				if !r.gone && w.last(r.command[0].Key) != member {
					w.Errorf("%s: the journal has member %d, the counters %d", name, w.last(r.command[0].Key), member)
				}
			}
		}, func(c *router.Config) { c.PinOperation = !pinned })
	}
}

// receivedBy returns how often each member has received a command.
func (w *world) receivedBy(command string) []int64 {
	var n []int64
	for i := range w.set.Members() {
		n = append(n, w.set.Counters(i).Commands[command])
	}
	return n
}

// changed returns the member whose number has grown, -1 if it is not exactly one, by one.
func changed(before, after []int64) int {
	member := -1
	for i := range after {
		switch {
		case after[i] == before[i]:
		case member >= 0 || after[i] != before[i]+1:
			return -1
		default:
			member = i
		}
	}
	return member
}

// seed inserts a document, and waits until all members and the router know of it.
func (w *world) seed() {
	w.Helper()
	if err := w.set.Insert("app.c", bson.D{e("_id", 1)}); err != nil {
		w.Fatal(err)
	}
	w.dial().must(d("hello", 1))
	w.pass(time.Second)
}

// pass lets the fake clock run.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// In a transaction all goes to the primary.
func TestTransactionsIgnoreAReadPreference(t *testing.T) {
	inWorld(t, func(w *world) {
		w.seed()
		c := w.dial()
		session := e("lsid", d("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)}))
		for i, name := range []string{"find", "aggregate", "distinct"} {
			transaction := []bson.E{session, e("txnNumber", int64(i+1)), e("autocommit", false)}
			r := commandList[name]
			c.must(r.command, append([]bson.E{e("startTransaction", true), preferring("secondary")}, transaction...)...)
			if got := w.last(name); got != w.set.Primary() {
				w.Errorf("%s went to member %d, the primary is %d", name, got, w.set.Primary())
			}
			if got := c.outcomeOf(d("commitTransaction", 1), append(transaction, preferring("nearest"))...); got.OK != 1 && got.Code != 13 {
				w.Errorf("commitTransaction: %+v", got)
			}
		}
	})
}

// Without a preference, or with primary, a read goes to the primary.
func TestAReadOfThePrimary(t *testing.T) {
	inWorld(t, func(w *world) {
		w.seed()
		c := w.dial()
		for name, more := range map[string][]bson.E{
			"without a preference": nil,
			"with primary":         {preferring("primary")},
			"with an empty set":    {preferring("primary", e("tags", bson.A{bson.D{}}))},
		} {
			c.must(d("find", "c"), more...)
			if got := w.last("find"); got != w.set.Primary() {
				w.Errorf("%s: member %d", name, got)
			}
		}
	})
}

// A member gets the preference with a command that obeys it, as it came, and none with another command: it would refuse a write with one.
func TestThePreferenceThatAMemberGets(t *testing.T) {
	inWorld(t, func(w *world) {
		w.seed()
		got := make(chan string, 1)
		record := func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			got <- r.Body.Lookup("$readPreference").String()
			return next(r)
		}
		for name, c := range map[string]struct {
			command    bson.D
			preference bson.E
			passes     bool
		}{
			"a read on the list":       {d("find", "c"), preferring("secondary", e("unknown", 1)), true},
			"a read of the primary":    {d("find", "c"), preferring("primary"), false},
			"a read off the list":      {d("listIndexes", "c"), preferring("secondary"), false},
			"a write":                  {commandList["insert"].command, preferring("secondary"), false},
			"an aggregation that does": {commandList["aggregate $out"].command, preferring("secondary"), false},
		} {
			remove := w.set.Use(c.command[0].Key, record)
			w.dial().must(c.command, c.preference)
			remove()
			if text := <-got; (text != "") != c.passes || c.passes && text != `{"mode": "secondary","unknown": {"$numberInt":"1"}}` {
				w.Errorf("%s: %q", name, text)
			}
		}
	})
}
