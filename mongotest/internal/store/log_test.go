package store

import "testing"

func TestALogIsTrimmedToABoundOfBytes(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	const limit = 100_000
	for i := range 2000 {
		w.write(w.put("d.a", i%10, i))
		w.Log.Trim(w.Log.Last(), limit)
		if n := w.Log.Bytes(); n > limit {
			t.Fatalf("after %d entries the log has %d bytes", i, n)
		}
	}
	for w.Log.Last() > w.Log.Base+1 {
		w.Undo()
	}
	if n := w.Log.Bytes(); n < slotBytes || n > 2*slotBytes {
		t.Errorf("one entry of %d bytes is left", n)
	}
	w.Log.Trim(w.Log.Last()+1, 0)
	if w.Log.Tail() == nil {
		t.Error("the newest entry is trimmed")
	}
}

func TestACopyHasTheDataOfAnEarlierTime(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	w.create("d.b")
	w.write(w.put("d.a", 1, 1))
	e := w.put("d.b", 1, 1)
	e.Session = &SessionRef{LSID: "s", Txn: 1}
	w.write(e)
	at := w.Log.Last()
	later := w.put("d.a", 2, 2)
	later.Session = &SessionRef{LSID: "s", Txn: 1, Stmt: 1}
	w.write(later)
	w.write(&Entry{Op: Drop, NS: "d.b"})
	c := w.Copy(at)
	if c.Collections["d.a"].Live != 1 || c.Collections["d.b"] == nil || c.Collections["d.b"].Live != 1 || len(c.Collections) != 2 {
		t.Errorf("the copy has other collections: %v", c.Collections)
	}
	if s := c.Session("s"); s.Executed(1, 0) != e || s.Executed(1, 1) != nil {
		t.Error("the copy does not know what a session had executed by then, or more")
	}
	if c.Log.Last() != at || c.Log.Tail() != e || c.Newest() != e.TS {
		t.Errorf("the copy's log ends with %d", c.Log.Last())
	}
	for i := at + 1; i <= w.Log.Last(); i++ {
		c.Apply(w.Log.At(i))
	}
	if c.Collections["d.a"].Live != 2 || c.Collections["d.b"] != nil || w.Collections["d.a"].Live != 2 {
		t.Error("the rest of the log leads to other data")
	}
}

func TestADroppedCollectionIsInTheLogUntilItIsTrimmed(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	w.write(w.put("d.a", 1, 1))
	before, size := w.Log.Bytes(), w.Collections["d.a"].Size
	w.write(&Entry{Op: Drop, NS: "d.a"})
	if n := w.Log.Bytes() - before; size == 0 || n < slotBytes+size {
		t.Errorf("the drop of a collection of %d bytes has %d", size, n)
	}
}
