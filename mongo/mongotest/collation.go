package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/collation"
)

// https://www.mongodb.com/docs/manual/reference/collation/

// parseCollation reads the collation by which documents are found and sorted.
func (c *criteria) parseCollation(e *wire.Element) error {
	found, err := collation.Parse(e.Value)
	if found != nil {
		c.collation = found
	}
	return err
}

// ownCollation reads the collation of one statement of several: a mistake in it is an error of that statement alone.
func (c *criteria) ownCollation(e *wire.Element) { c.flaw = c.parseCollation(e) }
