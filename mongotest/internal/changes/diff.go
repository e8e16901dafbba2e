package changes

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// diff collects the sections by which the oplog tells how a document changed.
type diff struct {
	deleted, updated, inserted, nested query.Object
}

// documentDiff compares two documents. A field that is in another place is inserted again at the end.
func documentDiff(before, after query.Object) []byte {
	var d diff
	next := 0
	for _, f := range before {
		switch {
		case next < len(after) && after[next].Name == f.Name:
			d.compare(f.Name, f.Value, after[next].Value)
			next++
		case !slices.ContainsFunc(after, func(other query.Field) bool { return other.Name == f.Name }):
			d.deleted = append(d.deleted, query.Field{Name: f.Name, Value: falseValue})
		}
	}
	d.inserted = after[next:]
	return d.document()
}

var falseValue = query.Value{Type: bson.TypeBoolean, Data: []byte{0}}

// compare adds what happened to a field that is in its old place.
func (d *diff) compare(name string, before, after query.Value) {
	switch {
	case before.Type == after.Type && string(before.Data) == string(after.Data):
	case before.IsDocument() && after.IsDocument():
		inner := documentDiff(query.ObjectOf(before.Data), query.ObjectOf(after.Data))
		d.change(name, inner, after)
	case before.IsArray() && after.IsArray():
		d.change(name, arrayDiff(query.Elements(before.Data), query.Elements(after.Data)), after)
	default:
		d.updated = append(d.updated, query.Field{Name: name, Value: after})
	}
}

// change adds a change inside a value: as such, or as another value if that is shorter.
func (d *diff) change(name string, inner []byte, after query.Value) {
	if len(inner) >= len(after.Data) {
		d.updated = append(d.updated, query.Field{Name: name, Value: after})
		return
	}
	d.nested = append(d.nested, query.Field{Name: "s" + name, Value: query.Document(inner)})
}

func (d *diff) document() []byte {
	whole, dst := wire.BeginDocument(nil)
	for _, section := range []struct {
		name   string
		fields query.Object
	}{{"d", d.deleted}, {"u", d.updated}, {"i", d.inserted}} {
		if len(section.fields) > 0 {
			at, fields := wire.BeginEmbedded(dst, section.name)
			dst = wire.EndDocument(appendFields(fields, section.fields), at)
		}
	}
	return wire.EndDocument(appendFields(dst, d.nested), whole)
}

// arrayDiff compares two arrays element by element.
func arrayDiff(before, after []query.Value) []byte {
	whole, dst := wire.BeginDocument(nil)
	dst = wire.AppendBool(dst, "a", true)
	if len(after) < len(before) {
		dst = wire.AppendInt32(dst, "l", int32(len(after)))
	}
	for i, v := range after {
		name := wire.ArrayKey(i)
		var d diff
		if i < len(before) {
			d.compare(name, before[i], v)
		} else {
			d.updated = query.Object{{Name: name, Value: v}}
		}
		for _, f := range d.updated {
			dst = wire.AppendValue(dst, "u"+name, f.Value.Type, f.Value.Data)
		}
		dst = appendFields(dst, d.nested)
	}
	return wire.EndDocument(dst, whole)
}

func appendFields(dst []byte, fields query.Object) []byte {
	for _, f := range fields {
		dst = wire.AppendValue(dst, f.Name, f.Value.Type, f.Value.Data)
	}
	return dst
}
