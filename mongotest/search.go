package mongotest

import (
	"cmp"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// searched is a document that a search found.
type searched struct {
	record *store.Record
	match  query.Matching
}

// bySearch returns what matches in a view in the order of a search: the nearest first, or the words as their index has them.
func (x *call) bySearch(v *store.View, f *query.Filter, m *query.Matching) ([]searched, error) {
	var list []searched
	err := v.FindBy(nil, &store.Hint{}, f, m, func(r *store.Record) bool {
		list = append(list, searched{r, *m})
		return true
	})
	if err != nil {
		return nil, err
	}
	order := byWords
	if f.Near() != nil {
		order = byDistance
	}
	return list, query.SortStable(x.work(), list, order)
}

func byDistance(a, b searched) int {
	return query.Compare(a.match.Found.Distance, b.match.Found.Distance)
}

func byWords(a, b searched) int {
	return cmp.Or(a.match.Found.Before(&b.match.Found), cmp.Compare(b.record.ID, a.record.ID))
}

// findBySearch is find in the order of a search.
func (x *call) findBySearch(q *criteria, p scan, visit func(r *store.Record) bool) error {
	list, err := x.bySearch(&p.view, &q.filter, &x.result.match)
	if err != nil {
		return err
	}
	for _, s := range list {
		if x.result.match = s.match; !visit(s.record) {
			return nil
		}
	}
	return nil
}
