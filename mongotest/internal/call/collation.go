package call

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/collation/

// Collating is how a command or a statement compares strings: by its own collation, or by that of its collection or view.
type Collating struct {
	Collation *collation.Collation // nil if strings are compared by their bytes
	Own       bool                 // the command has one, which may be the simple one
}

// ParseCollation reads a collation. An empty one is as good as none.
func (c *Collating) ParseCollation(e *wire.Element) error {
	found, err := collation.Parse(e.Value)
	if c.Collation = found; len(e.Value) > len(query.EmptyDocument) {
		c.Own = true
	}
	return err
}

// Rule is the collation as filters and sorts take it.
func (c *Collating) Rule() query.Collation { return c.Collation.Rule() }

// Inherit gives a command without a collation that of its collection or view. Of two that say the same it takes the collection's, so that
// the two need not be compared again.
func (c *Collating) Inherit(x *Call, ns string) {
	if of := defaultCollation(x, ns); !c.Own || collation.Same(c.Collation, of) {
		c.Collation = of
	}
}

// Fits refuses a collation other than that of the view.
func (c *Collating) Fits(view *store.Collection) error {
	if view.IsView() && !collation.Same(c.Collation, view.Def.Options.Collation) {
		return ErrViewCollation
	}
	return nil
}

// Unfit returns the error of fits if the command is on a view.
func (x *Call) Unfit(c *Collating) error {
	return WithLock(x, func(x Locked) error { return c.Fits(x.Client.Member.Data.Collections[x.Command.Full]) })
}

// ErrViewCollation is the error of a command on a view with another collation than the view's.
var ErrViewCollation = mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "Cannot override a view's default collation")

// OwnCollation reads the collation of one statement of several: a mistake in it is an error of that statement alone.
func (c *Criteria) OwnCollation(e *wire.Element) { c.Flaw = c.ParseCollation(e) }

// defaultCollation returns the collation of a collection or view, nil for none.
func defaultCollation(x *Call, ns string) *collation.Collation {
	if !x.Client.Member.Data.Collates() {
		return nil
	}
	return WithLock(x, func(x Locked) *collation.Collation { return collationOf(x, ns) })
}

func collationOf(x Locked, ns string) *collation.Collation {
	m := x.Client.Member
	c := m.Data.Collections[ns]
	if t := m.Transactions[string(x.Command.LSID)]; x.InTransaction() && t != nil && t.Number == x.Command.Txn {
		if own, touched := t.Data[ns]; touched {
			c = own
		}
	}
	if c == nil {
		return nil
	}
	return c.Def.Options.Collation
}
