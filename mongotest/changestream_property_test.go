package mongotest_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// TestAChangeStreamTellsEverything makes random changes in a set that fails over and rolls back. Who follows the stream from
// the beginning must have what the set has in the end, and a stream that begins behind any event must tell exactly the rest.
func TestAChangeStreamTellsEverything(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				ch := &changer{t: t, rs: rs, random: rand.New(rand.NewPCG(seed, 7))}
				for range 150 {
					ch.change()
				}
				rs.Heal()
				for m := range rs.Members() {
					rs.Restart(m)
				}
				must[int](t)(rs.WaitPrimary(context.Background()))
				ch.run(`{"insert": "a", "documents": [{"_id": 100}]}`)
				must[any](t)(nil, rs.WaitIdle(context.Background()))
				ch.verify()
			}, mongotest.ElectionTimeout(time.Second), mongotest.Seed(int64(seed)))
		})
	}
}

// changer makes random changes through whoever is primary.
type changer struct {
	t      *testing.T
	rs     *mongotest.Deployment
	random *rand.Rand
	txn    int
}

func (ch *changer) run(command string) bson.Raw {
	c := dial(ch.t, ch.rs, max(0, ch.rs.Primary()))
	defer c.conn.Close()
	if !strings.Contains(command, `"$db"`) {
		command = strings.TrimSuffix(command, "}") + `, "$db": "db"}`
	}
	return c.run("%s", command)
}

func (ch *changer) pick(list ...string) string { return list[ch.random.IntN(len(list))] }

func (ch *changer) coll() string { return ch.pick("a", "a", "b", "c") }

// change makes one change of the data, or of who is primary.
func (ch *changer) change() {
	switch n := ch.random.IntN(40); {
	case n == 0:
		ch.run(`{"drop": "` + ch.coll() + `"}`)
	case n == 1:
		ch.run(fmt.Sprintf(`{"renameCollection": "db.%s", "to": "db.%s", "dropTarget": true, "$db": "admin"}`, ch.coll(), ch.coll()))
	case n == 2:
		ch.run(`{"create": "` + ch.coll() + `", "changeStreamPreAndPostImages": {"enabled": true}}`)
	case n == 3:
		ch.run(`{"collMod": "` + ch.coll() + `", "changeStreamPreAndPostImages": {"enabled": ` + ch.pick("true", "false") + `}}`)
	case n == 4 && ch.random.IntN(4) == 0:
		ch.run(`{"dropDatabase": 1}`)
	case n < 7:
		ch.failOver()
	case n < 12:
		ch.transaction()
	default:
		ch.run(ch.write(""))
	}
}

// write returns a random write.
func (ch *changer) write(more string) string {
	coll, id := ch.coll(), ch.random.IntN(6)
	switch ch.random.IntN(8) {
	case 0, 1:
		return fmt.Sprintf(`{"insert": "%s", "documents": [{"_id": %d, "f": %s, "l": %s}]%s}`, coll, id, ch.value(), ch.list(), more)
	case 2:
		return fmt.Sprintf(`{"delete": "%s", "deletes": [{"q": {"_id": %d}, "limit": 1}]%s}`, coll, id, more)
	}
	update := ch.pick(
		`{"f": `+ch.value()+`, "l": `+ch.list()+`}`, `{"$set": {"f": `+ch.value()+`}}`, `{"$set": {"f.x": `+ch.value()+`}}`, `{"$unset": {"f": 1}}`,
		`{"$unset": {"f.x": 1}, "$set": {"g": `+ch.value()+`}}`, `{"$push": {"l": `+ch.value()+`}}`, `{"$pull": {"l": {"$gt": 2}}}`, `{"$pop": {"l": -1}}`,
		`{"$set": {"l.1.x": 5}}`, `{"$set": {"l": `+ch.list()+`}}`, `[{"$replaceWith": {"$mergeObjects": [{"_id": "$_id", "g": 1}, "$$ROOT"]}}]`, `{"$inc": {"n": 1}}`,
	)
	return fmt.Sprintf(`{"update": "%s", "updates": [{"q": {"_id": %d}, "u": %s, "upsert": %s}]%s}`, coll, id, update, ch.pick("true", "false"), more)
}

func (ch *changer) value() string {
	return ch.pick(`1`, `2`, `"t"`, `{"x": 1}`, `{"x": {"y": 1}, "z": 2}`, `{"z": 3, "x": 2}`, `{}`, `null`)
}

func (ch *changer) list() string {
	return ch.pick(`[]`, `[1]`, `[1, 2, 3]`, `[{"x": 1}, {"x": 2}, 5, 6]`, `[[1, 2], {"x": [1]}]`)
}

func (ch *changer) transaction() {
	ch.txn++
	fields := fmt.Sprintf(`, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "%d"}, "autocommit": false`, ch.txn)
	first := `, "startTransaction": true`
	for range 1 + ch.random.IntN(4) {
		ch.run(ch.write(fields + first))
		first = ""
	}
	ch.run(ch.pick(`{"commitTransaction"`, `{"commitTransaction"`, `{"abortTransaction"`) + `: 1` + fields + `, "$db": "admin"}`)
}

// failOver changes the primary; often the old one has written what the new one does not have.
func (ch *changer) failOver() {
	old := ch.rs.Primary()
	switch ch.random.IntN(4) {
	case 0:
		_ = ch.rs.StepDown()
	case 1:
		ch.rs.Kill(old)
		pass(3 * time.Second)
		ch.rs.Restart(old)
	default:
		ch.rs.Partition([]int{old})
		for range 1 + ch.random.IntN(4) {
			ch.run(ch.write(`, "writeConcern": {"w": 1}`))
		}
		pass(3 * time.Second)
		ch.rs.Heal()
	}
	pass(3 * time.Second)
	must[int](ch.t)(ch.rs.WaitPrimary(context.Background()))
}

const everything = `"showExpandedEvents": true, "fullDocument": "whenAvailable", "fullDocumentBeforeChange": "whenAvailable"`

func (ch *changer) verify() {
	ch.t.Helper()
	s, events := watch(dial(ch.t, ch.rs, ch.rs.Primary()), "", `{"startAtOperationTime": {"$timestamp": {"t": 1, "i": 1}}, `+everything+`}`)
	events = append(events, s.rest()...)
	f := follower{t: ch.t, data: make(map[string]map[int32]bson.D)}
	for _, e := range events {
		f.follow(e)
	}
	for _, coll := range []string{"a", "b", "c"} {
		has := make(map[int32]string)
		for _, raw := range ch.rs.ReadAll("db." + coll) {
			doc := decoded(raw)
			has[doc[0].Value.(int32)] = canonical(doc)
		}
		followed := make(map[int32]string)
		for id, doc := range f.data["db."+coll] {
			followed[id] = canonical(doc)
		}
		if !maps.Equal(has, followed) {
			ch.t.Errorf("db.%s has %v, and by its events %v", coll, has, followed)
		}
	}
	for range 15 {
		ch.resume(events, ch.random.IntN(len(events)))
	}
	undone := 0
	for _, e := range ch.rs.Journal() {
		if e.RolledBack {
			undone++
		}
	}
	if undone == 0 || f.updates < 10 {
		ch.t.Errorf("%d statements were rolled back and %d events are updates: too few to tell anything", undone, f.updates)
	}
	ch.t.Logf("%d events, %d updates, %d statements rolled back", len(events), f.updates, undone)
}

// resume checks that a stream that begins behind an event, at any member, tells the rest.
func (ch *changer) resume(events []bson.Raw, at int) {
	ch.t.Helper()
	command := watching("", `{"resumeAfter": `+events[at].Lookup("_id").String()+`, `+everything+`}`)
	command = strings.TrimSuffix(command, "}") + `, "$readPreference": {"mode": "nearest"}}`
	s := &stream{c: dial(ch.t, ch.rs, ch.random.IntN(ch.rs.Members()))}
	rest := s.read(s.c.ok("%s", command), "firstBatch")
	rest = append(rest, s.rest()...)
	if !slices.EqualFunc(rest, events[at+1:], func(a, b bson.Raw) bool { return a.String() == b.String() }) {
		ch.t.Errorf("behind event %d there are %d events, not the %d that there were", at, len(rest), len(events)-at-1)
	}
}

// follower has what the events say that there is.
type follower struct {
	t       *testing.T
	data    map[string]map[int32]bson.D // by namespace and _id
	updates int
}

func (f *follower) follow(e bson.Raw) {
	f.t.Helper()
	ns := e.Lookup("ns", "db").StringValue()
	if coll, ok := e.Lookup("ns", "coll").StringValueOK(); ok {
		ns += "." + coll
	}
	id, _ := e.Lookup("documentKey", "_id").Int32OK()
	if f.data[ns] == nil {
		f.data[ns] = make(map[int32]bson.D)
	}
	before := f.data[ns][id]
	if told, ok := e.Lookup("fullDocumentBeforeChange").DocumentOK(); ok && canonical(decoded(told)) != canonical(before) {
		f.t.Errorf("the document before is told to be %s; it was %s", told, canonical(before))
	}
	switch kind := e.Lookup("operationType").StringValue(); kind {
	case "insert":
		if before != nil {
			f.t.Errorf("inserted, though there is %v: %s", before, e)
		}
		f.data[ns][id] = decoded(e.Lookup("fullDocument").Document())
	case "replace":
		f.data[ns][id] = decoded(e.Lookup("fullDocument").Document())
	case "update":
		f.update(e, ns, id)
	case "delete":
		if before == nil {
			f.t.Errorf("deleted, though there is none: %s", e)
		}
		delete(f.data[ns], id)
	case "drop":
		delete(f.data, ns)
	case "rename":
		f.data["db."+e.Lookup("to", "coll").StringValue()] = f.data[ns]
		delete(f.data, ns)
	}
}

// update does to a document what the event says, and compares that with the document that the event has, if it has it.
func (f *follower) update(e bson.Raw, ns string, id int32) {
	f.t.Helper()
	f.updates++
	var doc any = f.data[ns][id]
	d := e.Lookup("updateDescription").Document()
	for _, t := range elements(d.Lookup("truncatedArrays")) {
		doc = with(doc, t.Lookup("field").StringValue(), func(v any) any { return v.(bson.A)[:t.Lookup("newSize").Int32()] })
	}
	removed, _ := d.Lookup("removedFields").Array().Values()
	for _, v := range removed {
		doc = with(doc, v.StringValue(), func(any) any { return nothing{} })
	}
	updated, _ := d.Lookup("updatedFields").Document().Elements()
	for _, u := range updated {
		value := decoded(bson.Raw(must[[]byte](f.t)(bson.Marshal(bson.D{{Key: "v", Value: u.Value()}}))))[0].Value
		doc = with(doc, u.Key(), func(any) any { return value })
	}
	f.data[ns][id] = doc.(bson.D)
	if told, ok := e.Lookup("fullDocument").DocumentOK(); ok && canonical(decoded(told)) != canonical(doc) {
		f.t.Errorf("the update makes %s; the event has %s: %s", canonical(doc), told, e)
	}
}

// nothing stands for a field that is not there.
type nothing struct{}

// with returns a copy of a document or an array with what change makes of the value at a path.
func with(v any, path string, change func(any) any) any {
	name, rest, deeper := strings.Cut(path, ".")
	inner := func(old any) any {
		if deeper {
			return with(old, rest, change)
		}
		return change(old)
	}
	if list, ok := v.(bson.A); ok {
		list = slices.Clone(list)
		if i, _ := strconv.Atoi(name); i < len(list) {
			list[i] = inner(list[i])
			return list
		}
		return append(list, inner(nil))
	}
	doc := slices.Clone(v.(bson.D))
	at := slices.IndexFunc(doc, func(e bson.E) bool { return e.Key == name })
	if at < 0 {
		return append(doc, bson.E{Key: name, Value: inner(nil)})
	}
	doc[at].Value = inner(doc[at].Value)
	if _, gone := doc[at].Value.(nothing); gone {
		return slices.Delete(doc, at, at+1)
	}
	return doc
}

func decoded(raw bson.Raw) bson.D {
	var doc bson.D
	if err := bson.Unmarshal(raw, &doc); err != nil {
		panic(err)
	}
	return doc
}

// canonical writes a value so that the order of fields makes no difference.
func canonical(v any) string {
	var parts []string
	switch v := v.(type) {
	case bson.D:
		for _, e := range slices.SortedFunc(slices.Values(v), func(a, b bson.E) int { return cmp.Compare(a.Key, b.Key) }) {
			parts = append(parts, e.Key+":"+canonical(e.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case bson.A:
		for _, e := range v {
			parts = append(parts, canonical(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("%T(%v)", v, v)
}
