package store

import (
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// checkContents returns why a document cannot be in an index whose entries are not values, nil if it can.
func (ix *Index) checkContents(doc []byte) error {
	if ix.Ordered() || ix.partial != nil && !ix.partial.Match(doc) {
		return nil
	}
	if ix.text != nil {
		if err := ix.checkBesideTexts(doc); err != nil {
			return err
		}
		return textError(ix.text.Check(doc))
	}
	if err := ix.checkArrays(doc); err != nil {
		return err
	}
	return ix.checkPlaces(doc)
}

// checkPlaces returns why a document cannot be in a 2d or 2dsphere index.
func (ix *Index) checkPlaces(doc []byte) error {
	it := wire.Elements(ix.Pattern)
	for it.Next() {
		v := query.Of(it.Element)
		if !v.IsString() {
			continue
		}
		path := strings.Split(string(it.Key), ".")
		var err error
		switch string(v.Text()) {
		case "2dsphere":
			err = query.CheckSphereKeys(doc, path)
		case "2d":
			err = query.CheckPlaneKeys(doc, path, ix.limit("min", -180), ix.limit("max", 180))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limit returns an option of a 2d index.
func (ix *Index) limit(name string, otherwise float64) float64 {
	if v := query.Lookup(ix.Raw, name); v.IsNumber() {
		return v.AsFloat64()
	}
	return otherwise
}

// checkAll returns why an index cannot have one of the collection's documents, nil if it can have all.
func (c *Collection) checkAll(ix *Index) error {
	var err error
	c.Scan(func(r *Record) bool {
		err = ix.checkContents(r.Doc)
		return err == nil
	})
	return err
}
