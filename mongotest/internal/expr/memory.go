package expr

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

// memory keeps what was made of some long values, because a loop asks for a field or an element of the same one again and again.
type memory[T any] struct {
	kept [4]remembered[T]
	next int
}

type remembered[T any] struct {
	data []byte // of the value
	uses int
	made T
}

// fromBytes is how long a value is that is worth remembering, and fromUses how often it is asked for first.
const (
	fromBytes = 512
	fromUses  = 4
)

// find returns the place of a value, and whether it has been asked for often.
func (m *memory[T]) find(data []byte) (r *remembered[T], often bool) {
	for i := range m.kept {
		if r := &m.kept[i]; len(r.data) == len(data) && &r.data[0] == &data[0] {
			r.uses++
			return r, r.uses > fromUses
		}
	}
	m.next = (m.next + 1) % len(m.kept)
	r = &m.kept[m.next]
	*r = remembered[T]{data: data}
	return r, false
}

// lookup is query.Lookup that is fast where many fields of a wide document are looked up.
func (e *Env) lookup(doc []byte, name string) Value {
	if len(doc) < fromBytes {
		return query.Lookup(doc, name)
	}
	r, often := e.documents.find(doc)
	if !often {
		return query.Lookup(doc, name)
	}
	if r.made == nil {
		fields := query.ObjectOf(doc)
		r.made = make(map[string]Value, len(fields))
		for _, f := range fields {
			if _, again := r.made[f.Name]; !again {
				r.made[f.Name] = f.Value
			}
		}
	}
	return r.made[name]
}

// elements is query.Elements that is fast where a long array is asked for again and again. The list must not be changed.
func (e *Env) elements(v Value) []Value {
	if list := e.rememberedElements(v); list != nil {
		return list
	}
	return query.Elements(v.Data)
}

// count returns how many elements an array has, as fast as elements does.
func (e *Env) count(v Value) int {
	if list := e.rememberedElements(v); list != nil {
		return len(list)
	}
	return query.Count(v.Data)
}

// rememberedElements returns the elements of a long array that has been asked for often, nil for another.
func (e *Env) rememberedElements(v Value) []Value {
	if len(v.Data) < fromBytes {
		return nil
	}
	r, often := e.arrays.find(v.Data)
	if often && r.made == nil {
		r.made = query.Elements(v.Data)
	}
	return r.made
}
