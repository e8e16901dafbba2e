package changes

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/change-events/

const invalidate = "invalidate"

// event is something that happened to what a change stream watches.
type event struct {
	*store.Entry              // the operation
	in           *store.Entry // the entry of the log: itself, or the transaction that it is part of
	operation    string       // operationType
	expanded     bool         // only streams that ask for more kinds of events have it
	about        []byte       // operationDescription, nil for none
	token        token
}

// operations returns the events that an operation is, without what they have in common.
func operations(e *store.Entry) []event {
	switch e.Op {
	case store.Put:
		switch {
		case e.Before == nil:
			return []event{{operation: "insert"}}
		case e.Whole:
			return []event{{operation: "replace"}}
		}
		return []event{{operation: "update"}}
	case store.Remove:
		return []event{{operation: "delete"}}
	case store.Drop:
		return []event{{operation: "drop", expanded: e.View}}
	case store.Rename:
		return []event{{operation: "rename", about: renamed(e.Change)}}
	case store.EmptyDatabase:
		return []event{{operation: "dropDatabase"}}
	case store.Create:
		return []event{{operation: "create", expanded: true, about: creation(e.Change)}}
	case store.Alter:
		return alterations(e.Change)
	case store.Noop, store.Group:
	}
	return nil
}

// renamed describes a rename.
func renamed(c *store.Change) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = appendNamespace(dst, "to", c.To)
	if c.Target != nil {
		dst = wire.AppendBinary(dst, "dropTarget", bson.TypeBinaryUUID, c.Target[:])
	}
	return wire.EndDocument(dst, at)
}

// creation describes the created collection or view.
func creation(c *store.Change) []byte {
	at, dst := wire.BeginDocument(nil)
	shown := c.After.Options.Shown()
	dst = append(dst, shown[4:len(shown)-1]...)
	if c.After.Options.ViewOn == "" {
		dst = wire.AppendDocument(dst, "idIndex", c.After.Indexes[0].Raw)
	}
	return wire.EndDocument(dst, at)
}

// namespaceType returns the kind of thing that was created.
func namespaceType(o store.Options) string {
	switch {
	case o.ViewOn != "":
		return "view"
	case o.Timeseries != nil:
		return "timeseries"
	}
	return "collection"
}

// alterations returns the events of a change of a definition: all new indexes are one event, each that is gone is one.
func alterations(c *store.Change) []event {
	if c.Sharded != nil {
		return []event{{operation: "shardCollection", expanded: true, about: c.Sharded}}
	}
	if c.Asked != nil {
		return []event{{operation: "modify", expanded: true, about: c.Asked}}
	}
	var list []event
	var added []*store.Index
	for _, ix := range c.After.Indexes {
		if c.Before.Named(ix.Name) == nil {
			added = append(added, ix)
		}
	}
	if added != nil {
		list = append(list, event{operation: "createIndexes", expanded: true, about: indexList(added)})
	}
	for _, ix := range c.Before.Indexes {
		if c.After.Named(ix.Name) == nil {
			list = append(list, event{operation: "dropIndexes", expanded: true, about: indexList([]*store.Index{ix})})
		}
	}
	return list
}

// indexList describes indexes that were created or dropped.
func indexList(list []*store.Index) []byte {
	whole, dst := wire.BeginDocument(nil)
	at, dst := wire.BeginArray(dst, "indexes")
	for i, ix := range list {
		dst = wire.AppendDocument(dst, wire.ArrayKey(i), ix.Raw)
	}
	return wire.EndDocument(wire.EndDocument(dst, at), whole)
}

// stateBefore describes what a collMod changed as it was.
func stateBefore(c *store.Change) []byte {
	whole, dst := wire.BeginDocument(nil)
	at, dst := wire.BeginEmbedded(dst, "collectionOptions")
	dst = wire.AppendBinary(dst, "uuid", bson.TypeBinaryUUID, c.Before.UUID[:])
	shown := c.Before.Options.Shown()
	dst = wire.EndDocument(append(dst, shown[4:len(shown)-1]...), at)
	for _, ix := range c.Before.Indexes {
		if slices.Contains(c.After.Indexes, ix) {
			continue
		}
		at, dst = wire.BeginEmbedded(dst, "indexOptions")
		if v := query.Lookup(ix.Raw, "expireAfterSeconds"); !v.Missing() {
			dst = wire.AppendValue(dst, "expireAfterSeconds", v.Type, v.Data)
		}
		dst = wire.EndDocument(wire.AppendBool(dst, "hidden", ix.Hidden), at)
	}
	return wire.EndDocument(dst, whole)
}

// document returns an event, its fields in the real server's order.
func (s *Stream) document(e *event, data *store.Store, committed int64) ([]byte, error) {
	at, dst := wire.BeginDocument(nil)
	ends := e.operation == invalidate
	if e.Op == store.Rename && !ends {
		dst = appendNamespace(dst, "to", e.Change.To)
	}
	if e.in.Op == store.Group {
		dst = wire.AppendInt64(dst, "txnNumber", e.in.Session.Txn)
		dst = wire.AppendDocument(dst, "lsid", []byte(e.in.Session.LSID))
	}
	dst = wire.AppendDocument(dst, "_id", e.token.document())
	dst = wire.AppendString(dst, "operationType", e.operation)
	dst = wire.AppendTimestamp(dst, "clusterTime", e.in.TS.Seconds(), e.in.TS.Increment())
	if s.expanded && !ends && e.Op != store.EmptyDatabase && !e.View {
		dst = wire.AppendBinary(dst, "collectionUUID", bson.TypeBinaryUUID, e.Collection[:])
	}
	if s.version.HasImages() {
		dst = wire.AppendDateTime(dst, "wallTime", e.in.Written/int64(time.Millisecond))
	}
	if ends {
		return wire.EndDocument(dst, at), nil
	}
	dst = s.appendOperation(dst, e)
	dst, err := s.appendImages(dst, e, data, committed)
	if err != nil {
		return nil, err
	}
	return wire.EndDocument(dst, at), nil
}

// appendOperation writes the operation and its namespace.
func (s *Stream) appendOperation(dst []byte, e *event) []byte {
	if e.operation == "insert" || e.operation == "replace" {
		dst = wire.AppendDocument(dst, "fullDocument", e.After)
	}
	dst = appendNamespace(dst, "ns", e.NS)
	if e.operation == "create" && s.version.NamesType() {
		dst = wire.AppendString(dst, "nsType", namespaceType(e.Change.After.Options))
	}
	if e.Op == store.Put || e.Op == store.Remove {
		dst = wire.AppendDocument(dst, "documentKey", documentKey(e.Entry))
	}
	if e.about != nil && s.expanded {
		dst = wire.AppendDocument(dst, "operationDescription", e.about)
	}
	switch {
	case e.operation == "update":
		dst = compareDocuments(e.Before, e.After, s.version.TellsCuts()).append(dst, s.expanded)
	case e.operation == "modify" && !e.View:
		dst = wire.AppendDocument(dst, "stateBeforeChange", stateBefore(e.Change))
	}
	return dst
}

// documentKey returns the key of the document that an entry is about: the fields of the shard key that it has, and _id.
func documentKey(e *store.Entry) []byte {
	doc := e.After
	if doc == nil {
		doc = e.Before
	}
	at, dst := wire.BeginDocument(nil)
	for it := wire.Elements(e.ShardKey); it.Next(); {
		if v := fieldAt(doc, string(it.Key)); !v.Missing() {
			dst = wire.AppendValue(dst, string(it.Key), v.Type, v.Data)
		}
	}
	if query.Lookup(e.ShardKey, "_id").Missing() {
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

// appendImages writes the document before and after, as far as the stream asks for them.
func (s *Stream) appendImages(dst []byte, e *event, data *store.Store, committed int64) ([]byte, error) {
	if e.Before == nil {
		return dst, nil
	}
	if s.before != "off" {
		if s.before == "required" && !e.Images {
			return nil, mongoerr.Errorf(mongoerr.NoMatchingDocument,
				"Change stream was configured to require a pre-image for all update, delete and replace "+
					"events, but the pre-image was not found for event: %s", e.text())
		}
		dst = appendImage(dst, "fullDocumentBeforeChange", e.Before, e.Images)
	}
	if e.operation != "update" || s.fullDocument == "default" {
		return dst, nil
	}
	if s.fullDocument == "updateLookup" {
		doc := e.committed(data, committed)
		return appendImage(dst, "fullDocument", doc, doc != nil), nil
	}
	if s.fullDocument == "required" && !e.Images {
		return nil, mongoerr.Errorf(mongoerr.NoMatchingDocument,
			"Change stream was configured to require a post-image for all update events, but the "+
				"post-image was not found for event: %s", e.text())
	}
	return appendImage(dst, "fullDocument", e.After, e.Images), nil
}

func appendImage(dst []byte, key string, doc []byte, there bool) []byte {
	if !there {
		return wire.AppendValue(dst, key, bson.TypeNull, nil)
	}
	return wire.AppendDocument(dst, key, doc)
}

// committed returns the document that an event is about as it is at an index of the log, nil if there is none any more.
func (e *event) committed(data *store.Store, index int64) []byte {
	c := data.Snapshot(e.NS, index)
	if c == nil || c.Def.UUID != e.Collection {
		return nil
	}
	return c.Document(e.Key)
}

// text is the event as errors tell it.
func (e *event) text() string {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "operationType", e.operation)
	dst = appendNamespace(dst, "ns", e.NS)
	dst = wire.AppendTimestamp(dst, "clusterTime", e.in.TS.Seconds(), e.in.TS.Increment())
	if e.in.Op == store.Group {
		dst = wire.AppendInt64(dst, "txnNumber", e.in.Session.Txn)
	}
	return query.DocumentText(wire.EndDocument(dst, at))
}
