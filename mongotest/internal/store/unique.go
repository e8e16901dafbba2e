package store

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Uniqueness is a unique index of one collection, and which record holds each of its keys.
type Uniqueness struct {
	*Index
	Holders map[string]*Record
}

// define gives the collection another definition and works out the entries of unique indexes that it did not have.
func (c *Collection) define(d *Definition) {
	var list []*Uniqueness
	for _, ix := range d.Indexes {
		if ix.refusesDuplicates() {
			list = append(list, c.uniquenessOf(ix))
		}
	}
	c.Def, c.Uniques = d, list
	c.buildStates()
}

func (c *Collection) uniquenessOf(ix *Index) *Uniqueness {
	for _, u := range c.Uniques {
		if u.Index == ix {
			return u
		}
	}
	u := &Uniqueness{ix, make(map[string]*Record)}
	c.Scan(func(r *Record) bool {
		u.add(r)
		return true
	})
	return u
}

// add enters a record; what the index cannot hold was refused before.
func (u *Uniqueness) add(r *Record) {
	keys, _ := u.Keys(r.Doc)
	for _, k := range keys {
		u.Holders[k.Encode()] = r
	}
}

func (u *Uniqueness) remove(r *Record) {
	keys, _ := u.Keys(r.Doc)
	for _, k := range keys {
		if at := k.Encode(); u.Holders[at] == r {
			delete(u.Holders, at)
		}
	}
}

// reindex replaces the entries of another record by those of one; nil stands for none.
func (c *Collection) reindex(old, r *Record) {
	for _, u := range c.Uniques {
		if old != nil {
			u.remove(old)
			u.find(c, old)
		}
		if r != nil {
			u.add(r)
		}
	}
}

// find enters another document that has the keys which one gave up: an index that only takes no further duplicates may have
// some.
func (u *Uniqueness) find(c *Collection, gone *Record) {
	if !u.Prepared {
		return
	}
	given, _ := u.Keys(gone.Doc)
	c.Scan(func(r *Record) bool {
		keys, _ := u.Keys(r.Doc)
		for _, k := range keys {
			if r.ID != gone.ID && slices.ContainsFunc(given, func(g Key) bool { return g.compare(k, u.Pattern) == 0 }) {
				u.Holders[k.Encode()] = r
			}
		}
		return true
	})
}

// withoutThose returns the keys that the document with an _id does not have already.
func (c *Collection) withoutThose(keys []Key, ix *Index, id string) []Key {
	had, _ := ix.Keys(c.Document(id))
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool {
		return slices.ContainsFunc(had, func(h Key) bool { return h.compare(k, ix.Pattern) == 0 })
	})
}

// Conflict returns why a document cannot replace the one with the same _id in the collection's indexes, nil if it
// can.
func (c *Collection) Conflict(ns, id string, doc []byte) error {
	for _, ix := range c.Def.Indexes {
		if err := ix.checkContents(doc); err != nil {
			return err
		}
		if !ix.constrains() {
			continue
		}
		keys, err := ix.Keys(doc)
		if err != nil {
			return err
		}
		if !ix.refusesDuplicates() {
			continue
		}
		if ix.Prepared {
			keys = c.withoutThose(keys, ix, id)
		}
		u := c.uniquenessOf(ix)
		if k := u.taken(keys, id); k != nil {
			return Duplicate(ns, ix, k)
		}
	}
	return nil
}

// taken returns the first of the keys, in the index's order, that another document holds.
func (u *Uniqueness) taken(keys []Key, id string) Key {
	var first Key
	for _, k := range keys {
		holder := u.Holders[k.Encode()]
		if holder != nil && holder.Key != id && (first == nil || k.compare(first, u.Pattern) < 0) {
			first = k
		}
	}
	return first
}

// Buildable returns why an index cannot be built over the collection's documents, nil if it can.
func (c *Collection) Buildable(ns string, ix *Index) error {
	if ix.Flaw != nil || c == nil {
		return ix.Flaw
	}
	if err := c.checkAll(ix); err != nil || !ix.constrains() {
		return err
	}
	u := &Uniqueness{ix, make(map[string]*Record)}
	var least Key
	var err error
	c.Scan(func(r *Record) bool {
		keys, failed := ix.Keys(r.Doc)
		if failed != nil {
			err = failed
			return false
		}
		if k := u.taken(keys, r.Key); ix.Unique && k != nil && (least == nil || k.compare(least, ix.Pattern) < 0) {
			least = k
		}
		u.add(r)
		return true
	})
	if err == nil && least != nil {
		return Duplicate(ns, ix, least)
	}
	return err
}

// Duplicate is the error of a key that is already there.
func Duplicate(ns string, ix *Index, k Key) *mongoerr.Error {
	value := ix.named(k, func(key []byte) string { return fmt.Sprintf("CollationKey(0x%x)", key) })
	collated := ""
	if ix.Collation != nil {
		collated = " collation: " + ix.Collation.Text()
	}
	if ix.clusters { // a duplicate is found by its record, and the error names no value
		e := mongoerr.Errorf(mongoerr.DuplicateKey,
			"E11000 duplicate key error collection: %s%s dup key: %s found value: {}", ns, collated, query.DocumentText(value))
		e.Extra = wire.AppendDocument(ix.duplicateKey(k), "foundValue", query.EmptyDocument)
		return e
	}
	e := mongoerr.Errorf(mongoerr.DuplicateKey,
		"E11000 duplicate key error collection: %s index: %s%s dup key: %s", ns, ix.Name, collated, query.DocumentText(value))
	e.Extra = ix.duplicateKey(k)
	return e
}

// DuplicateID is the error of a document whose _id is already there.
func (d *Definition) DuplicateID(ns string, doc []byte) *mongoerr.Error {
	return Duplicate(ns, d.Indexes[0], Key{query.Keyed(d.Options.Collation.Rule(), query.Lookup(doc, "_id"))})
}

// duplicateKey returns the fields of an error that tell the key.
func (ix *Index) duplicateKey(k Key) []byte {
	dst := wire.AppendDocument(nil, "keyPattern", ix.Pattern)
	dst = wire.AppendDocument(dst, "keyValue", ix.named(k, func(key []byte) string { return fmt.Sprintf("%x", key) }))
	if ix.Collation != nil {
		dst = wire.AppendDocument(appendHexEncoded(dst, k), "collation", ix.Collation.Shown())
	}
	return dst
}

// named returns a key as a document with the names of the pattern. The texts in it are those of a collation's sort keys.
func (ix *Index) named(k Key, text func(sortKey []byte) string) []byte {
	at, value := wire.BeginDocument(nil)
	it := wire.Elements(ix.Pattern)
	for i := 0; it.Next(); i++ {
		v := k[i]
		if ix.Collation != nil && v.Type == bson.TypeString {
			value = wire.AppendString(value, string(it.Key), text(v.Text()))
			continue
		}
		value = wire.AppendValue(value, string(it.Key), v.Type, v.Data)
	}
	return wire.EndDocument(value, at)
}

// appendHexEncoded appends which parts of a key are sort keys, if any is.
func appendHexEncoded(dst []byte, k Key) []byte {
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

// Violations returns which documents have the same key in an index, as an element of a reply; nil if none have.
func (c *Collection) Violations(ix *Index) []byte {
	groups, order := make(map[string][]query.Value), []string(nil)
	c.Scan(func(r *Record) bool {
		keys, _ := ix.Keys(r.Doc)
		for _, k := range keys {
			at := k.Encode()
			if groups[at] == nil {
				order = append(order, at)
			}
			groups[at] = append(groups[at], query.Lookup(r.Doc, "_id"))
		}
		return true
	})
	order = slices.DeleteFunc(order, func(at string) bool { return len(groups[at]) < 2 })
	if len(order) == 0 {
		return nil
	}
	list, dst := wire.BeginArray(nil, "violations")
	for i, at := range order {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		dst = wire.EndDocument(wire.AppendValue(d, "ids", bson.TypeArray, query.Array(groups[at]).Data), one)
	}
	return wire.EndDocument(dst, list)
}
