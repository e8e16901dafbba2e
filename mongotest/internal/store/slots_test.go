package store

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A copy of a log of 256 MiB keeps the set's mutex, and the processor, for up to 100 ms.
func TestALongLogIsNeverCopied(t *testing.T) {
	w := newWriter(t)
	w.create("d.a")
	first, part := w.Log.slots.at(0), w.Log.Part(1)
	for i := range 10 * segmentSlots {
		w.write(w.put("d.a", i%10, i))
	}
	if w.Log.slots.at(0) != first || part.slots.at(0) != first {
		t.Error("the log, or a part of it, was copied")
	}
}

// slotsModel is a list of slots, and parts of it, beside plain slices with the same.
type slotsModel struct {
	slots slots
	want  []*Entry
	parts []slots
	wants [][]*Entry
}

func (m *slotsModel) step(t *rapid.T) {
	switch rapid.SampledFrom([]string{"add", "add", "add", "dropLast", "dropFirst", "part"}).Draw(t, "op") {
	case "add":
		for range rapid.IntRange(1, 2*segmentSlots).Draw(t, "n") {
			e := new(Entry)
			m.slots.add(Slot{Entry: e})
			m.want = append(m.want, e)
		}
	case "part":
		n := rapid.IntRange(0, len(m.want)).Draw(t, "n")
		m.parts, m.wants = append(m.parts, m.slots.part(n)), append(m.wants, slices.Clone(m.want[:n]))
	case "dropLast":
		for range rapid.IntRange(0, len(m.want)).Draw(t, "n") {
			if s := m.slots.dropLast(); s.Entry != m.want[len(m.want)-1] {
				t.Fatal("another slot was dropped")
			}
			m.want = m.want[:len(m.want)-1]
		}
	default:
		for range rapid.IntRange(0, len(m.want)).Draw(t, "n") {
			m.slots.dropFirst()
			m.want = m.want[1:]
		}
	}
}

// entriesOf returns the entries of a list.
func entriesOf(l *slots) []*Entry {
	list := make([]*Entry, l.n)
	for i := range list {
		list[i] = l.at(i).Entry
	}
	return list
}

func TestAListOfSlotsIsAsPlainSlicesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := new(slotsModel)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			m.step(t)
		}
		if !slices.Equal(entriesOf(&m.slots), m.want) {
			t.Error("the list has other slots")
		}
		for i := range m.parts {
			if !slices.Equal(entriesOf(&m.parts[i]), m.wants[i]) {
				t.Errorf("part %d has other slots", i)
			}
		}
	})
}

// What was dropped is held no longer, but by a part that has it.
func TestADroppedSlotIsCleared(t *testing.T) {
	var l slots
	for range 3 {
		l.add(Slot{Entry: new(Entry)})
	}
	first, last := l.at(0), l.at(2)
	l.dropFirst()
	l.dropLast()
	if first.Entry != nil || last.Entry != nil {
		t.Error("a dropped slot keeps its entry")
	}
}
