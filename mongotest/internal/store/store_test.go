package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func encode(t testing.TB, doc bson.D) []byte {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// document is {_id: id, x: x}, with the key that it is stored under.
func document(t testing.TB, id, x int) (doc []byte, key string) {
	t.Helper()
	doc, key, err := Prepared(encode(t, bson.D{{Key: "_id", Value: id}, {Key: "x", Value: x}}))
	if err != nil {
		t.Fatal(err)
	}
	return doc, key
}

func uniqueOnX(t testing.TB) *Index {
	t.Helper()
	ix, err := ParseIndex(encode(t, bson.D{{Key: "key", Value: bson.D{{Key: "x", Value: 1}}}, {Key: "name", Value: "x_1"}, {Key: "unique", Value: true}}), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// writer writes entries as a primary does.
type writer struct {
	*Store
	t testing.TB
}

func newWriter(t testing.TB) *writer { return &writer{New(), t} }

func (w *writer) write(e *Entry) *Entry {
	e.TS = w.Newest() + 1
	w.Apply(e)
	return e
}

func (w *writer) create(ns string) {
	w.write(&Entry{Op: Create, NS: ns, Change: &Change{After: NewDefinition()}})
}

// put returns the entry that stores a document, nil if a unique index forbids it.
func (w *writer) put(ns string, id, x int) *Entry {
	c := w.Collections[ns]
	doc, key := document(w.t, id, x)
	if c.Conflict(ns, key, doc) != nil {
		return nil
	}
	return &Entry{Op: Put, NS: ns, Key: key, Before: c.Document(key), After: doc}
}

// text returns collections with their indexes and documents, in order.
func text(c Catalog) string {
	var b strings.Builder
	for _, ns := range slices.Sorted(maps.Keys(c)) {
		b.WriteString(ns + collectionText(c[ns]) + "\n")
	}
	return b.String()
}

func collectionText(c *Collection) string {
	if c == nil {
		return " none"
	}
	var b strings.Builder
	for _, ix := range c.Def.Indexes {
		b.WriteString(" " + ix.Name)
	}
	size := 0
	c.Scan(func(r *Record) bool {
		b.WriteString(" " + query.DocumentText(r.Doc))
		size += len(r.Doc)
		return true
	})
	fmt.Fprintf(&b, " %d of %d bytes", c.Live, c.Size)
	if int(c.Size) != size {
		b.WriteString(", which is wrong")
	}
	return b.String()
}

// Whatever is written: taken back entry by entry the store is as it was at each index, and a snapshot of each index shows the same.
func TestWhatIsUndoneIsAsItWasBefore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWriter(t)
		names := []string{"d.a", "d.b"}
		states := []string{text(w.Collections)}
		for range rapid.IntRange(1, 40).Draw(rt, "entries") {
			e := w.drawn(rt, rapid.SampledFrom(names).Draw(rt, "ns"), names)
			if e == nil {
				continue
			}
			w.write(e)
			states = append(states, text(w.Collections))
		}
		for i, want := range states {
			past := make(Catalog)
			for _, ns := range names {
				if c := w.Snapshot(ns, int64(i)); c != nil {
					past[ns] = c
				}
			}
			if got := text(past); got != want {
				rt.Fatalf("the snapshot of index %d is\n%sand was\n%s", i, got, want)
			}
		}
		for i := len(states) - 1; ; i-- {
			if got := text(w.Collections); got != states[i] {
				rt.Fatalf("after taking back to index %d there is\n%sand was\n%s", i, got, states[i])
			}
			if i == 0 {
				return
			}
			w.Undo()
		}
	})
}

// drawn returns an entry that fits what there is, nil if none does.
func (w *writer) drawn(rt *rapid.T, ns string, names []string) *Entry {
	c := w.Collections[ns]
	id, x := rapid.IntRange(1, 4).Draw(rt, "id"), rapid.IntRange(1, 4).Draw(rt, "x")
	kind := rapid.SampledFrom([]Op{Put, Put, Put, Remove, Remove, Drop, Alter, Rename, Group}).Draw(rt, "kind")
	if c == nil {
		return &Entry{Op: Create, NS: ns, Change: &Change{After: NewDefinition()}}
	}
	switch kind {
	case Put:
		return w.put(ns, id, x)
	case Remove:
		_, key := document(w.t, id, x)
		if before := c.Document(key); before != nil {
			return &Entry{Op: Remove, NS: ns, Key: key, Before: before}
		}
	case Drop:
		return &Entry{Op: Drop, NS: ns}
	case Alter:
		list, ix := []*Index{IDIndex}, uniqueOnX(w.t)
		if c.Def.Named("x_1") == nil && c.Buildable(ns, ix) == nil {
			list = append(list, ix)
		}
		return &Entry{Op: Alter, NS: ns, Change: &Change{Before: c.Def, After: c.Def.With(list)}}
	case Rename:
		to := names[0]
		if ns == to {
			to = names[1]
		}
		return &Entry{Op: Rename, NS: ns, Change: &Change{Before: c.Def, After: c.Def.With(c.Def.Indexes), To: to}}
	case Group:
		if e := w.put(ns, id, x); e != nil {
			return &Entry{Op: Group, Parts: []*Entry{e, {Op: Remove, NS: ns, Key: e.Key, Before: e.After}}}
		}
	case Noop, Create, EmptyDatabase:
	}
	return nil
}

func TestAUniqueIndexKeepsADuplicateOut(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	w.write(w.put("d.a", 1, 7))
	c := w.Collections["d.a"]
	w.write(&Entry{Op: Alter, NS: "d.a", Change: &Change{Before: c.Def, After: c.Def.With([]*Index{IDIndex, uniqueOnX(t)})}})
	if w.put("d.a", 2, 7) != nil {
		t.Error("a document with the key of another is stored")
	}
	if w.put("d.a", 1, 7) == nil {
		t.Error("a document may not be stored again in its own place")
	}
	w.write(w.put("d.a", 1, 8))
	if w.put("d.a", 2, 7) == nil {
		t.Error("a key that a document gave up is still refused")
	}
	w.Undo()
	if w.put("d.a", 2, 7) != nil {
		t.Error("a key is free that a document has got back")
	}
}

func TestASessionKnowsWhatItsNewestTransactionNumberExecuted(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	executed := func(txn int64, stmt int32) *Entry {
		e := w.put("d.a", int(txn), int(stmt))
		e.Session = &SessionRef{LSID: "s", Txn: txn, Stmt: stmt}
		return w.write(e)
	}
	first, second := executed(1, 0), executed(1, 1)
	s := w.Session("s")
	if s.Executed(1, 0) != first || s.Executed(1, 1) != second || s.Executed(1, 2) != nil {
		t.Error("the statements of the number are not known")
	}
	executed(2, Committing)
	if s.Executed(1, 0) != nil || !s.Committed(2) || s.Active != 2 {
		t.Error("an older number's statements are still known, or the newer one's are not")
	}
	w.Undo()
	if s.Executed(1, 1) != second || s.Committed(2) || s.Active != 1 {
		t.Error("the older number's statements are not known again")
	}
}

func TestTheOutcomeOfAnEntryIsNoted(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	var own, of Outcome
	e := w.put("d.a", 1, 1)
	e.Outcome = &own
	group := &Entry{Op: Group, Parts: []*Entry{{Op: Noop, Outcome: &of}}}
	w.write(e)
	w.write(group)
	if !own.Applied.Load() || !of.Applied.Load() || own.RolledBack.Load() || of.RolledBack.Load() {
		t.Error("what was applied is not noted as applied")
	}
	w.Undo()
	if !of.RolledBack.Load() || own.RolledBack.Load() {
		t.Error("what was rolled back is not noted, or more is")
	}
}

func TestALogForgetsWhatIsTrimmed(t *testing.T) {
	w := newWriter(t)
	const all = 10000
	for range all {
		w.write(&Entry{Op: Noop})
	}
	w.Log.Trim(9000, all*slotBytes)
	if w.Log.Base != 0 {
		t.Errorf("%d entries were trimmed of a log that is not too long", w.Log.Base)
	}
	w.Log.Trim(9000, 500*slotBytes)
	switch l := &w.Log; {
	case l.Last() != all || l.Tail().TS != all:
		t.Errorf("the log ends with %d", l.Last())
	case l.Base != 8999 || l.Bytes() != 1001*slotBytes:
		t.Errorf("%d entries were trimmed, and %d bytes are left", l.Base, l.Bytes())
	case l.At(l.Base) != nil || l.At(l.Base+1).TS != Timestamp(l.Base)+1:
		t.Error("the entries have other indexes than before")
	}
	if at, kept := w.Log.Since(9500); at != 9500 || !kept {
		t.Errorf("the entries since 9500 begin at %d, %t", at, kept)
	}
	if _, kept := w.Log.Since(5); kept {
		t.Error("forgotten entries are said to be kept")
	}
}

func TestACappedCollectionOverflowsByDocumentsOrBytes(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		stored  int
		want    bool
	}{
		{"as many documents as it may have", Options{Capped: true, Size: 1 << 20, Max: 2}, 2, false},
		{"more documents than it may have", Options{Capped: true, Size: 1 << 20, Max: 2}, 3, true},
		{"more bytes than it may have", Options{Capped: true, Size: 30}, 2, true},
		{"it is not capped", Options{}, 3, false},
	} {
		def, err := DefinitionOf(test.options)
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t)
		w.write(&Entry{Op: Create, NS: "d.a", Change: &Change{After: def}})
		for i := range test.stored {
			w.write(w.put("d.a", i, i))
		}
		if got := w.Collections["d.a"].Overflows(); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

func TestViewsDoNotStandOnThemselves(t *testing.T) {
	w := newWriter(t)
	view := func(on string) *Options {
		return &Options{ViewOn: on, Pipeline: query.EmptyDocument}
	}
	for ns, on := range map[string]string{"d.b": "a", "d.c": "b"} {
		def, err := DefinitionOf(*view(on))
		if err != nil {
			t.Fatal(err)
		}
		w.write(&Entry{Op: Create, NS: ns, Change: &Change{After: def}})
	}
	if err := w.Collections.CheckView("d.x", view("c")); err != nil {
		t.Error(err)
	}
	if w.Collections.CheckView("d.a", view("c")) == nil {
		t.Error("a cycle of views is not refused")
	}
}
