package mongotest

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/change-events/

const invalidate = "invalidate"

// event is something that happened to what a change stream watches.
type event struct {
	*entry           // the operation
	in        *entry // the entry of the log: itself, or the transaction that it is part of
	operation string // operationType
	expanded  bool   // only streams that ask for more kinds of events have it
	about     []byte // operationDescription, nil for none
	token     resumeToken
}

// operations returns the events that an operation is, without what they have in common.
func operations(e *entry) []event {
	switch e.kind {
	case put:
		switch {
		case e.before == nil:
			return []event{{operation: "insert"}}
		case e.whole:
			return []event{{operation: "replace"}}
		}
		return []event{{operation: "update"}}
	case remove:
		return []event{{operation: "delete"}}
	case drop:
		return []event{{operation: "drop", expanded: e.view}}
	case rename:
		return []event{{operation: "rename", about: e.change.renaming()}}
	case empty:
		return []event{{operation: "dropDatabase"}}
	case create:
		return []event{{operation: "create", expanded: true, about: e.change.creation()}}
	case alter:
		return e.change.alterations()
	case noop, group:
	}
	return nil
}

// renaming describes a rename.
func (c *change) renaming() []byte {
	at, dst := wire.BeginDocument(nil)
	dst = appendNamespace(dst, "to", c.to)
	if c.target != nil {
		dst = wire.AppendBinary(dst, "dropTarget", bson.TypeBinaryUUID, c.target[:])
	}
	return wire.EndDocument(dst, at)
}

// creation describes what was created.
func (c *change) creation() []byte {
	at, dst := wire.BeginDocument(nil)
	shown := c.after.options.shown()
	dst = append(dst, shown[4:len(shown)-1]...)
	if c.after.options.viewOn == "" {
		dst = wire.AppendDocument(dst, "idIndex", idIndex.raw)
	}
	return wire.EndDocument(dst, at)
}

// alterations returns the events of a change of a definition: all new indexes are one event, each that is gone is one.
func (c *change) alterations() []event {
	if c.sharded != nil {
		return []event{{operation: "shardCollection", expanded: true, about: c.sharded}}
	}
	if c.asked != nil {
		return []event{{operation: "modify", expanded: true, about: c.asked}}
	}
	var list []event
	var added []*index
	for _, ix := range c.after.indexes {
		if c.before.named(ix.name) == nil {
			added = append(added, ix)
		}
	}
	if added != nil {
		list = append(list, event{operation: "createIndexes", expanded: true, about: indexList(added)})
	}
	for _, ix := range c.before.indexes {
		if c.after.named(ix.name) == nil {
			list = append(list, event{operation: "dropIndexes", expanded: true, about: indexList([]*index{ix})})
		}
	}
	return list
}

// indexList describes indexes that were created or dropped.
func indexList(list []*index) []byte {
	whole, dst := wire.BeginDocument(nil)
	at, dst := wire.BeginArray(dst, "indexes")
	for i, ix := range list {
		dst = wire.AppendDocument(dst, wire.ArrayKey(i), ix.raw)
	}
	return wire.EndDocument(wire.EndDocument(dst, at), whole)
}

// stateBefore describes what a collMod changed as it was.
func (c *change) stateBefore() []byte {
	whole, dst := wire.BeginDocument(nil)
	at, dst := wire.BeginEmbedded(dst, "collectionOptions")
	dst = wire.AppendBinary(dst, "uuid", bson.TypeBinaryUUID, c.before.uuid[:])
	shown := c.before.options.shown()
	dst = wire.EndDocument(append(dst, shown[4:len(shown)-1]...), at)
	for _, ix := range c.before.indexes {
		if slices.Contains(c.after.indexes, ix) {
			continue
		}
		at, dst = wire.BeginEmbedded(dst, "indexOptions")
		if v := query.Lookup(ix.raw, "expireAfterSeconds"); !v.Missing() {
			dst = wire.AppendValue(dst, "expireAfterSeconds", v.Type, v.Data)
		}
		dst = wire.EndDocument(wire.AppendBool(dst, "hidden", ix.hidden), at)
	}
	return wire.EndDocument(dst, whole)
}

// documentLocked writes an event, its fields in the real server's order.
func (s *changeStream) documentLocked(m *member, e *event) ([]byte, error) {
	at, dst := wire.BeginDocument(nil)
	ends := e.operation == invalidate
	if e.kind == rename && !ends {
		dst = appendNamespace(dst, "to", e.change.to)
	}
	if e.in.kind == group {
		dst = wire.AppendInt64(dst, "txnNumber", e.in.session.txn)
		dst = wire.AppendDocument(dst, "lsid", []byte(e.in.session.lsid))
	}
	dst = wire.AppendDocument(dst, "_id", e.token.document())
	dst = wire.AppendString(dst, "operationType", e.operation)
	dst = wire.AppendTimestamp(dst, "clusterTime", e.in.ts.seconds(), e.in.ts.increment())
	if s.expanded && !ends && e.kind != empty && !e.view {
		dst = wire.AppendBinary(dst, "collectionUUID", bson.TypeBinaryUUID, e.collection[:])
	}
	if m.set.config.version.hasImages() {
		dst = wire.AppendDateTime(dst, "wallTime", e.in.written/int64(time.Millisecond))
	}
	if ends {
		return wire.EndDocument(dst, at), nil
	}
	dst = s.appendOperation(dst, e, m.set.config.version)
	dst, err := s.appendImagesLocked(dst, m, e)
	if err != nil {
		return nil, err
	}
	return wire.EndDocument(dst, at), nil
}

// appendOperation writes what was done to what.
func (s *changeStream) appendOperation(dst []byte, e *event, v version) []byte {
	if e.operation == "insert" || e.operation == "replace" {
		dst = wire.AppendDocument(dst, "fullDocument", e.after)
	}
	dst = appendNamespace(dst, "ns", e.ns)
	if e.kind == put || e.kind == remove {
		dst = wire.AppendDocument(dst, "documentKey", e.documentKey())
	}
	if e.about != nil && s.expanded {
		dst = wire.AppendDocument(dst, "operationDescription", e.about)
	}
	switch {
	case e.operation == "update":
		dst = compareDocuments(e.before, e.after, v.tellsCuts()).append(dst, s.expanded)
	case e.operation == "modify" && !e.view:
		dst = wire.AppendDocument(dst, "stateBeforeChange", e.change.stateBefore())
	}
	return dst
}

// documentKey returns what tells the document that an entry is about from others: the fields of the shard key that it has, and _id.
func (e *entry) documentKey() []byte {
	doc := e.after
	if doc == nil {
		doc = e.before
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(e.shardKey); it.Next(); {
		if v := fieldAt(doc, string(it.Key)); !v.Missing() {
			dst = wire.AppendValue(dst, string(it.Key), v.Type, v.Data)
		}
	}
	if query.Lookup(e.shardKey, "_id").Missing() {
		id := query.Lookup(doc, "_id")
		dst = wire.AppendValue(dst, "_id", id.Type, id.Data)
	}
	return wire.EndDocument(dst, at)
}

// fieldAt returns the value at a dotted path. A field that has the whole path as its name goes before what the path leads to.
func fieldAt(doc []byte, path string) query.Value {
	v := query.Lookup(doc, path)
	first, rest, dotted := strings.Cut(path, ".")
	if !v.Missing() || !dotted {
		return v
	}
	if v = query.Lookup(doc, first); !v.IsDocument() {
		return query.Value{}
	}
	return fieldAt(v.Data, rest)
}

func appendNamespace(dst []byte, key, ns string) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	db, coll, found := strings.Cut(ns, ".")
	if dst = wire.AppendString(dst, "db", db); found {
		dst = wire.AppendString(dst, "coll", coll)
	}
	return wire.EndDocument(dst, at)
}

// appendImagesLocked writes the document before and after, as far as the stream asks for them.
func (s *changeStream) appendImagesLocked(dst []byte, m *member, e *event) ([]byte, error) {
	if e.before == nil {
		return dst, nil
	}
	if s.before != "off" {
		if s.before == "required" && !e.images {
			return nil, mongoerr.Errorf(mongoerr.NoMatchingDocument, "Change stream was configured to require a pre-image for all update, delete and replace "+
				"events, but the pre-image was not found for event: %s", e.text())
		}
		dst = appendImage(dst, "fullDocumentBeforeChange", e.before, e.images)
	}
	if e.operation != "update" || s.fullDocument == "default" {
		return dst, nil
	}
	if s.fullDocument == "updateLookup" {
		doc := m.committedLocked(e)
		return appendImage(dst, "fullDocument", doc, doc != nil), nil
	}
	if s.fullDocument == "required" && !e.images {
		return nil, mongoerr.Errorf(mongoerr.NoMatchingDocument, "Change stream was configured to require a post-image for all update events, but the "+
			"post-image was not found for event: %s", e.text())
	}
	return appendImage(dst, "fullDocument", e.after, e.images), nil
}

func appendImage(dst []byte, key string, doc []byte, there bool) []byte {
	if !there {
		return wire.AppendValue(dst, key, bson.TypeNull, nil)
	}
	return wire.AppendDocument(dst, key, doc)
}

// committedLocked returns what a majority has of the document that an event is about, nil if it has none any more.
func (m *member) committedLocked(e *event) []byte {
	c := m.snapshotLocked(e.ns, m.commit)
	if c == nil || c.def.uuid != e.collection {
		return nil
	}
	return c.at(e.key)
}

// text is the event as errors tell it.
func (e *event) text() string {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "operationType", e.operation)
	dst = appendNamespace(dst, "ns", e.ns)
	dst = wire.AppendTimestamp(dst, "clusterTime", e.in.ts.seconds(), e.in.ts.increment())
	if e.in.kind == group {
		dst = wire.AppendInt64(dst, "txnNumber", e.in.session.txn)
	}
	return documentText(wire.EndDocument(dst, at))
}
