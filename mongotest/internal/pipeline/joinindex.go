package pipeline

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// joinIndex finds the documents of a collection in which a path may lead to some values, so that a join of two collections does not read
// all of one for each document of the other. A filter must still look at what it finds.
type joinIndex struct {
	docs [][]byte
	at   map[string][]int // places in docs, by the bytes of a value
}

func newJoinIndex(r *runner, docs [][]byte, path fieldPath) (*joinIndex, error) {
	j := &joinIndex{docs: docs, at: make(map[string][]int)}
	var key []byte
	for i, doc := range docs {
		if err := r.Work.Bytes(len(doc)); err != nil {
			return nil, err
		}
		path.reach(query.Document(doc), func(v Value) {
			key = r.key(key[:0], v)
			if places := j.at[string(key)]; len(places) == 0 || places[len(places)-1] != i {
				j.at[string(key)] = append(places, i)
			}
		})
	}
	return j, nil
}

// reach calls visit with every value that a filter on the path may look at, and perhaps with more.
func (p fieldPath) reach(v Value, visit func(v Value)) {
	if len(p) == 0 {
		visit(v)
	}
	switch {
	case v.IsDocument() && len(p) > 0:
		p[1:].reach(query.Lookup(v.Data, p[0]), visit)
	case v.IsArray():
		elements := query.Elements(v.Data)
		if len(p) == 0 {
			for _, e := range elements {
				visit(e)
			}
			return
		}
		for _, e := range elements {
			if e.IsDocument() {
				p.reach(e, visit)
			}
		}
		if at, ok := place(p[0]); ok && at < len(elements) {
			p[1:].reach(elements[at], visit)
		}
	}
}

// places returns the places of the documents in which the path may lead to one of the values, in their order. It reports whether it knows
// them: null equals also what is not there.
func (j *joinIndex) places(r *runner, values []Value) ([]int, bool) {
	var places []int
	for _, v := range values {
		if v.IsNullish() {
			return nil, false
		}
		places = append(places, j.at[string(r.key(nil, v))]...)
	}
	if len(values) > 1 {
		slices.Sort(places)
		places = slices.Compact(places)
	}
	return places, true
}
