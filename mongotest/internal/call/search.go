package call

import (
	"cmp"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Searched is a document that a search found.
type Searched struct {
	Record *store.Record
	Match  query.Matching
}

// BySearch returns what matches in a view in the order of a search: the nearest first, or the words as their index has them.
func (x *Call) BySearch(v *store.View, f *query.Filter, m *query.Matching) ([]Searched, error) {
	var list []Searched
	err := v.FindBy(nil, &store.Hint{}, f, m, func(r *store.Record) bool {
		list = append(list, Searched{r, *m})
		return true
	})
	if err != nil {
		return nil, err
	}
	order := byWords
	if f.Near() != nil {
		order = byDistance
	}
	return list, query.SortStable(x.Work(), list, order)
}

func byDistance(a, b Searched) int {
	return query.Compare(a.Match.Found.Distance, b.Match.Found.Distance)
}

func byWords(a, b Searched) int {
	return cmp.Or(a.Match.Found.Before(&b.Match.Found), cmp.Compare(b.Record.ID, a.Record.ID))
}

// findBySearch is Find in the order of a search.
func findBySearch(x *Call, q *Criteria, p Scan, visit func(r *store.Record) bool) error {
	list, err := x.BySearch(&p.View, &q.Filter, &x.Result.Match)
	if err != nil {
		return err
	}
	for _, s := range list {
		if x.Result.Match = s.Match; !visit(s.Record) {
			return nil
		}
	}
	return nil
}
