package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/collation/

// collating is how a command or a statement compares strings: by its own collation, or by that of its collection or view.
type collating struct {
	collation *collation.Collation // nil if strings are compared by their bytes
	own       bool                 // the command has one, which may be the simple one
}

// parseCollation reads a collation. An empty one is as good as none.
func (c *collating) parseCollation(e *wire.Element) error {
	found, err := collation.Parse(e.Value)
	if c.collation = found; len(e.Value) > len(query.EmptyDocument) {
		c.own = true
	}
	return err
}

// rule is the collation as filters and sorts take it.
func (c *collating) rule() query.Collation { return c.collation.Rule() }

// inherit gives a command without a collation that of its collection or view. Of two that say the same it takes the collection's, so that
// the two need not be compared again.
func (c *collating) inherit(x *call, ns string) {
	if of := x.defaultCollation(ns); !c.own || collation.Same(c.collation, of) {
		c.collation = of
	}
}

// fits refuses a collation other than that of the view.
func (c *collating) fits(view *store.Collection) error {
	if view.IsView() && !collation.Same(c.collation, view.Def.Options.Collation) {
		return errViewCollation
	}
	return nil
}

// unfit returns the error of fits if the command is on a view.
func (x *call) unfit(c *collating) error {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	return c.fits(x.client.member.Data.Collections[x.command.full])
}

var errViewCollation = mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "Cannot override a view's default collation")

// ownCollation reads the collation of one statement of several: a mistake in it is an error of that statement alone.
func (c *criteria) ownCollation(e *wire.Element) { c.flaw = c.parseCollation(e) }

// defaultCollation returns the collation of a collection or view, nil for none.
func (x *call) defaultCollation(ns string) *collation.Collation {
	m := x.client.member
	if !m.Data.Collates() {
		return nil
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	c := m.Data.Collections[ns]
	if t := m.Transactions[string(x.command.lsid)]; x.inTransaction() && t != nil && t.Number == x.command.txn {
		if own, touched := t.Data[ns]; touched {
			c = own
		}
	}
	if c == nil {
		return nil
	}
	return c.Def.Options.Collation
}
