package currentop

import "testing"

func TestOperations(t *testing.T) {
	var all Operations
	all.Kill(1) // not there
	a, b := &Operation{ID: 2, Description: []byte("b")}, &Operation{ID: 1, Description: []byte("a")}
	all.Add(a)
	all.Add(b)
	if list := all.Descriptions(); len(list) != 2 || string(list[0]) != "a" || string(list[1]) != "b" {
		t.Errorf("%q are listed", list)
	}
	all.Kill(1)
	all.Kill(3)
	if a.Killed() || !b.Killed() {
		t.Errorf("killed: %v, %v", a.Killed(), b.Killed())
	}
	all.Remove(b)
	if list := all.Descriptions(); len(list) != 1 || string(list[0]) != "b" {
		t.Errorf("%q are listed after one has ended", list)
	}
}

func TestAChangeOfTheListIsReported(t *testing.T) {
	var all Operations
	op := &Operation{ID: 1}
	for name, change := range map[string]func(){"an operation is added": func() { all.Add(op) }, "one is removed": func() { all.Remove(op) }} {
		changed := all.Changed()
		select {
		case <-changed:
			t.Errorf("before %s: the list has changed", name)
		default:
		}
		change()
		select {
		case <-changed:
		default:
			t.Errorf("%s: the list has not changed", name)
		}
	}
}
