package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// ranked collects the first or last n outputs by the order of their documents. Its input is the pair of both.
type ranked struct {
	n      int
	bottom bool
	single bool
	order  *query.Sort
	best   []rankedOutput // in the order in which they are chosen
	fresh  []rankedOutput // which came later
}

func (r *ranked) collate(c query.Collation) { r.order = r.order.Collated(c) }

// rankedOutput is an output and what its document is sorted by.
type rankedOutput struct {
	key    []Value
	output Value
}

func (r *ranked) add(pair Value) error {
	r.fresh = append(r.fresh, rankedOutput{r.key(pair), query.Lookup(pair.Data, "1")})
	if len(r.fresh) > 64 && len(r.fresh) > r.n {
		return r.finish(nil)
	}
	return nil
}

// key returns what the document of a pair is sorted by.
func (r *ranked) key(pair Value) []Value {
	key, _ := r.order.Key(query.Lookup(pair.Data, "0").Data)
	return key
}

// choose orders outputs: of equal ones the first stay, at the bottom too.
func (r *ranked) choose(a, b rankedOutput) int {
	if r.bottom {
		a, b = b, a
	}
	return r.order.CompareKeys(a.key, b.key)
}

func (r *ranked) finish(w *query.Work) error {
	err := query.SortStable(w, r.fresh, r.choose)
	all := append(slices.Clip(r.best), r.fresh...)
	if err == nil && len(r.fresh) > 0 {
		err = query.SortStable(w, all, r.choose)
	}
	r.best, r.fresh = all[:min(r.n, len(all))], nil
	return err
}

func (r *ranked) result() Value {
	chosen := r.best
	if r.bottom {
		chosen = slices.Clone(chosen)
		slices.SortStableFunc(chosen, func(a, b rankedOutput) int { return r.choose(b, a) })
	}
	outputs := make([]Value, len(chosen))
	for i, c := range chosen {
		outputs[i] = c.output
	}
	return r.value(outputs)
}

// value makes the result of the chosen outputs.
func (r *ranked) value(outputs []Value) Value {
	if r.single {
		return orNull(elementAt(outputs, 0))
	}
	return array(outputs)
}

func (p *parser) ranked(name string, v Value) (*Accumulator, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(5788001, "specification must be an object; found %s", elementText(name, v))
	}
	single := name == "$top" || name == "$bottom"
	one := Expression(constant{query.Int32(1)})
	var n, output Expression
	if single {
		n = one
	}
	var sortBy Value
	for _, f := range query.ObjectOf(v.Data) {
		var err error
		switch {
		case f.Name == "n" && !single:
			n, err = p.expression(f.Value)
		case f.Name == "output":
			output, err = p.expression(f.Value)
		case f.Name == "sortBy":
			if sortBy = f.Value; !sortBy.IsDocument() {
				err = mongoerr.Errorf(10065, "invalid parameter: expected an object (sortBy)")
			}
		default:
			err = mongoerr.Errorf(5788002, "Unknown argument to %s '%s'", name, f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case n == nil:
		return nil, mongoerr.Errorf(5788003, "Missing value for 'n'")
	case output == nil:
		return nil, mongoerr.Errorf(5788004, "Missing value for 'output'")
	case sortBy.Missing():
		return nil, mongoerr.Errorf(5788005, "Missing value for 'sortBy'")
	}
	return p.rankedBy(name, n, output, sortBy)
}

func (p *parser) rankedBy(name string, n, output Expression, sortBy Value) (*Accumulator, error) {
	if sortBy.Type != bson.TypeEmbeddedDocument || query.Count(sortBy.Data) == 0 {
		return nil, mongoerr.Errorf(9657900, "Value for 'sortBy' must be a non-empty object")
	}
	order, err := query.ParseSort(sortBy.Data)
	if err != nil {
		return nil, err
	}
	bottom, single := name == "$bottom" || name == "$bottomN", name == "$top" || name == "$bottom"
	document := &path{name: "ROOT", slot: slotRoot}
	return &Accumulator{count: n, input: list{document, output}, start: func(n int) collector {
		return &ranked{n: n, bottom: bottom, single: single, order: order}
	}}, nil
}
