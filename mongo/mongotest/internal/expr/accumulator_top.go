package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// ranked collects the first or last n outputs by the order of their documents. Its input is the pair of both.
type ranked struct {
	n      int
	bottom bool
	single bool
	order  *query.Sort
	pairs  []Value
}

func (r *ranked) add(pair Value) error {
	r.pairs = append(r.pairs, pair)
	return nil
}

func (r *ranked) result() Value {
	n := min(r.n, len(r.pairs))
	compare := func(a, b Value) int {
		return r.order.Compare(query.Lookup(a.Data, "0").Data, query.Lookup(b.Data, "0").Data)
	}
	sorted := slices.Clone(r.pairs)
	if r.bottom { // of equal ones the first stay, here too
		slices.SortStableFunc(sorted, func(a, b Value) int { return compare(b, a) })
		sorted = sorted[:n]
	}
	slices.SortStableFunc(sorted, compare)
	chosen := sorted[:n]
	outputs := make([]Value, n)
	for i, pair := range chosen {
		outputs[i] = query.Lookup(pair.Data, "1")
	}
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
	if sortBy.Type != bson.TypeEmbeddedDocument || len(query.Elements(sortBy.Data)) == 0 {
		return nil, mongoerr.Errorf(9657900, "Value for 'sortBy' must be a non-empty object")
	}
	order, err := query.ParseSort(sortBy.Data)
	if err != nil {
		return nil, err
	}
	bottom, single := name == "$bottom" || name == "$bottomN", name == "$top" || name == "$bottom"
	document := &path{name: "ROOT", slot: slotRoot}
	return &Accumulator{n, list{document, output}, func(n int) collector {
		return &ranked{n: n, bottom: bottom, single: single, order: order}
	}}, nil
}
