package pipeline

import (
	"math"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// window is which documents around one a window function looks at: all of the partition if neither bound is set.
type window struct {
	given        bool
	ranged       bool   // by the distance of the sort key, not by place
	unit         string // of that distance, "" for numbers
	lower, upper bound
}

// bound is one end of a window: open, or at a distance from the document, 0 for "current".
type bound struct {
	open    bool
	current bool // the document itself, by being at a distance of 0
	by      Value
}

var wholePartition = window{lower: bound{open: true}, upper: bound{open: true}}

func (s *windowStage) parseWindow(v Value) (window, error) {
	w := wholePartition
	if v.Missing() {
		return w, nil
	}
	if !v.IsDocument() {
		return w, mongoerr.Errorf(mongoerr.FailedToParse, "'window' field must be an object")
	}
	fields := query.ObjectOf(v.Data)
	docs, distance, unit := fields.Get("documents"), fields.Get("range"), fields.Get("unit")
	for _, f := range fields {
		if f.Name != "documents" && f.Name != "range" && f.Name != "unit" {
			return w, mongoerr.Errorf(mongoerr.FailedToParse,
				"'window' field can only contain 'documents' as the only argument or 'range' with an optional 'unit' field")
		}
	}
	w.given = true
	switch {
	case !docs.Missing() && unit.Type == bson.TypeNull:
		return w, mongoerr.Errorf(mongoerr.FailedToParse, "Window bounds can only specify 'unit' with range-based bounds.")
	case unit.Type == bson.TypeNull && !distance.Missing():
		return w, mongoerr.Errorf(mongoerr.FailedToParse, "'unit' must be a string")
	case !docs.Missing() && (!distance.Missing() || !unit.Missing()):
		return w, mongoerr.Errorf(mongoerr.FailedToParse, "Window bounds can specify either 'documents' or 'unit', not both.")
	case !docs.Missing():
		return w, s.documentBounds(&w, docs)
	case !distance.Missing():
		return w, s.rangeBounds(&w, distance, unit)
	case !unit.Missing():
		return w, mongoerr.Errorf(mongoerr.FailedToParse, "Window bounds can only specify 'unit' with range-based bounds.")
	}
	return w, nil
}

func (w *window) parseBounds(name string, v Value) error {
	if list := query.Elements(orEmpty(v)); v.IsArray() && len(list) == 2 {
		var err error
		if w.lower, err = parseBound(list[0]); err == nil {
			w.upper, err = parseBound(list[1])
		}
		return err
	}
	return mongoerr.Errorf(mongoerr.FailedToParse, "Window bounds must be a 2-element array: %s", written(name, v))
}

func parseBound(v Value) (bound, error) {
	switch {
	case v.IsNumber():
		return bound{by: v}, nil
	case string(v.Text()) == "unbounded":
		return bound{open: true}, nil
	case string(v.Text()) == "current":
		return bound{current: true, by: query.Int32(0)}, nil
	}
	return bound{}, mongoerr.Errorf(mongoerr.FailedToParse, "Window bounds must be 'unbounded', 'current', or a number.")
}

func (s *windowStage) documentBounds(w *window, v Value) error {
	if err := w.parseBounds("documents", v); err != nil {
		return err
	}
	for _, b := range []bound{w.lower, w.upper} {
		if _, ok := b.by.Integer(); !b.open && !ok {
			return mongoerr.Errorf(mongoerr.FailedToParse, "Numeric document-based bounds must be an integer")
		}
	}
	if err := w.checkBounds(v); err != nil {
		return err
	}
	if !s.sorted && (!w.lower.open || !w.upper.open) {
		return mongoerr.Errorf(5339901, "Document-based bounds require a sortBy")
	}
	return nil
}

func (w *window) checkBounds(v Value) error {
	if !w.lower.open && !w.upper.open && query.Compare(w.lower.by, w.upper.by) > 0 {
		list := query.Elements(v.Data)
		return mongoerr.Errorf(5339900, "Lower bound must not exceed upper bound: [%s, %s]", list[0], list[1])
	}
	return nil
}

func (s *windowStage) rangeBounds(w *window, v, unit Value) error {
	w.ranged = true
	if !unit.Missing() {
		w.unit = string(unit.Text())
		if err := checkUnit(w.unit); err != nil {
			return err
		}
	}
	if err := w.parseBounds("range", v); err != nil {
		return err
	}
	for _, b := range []bound{w.lower, w.upper} {
		if _, ok := b.by.Integer(); w.unit != "" && !b.open && !ok {
			return mongoerr.Errorf(mongoerr.FailedToParse, "With 'unit', range-based bounds must be an integer")
		}
	}
	if err := w.checkBounds(v); err != nil {
		return err
	}
	if w.lower.open && w.upper.open {
		return nil
	}
	if len(s.keys) != 1 {
		return mongoerr.Errorf(5339902, "Range-based bounds require sortBy a single field")
	}
	if !s.rising {
		return mongoerr.Errorf(8947401, "Range-based bounds require an ascending sortBy")
	}
	return nil
}

// span returns the documents from first up to but not including end that the i-th of a partition has in its window.
func (w *window) span(part *partition, i int) (first, end int, err error) {
	if w.ranged && (!w.lower.open || !w.upper.open) {
		return w.rangeSpan(part, i)
	}
	first, end = 0, len(part.docs)
	if !w.lower.open {
		first = clamp(i, w.lower.by, len(part.docs))
	}
	if !w.upper.open {
		end = clamp(i+1, w.upper.by, len(part.docs))
	}
	return first, max(first, end), nil
}

// fold is a value that is made of the documents of a window, which enter it and leave it in their order.
type fold interface {
	reset()             // begins with none
	add(j int) error    // takes the j-th document
	remove(j int) error // leaves the j-th document out again
}

// folding returns what makes a value of the window of the i-th document, for one after the other. Where documents leave windows again,
// the document itself is evaluated too.
func (w *window) folding(r *runner, part *partition, f fold, in *inputs) func(i int) error {
	from, next := 0, 0 // the documents that are in
	f.reset()
	return func(i int) error {
		first, end, err := w.span(part, i)
		if err != nil {
			return err
		}
		before := next
		next = max(next, first)
		if err := r.Work.Do(1 + end - next); err != nil {
			return err
		}
		for ; next < end; next++ {
			if err := f.add(next); err != nil {
				return err
			}
		}
		for ; from < min(first, before); from++ {
			if err := f.remove(from); err != nil {
				return err
			}
		}
		from = first
		if w.lower.open {
			return nil
		}
		_, err = in.at(i)
		return err
	}
}

// clamp returns i moved by a number, but not out of a partition of n.
func clamp(i int, by Value, n int) int {
	d, _ := by.Integer()
	return int(max(0, min(int64(n), int64(i)+max(-math.MaxInt32, min(d, math.MaxInt32)))))
}

func (w *window) rangeSpan(part *partition, i int) (first, end int, err error) {
	if err := part.check(w); err != nil {
		return 0, 0, err
	}
	first, end = 0, len(part.docs)
	if w.lower.current {
		first = i
	} else if !w.lower.open {
		limit, err := advance(part.keyOf(i), w.lower.by, w.unit)
		if err != nil {
			return 0, 0, err
		}
		first = sort.Search(len(part.docs), func(j int) bool { return query.Compare(part.keyOf(j), limit) >= 0 })
	}
	if w.upper.current {
		end = i + 1
	} else if !w.upper.open {
		limit, err := advance(part.keyOf(i), w.upper.by, w.unit)
		if err != nil {
			return 0, 0, err
		}
		end = max(first, sort.Search(end, func(j int) bool { return query.Compare(part.keyOf(j), limit) > 0 }))
	}
	return first, end, nil
}

func (w *window) checkKey(v Value) error {
	if w.unit != "" && !isDate(v) {
		return mongoerr.Errorf(5429513, "Invalid range: Expected the sortBy field to be a Date, but it was %s", typeName(v))
	}
	if w.unit == "" && isDate(v) {
		return mongoerr.Errorf(5429413, "Invalid range: For windows that involve date or time ranges, a unit must be provided.")
	}
	if w.unit == "" && !v.IsNumber() {
		return mongoerr.Errorf(5429414, "Invalid range: Expected the sortBy field to be a number, but it was %s", typeName(v))
	}
	return nil
}
