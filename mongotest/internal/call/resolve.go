package call

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Stored returns the member's collection of a namespace, nil if there is none, and refuses a view.
func (x Locked) Stored(ns string) (*store.Collection, error) {
	m := x.Client.Member
	c := m.Data.Collections[ns]
	if ns == store.OplogName {
		c = m.OplogLocked(m.Data.Log.Last())
	}
	if c.IsView() {
		return nil, store.NotOnView(ns)
	}
	return c, nil
}

// Resolve returns the collection that a namespace shows, and the stages that make a view of it: none if it is no view.
func (x Locked) Resolve(ns string) (string, []query.Value, error) {
	var stages []query.Value
	for range store.MaxViewDepth {
		c, err := x.Lookup(ns)
		if err != nil || !c.IsView() {
			return ns, stages, err
		}
		stages = append(query.Elements(c.Def.Options.Pipeline), stages...)
		db, _, _ := strings.Cut(ns, ".")
		ns = db + "." + c.Def.Options.ViewOn
	}
	return ns, nil, mongoerr.Errorf(mongoerr.ViewDepthLimitExceeded,
		"View depth too deep or view cycle detected; maximum depth is %d", store.MaxViewDepth)
}
