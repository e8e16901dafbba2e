package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// origin is the collection whose documents a cursor returns. The cursor ends when the collection is dropped or renamed.
type origin struct {
	ns string
	id store.UUID
}

// originLocked returns the collection that the command reads, nil if there is none: a view, or a collection in a transaction, which
// nobody drops meanwhile.
func (x *call) originLocked() *origin {
	c := x.client.member.Data.Collections[x.command.full]
	if c == nil || c.IsView() || x.result.onView || x.inTransaction() {
		return nil
	}
	return &origin{x.command.full, c.Def.UUID}
}

// checkLocked refuses to go on without the collection.
func (o *origin) checkLocked(m *member) error {
	if o == nil {
		return nil
	}
	if c := m.Data.Collections[o.ns]; c != nil && c.Def.UUID == o.id {
		return nil
	}
	for ns, c := range m.Data.Collections {
		if c.Def != nil && c.Def.UUID == o.id {
			return mongoerr.Errorf(mongoerr.QueryPlanKilled, "collection renamed from '%s' to '%s'. UUID %s", o.ns, ns, o.id)
		}
	}
	return mongoerr.Errorf(mongoerr.QueryPlanKilled, "collection dropped. UUID %s", o.id)
}
