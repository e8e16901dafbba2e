package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
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

// checkCollated refuses what an update compares by itself: here the collation only finds the document.
func (c *criteria) checkCollated(update, arrayFilters query.Value) error {
	if c.collation == nil {
		return nil
	}
	if !arrayFilters.Missing() || update.IsArray() {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: arrayFilters and update pipelines with a collation are not supported")
	}
	it := wire.Elements(update.Data)
	for it.Next() {
		switch name := string(it.Key); name {
		case "$addToSet", "$pull", "$pullAll", "$push", "$min", "$max":
			return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: %s with a collation is not supported", name)
		}
	}
	return nil
}
