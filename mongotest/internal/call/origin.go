package call

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Origin is the collection whose documents a cursor returns. The cursor ends when the collection is dropped or renamed.
type Origin struct {
	NS string
	ID store.UUID
}

// origin returns the collection that the command reads, nil if there is none: a view, or a collection in a transaction, which
// nobody drops meanwhile.
func origin(x Locked) *Origin {
	c := x.Client.Member.Data.Collections[x.Command.Full]
	if c == nil || c.IsView() || x.Result.OnView || x.InTransaction() {
		return nil
	}
	return &Origin{x.Command.Full, c.Def.UUID}
}

// Check refuses to go on without the collection.
func (o *Origin) Check(x Locked) error {
	if o == nil {
		return nil
	}
	collections := x.Client.Member.Data.Collections
	if c := collections[o.NS]; c != nil && c.Def.UUID == o.ID {
		return nil
	}
	for ns, c := range collections {
		if c.Def != nil && c.Def.UUID == o.ID {
			return mongoerr.Errorf(mongoerr.QueryPlanKilled, "collection renamed from '%s' to '%s'. UUID %s", o.NS, ns, o.ID)
		}
	}
	return mongoerr.Errorf(mongoerr.QueryPlanKilled, "collection dropped. UUID %s", o.ID)
}
