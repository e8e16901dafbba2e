package mongotest

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// uniqueness is what a member knows of a unique index's entries.
type uniqueness struct {
	*index
	holders map[string]*record
}

// define gives the collection another definition and works out the entries of unique indexes that it did not have.
func (c *collection) define(d *definition) {
	var list []*uniqueness
	for _, ix := range d.indexes {
		if ix.refusesDuplicates() && ix.ordered() {
			list = append(list, c.uniquenessOf(ix))
		}
	}
	c.def, c.uniques = d, list
}

func (c *collection) uniquenessOf(ix *index) *uniqueness {
	for _, u := range c.uniques {
		if u.index == ix {
			return u
		}
	}
	u := &uniqueness{ix, make(map[string]*record)}
	c.scan(func(r *record) bool {
		u.add(r, r.doc)
		return true
	})
	return u
}

// add enters a record; what the index cannot hold was refused before.
func (u *uniqueness) add(r *record, doc []byte) {
	keys, _ := u.keys(doc)
	for _, k := range keys {
		u.holders[k.encode()] = r
	}
}

func (u *uniqueness) remove(r *record, doc []byte) {
	keys, _ := u.keys(doc)
	for _, k := range keys {
		if at := k.encode(); u.holders[at] == r {
			delete(u.holders, at)
		}
	}
}

// reindex moves a record's entries from one document to another; nil stands for none.
func (c *collection) reindex(r *record, before, after []byte) {
	for _, u := range c.uniques {
		if before != nil {
			u.remove(r, before)
			u.find(c, r, before)
		}
		if after != nil {
			u.add(r, after)
		}
	}
}

// find enters another document that has the keys which one gave up: an index that only takes no further duplicates may have
// some.
func (u *uniqueness) find(c *collection, gone *record, before []byte) {
	if !u.prepared {
		return
	}
	given, _ := u.keys(before)
	c.scan(func(r *record) bool {
		keys, _ := u.keys(r.doc)
		for _, k := range keys {
			if r != gone && slices.ContainsFunc(given, func(g indexKey) bool { return g.compare(k, u.pattern) == 0 }) {
				u.holders[k.encode()] = r
			}
		}
		return true
	})
}

// withoutThose returns the keys that the document with an _id does not have already.
func (c *collection) withoutThose(keys []indexKey, ix *index, id string) []indexKey {
	had, _ := ix.keys(c.at(id))
	return slices.DeleteFunc(slices.Clone(keys), func(k indexKey) bool {
		return slices.ContainsFunc(had, func(h indexKey) bool { return h.compare(k, ix.pattern) == 0 })
	})
}

// conflict tells why a document cannot be in the collection's indexes in the place of the one with the same _id, nil if it
// can.
func (c *collection) conflict(ns, id string, doc []byte) error {
	for _, ix := range c.def.indexes {
		if !ix.constrains() {
			continue
		}
		keys, err := ix.keys(doc)
		if err != nil {
			return err
		}
		if !ix.refusesDuplicates() {
			continue
		}
		if ix.prepared {
			keys = c.withoutThose(keys, ix, id)
		}
		u := c.uniquenessOf(ix)
		if k := u.taken(keys, id); k != nil {
			return duplicate(ns, ix, k)
		}
	}
	return nil
}

// taken returns the first of the keys, in the index's order, that another document holds.
func (u *uniqueness) taken(keys []indexKey, id string) indexKey {
	var first indexKey
	for _, k := range keys {
		holder := u.holders[k.encode()]
		if holder != nil && holder.key != id && (first == nil || k.compare(first, u.pattern) < 0) {
			first = k
		}
	}
	return first
}

// buildable tells why an index cannot be built over the documents that the collection has, nil if it can.
func (c *collection) buildable(ns string, ix *index) error {
	if ix.flaw != nil || c == nil || !ix.constrains() {
		return ix.flaw
	}
	u := &uniqueness{ix, make(map[string]*record)}
	var least indexKey
	var err error
	c.scan(func(r *record) bool {
		keys, failed := ix.keys(r.doc)
		if failed != nil {
			err = failed
			return false
		}
		if k := u.taken(keys, r.key); ix.unique && k != nil && (least == nil || k.compare(least, ix.pattern) < 0) {
			least = k
		}
		u.add(r, r.doc)
		return true
	})
	if err == nil && least != nil {
		return duplicate(ns, ix, least)
	}
	return err
}

// duplicate is the error of a key that is already there.
func duplicate(ns string, ix *index, k indexKey) *mongoerr.Error {
	value := ix.named(k, func(key []byte) string { return fmt.Sprintf("CollationKey(0x%x)", key) })
	if ix.clusters { // what is there already is found by its record, of which no value is told
		e := mongoerr.Errorf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s dup key: %s found value: {}", ns, documentText(value))
		e.Extra = wire.AppendDocument(wire.AppendDocument(nil, "keyPattern", ix.pattern), "keyValue", value)
		e.Extra = wire.AppendDocument(e.Extra, "foundValue", emptyDocument)
		return e
	}
	name := ix.name
	if ix.collate != nil {
		name += " collation: " + documentText(ix.collate.Shown())
	}
	e := mongoerr.Errorf(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s dup key: %s", ns, name, documentText(value))
	e.Extra = wire.AppendDocument(nil, "keyPattern", ix.pattern)
	e.Extra = wire.AppendDocument(e.Extra, "keyValue", ix.named(k, func(key []byte) string { return fmt.Sprintf("%x", key) }))
	if ix.collate != nil {
		e.Extra = appendHexEncoded(e.Extra, k)
		e.Extra = wire.AppendDocument(e.Extra, "collation", ix.collate.Shown())
	}
	return e
}

// named returns a key as a document with the names of the pattern. The texts in it are those of a collation's sort keys.
func (ix *index) named(k indexKey, text func(sortKey []byte) string) []byte {
	at, value := wire.BeginDocument(nil)
	it := wire.Elements(ix.pattern)
	for i := 0; it.Next(); i++ {
		v := k[i]
		if ix.collate != nil && v.Type == bson.TypeString {
			value = wire.AppendString(value, string(it.Key), text(v.Text()))
			continue
		}
		value = wire.AppendValue(value, string(it.Key), v.Type, v.Data)
	}
	return wire.EndDocument(value, at)
}

// appendHexEncoded tells which parts of a key are sort keys, if any is.
func appendHexEncoded(dst []byte, k indexKey) []byte {
	at, list := wire.BeginArray(dst, "hexEncoded")
	found := false
	for i, v := range k {
		encoded := v.Type == bson.TypeString
		list, found = wire.AppendBool(list, wire.ArrayKey(i), encoded), found || encoded
	}
	if !found {
		return dst
	}
	return wire.EndDocument(list, at)
}
