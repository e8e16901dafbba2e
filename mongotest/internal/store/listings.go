package store

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Info returns the definition as listCollections has it.
func (d *Definition) Info(name string, nameOnly bool) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "name", name)
	kind, isView := "collection", d.Options.ViewOn != ""
	if isView {
		kind = "view"
	} else if d.Options.Timeseries != nil {
		kind = "timeseries"
	}
	dst = wire.AppendString(dst, "type", kind)
	if nameOnly {
		return wire.EndDocument(dst, at)
	}
	dst = wire.AppendDocument(dst, "options", d.Options.Shown())
	info, dst := wire.BeginEmbedded(dst, "info")
	dst = wire.AppendBool(dst, "readOnly", isView)
	if isView {
		return wire.EndDocument(wire.EndDocument(dst, info), at)
	}
	dst = wire.AppendBinary(dst, "uuid", 4, d.UUID[:])
	dst = wire.EndDocument(dst, info)
	if d.Options.Clustered == nil && d.Options.Timeseries == nil {
		dst = wire.AppendDocument(dst, "idIndex", newIDIndex(d.Options.Collation).Shown())
	}
	return wire.EndDocument(dst, at)
}

// Listed returns the specification as listIndexes has it. With typed, which came with 9.0, each option has the place and the
// type that it is known to have, and the simple collation stands in one without a collation.
func (ix *Index) Listed(typed bool) []byte {
	shown := ix.Shown()
	if !typed {
		return shown
	}
	at, dst := wire.BeginDocument(nil)
	for _, name := range listedOptions {
		v := query.Lookup(shown, name)
		switch {
		case name == "collation" && v.Missing():
			dst = wire.AppendDocument(dst, name, bytewise)
		case v.Missing():
		case name == "min" || name == "max":
			dst = wire.AppendDouble(dst, name, v.AsFloat64())
		case v.IsNumber():
			dst = wire.AppendInt32(dst, name, int32(v.Clamped32()))
		default:
			dst = wire.AppendValue(dst, name, v.Type, v.Data)
		}
	}
	it := wire.Elements(shown)
	for it.Next() {
		if !slices.Contains(listedOptions, string(it.Key)) {
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// listedOptions are options of indexes in the order in which a server from 9.0 on lists them.
var listedOptions = []string{
	"v", "key", "name", "background", "unique", "hidden", "partialFilterExpression", "sparse", "expireAfterSeconds", "storageEngine", "weights",
	"default_language", "language_override", "textIndexVersion", "2dsphereIndexVersion", "bits", "min", "max", "collation",
}

// Shown returns the specification as listIndexes has it: version, key and name first.
func (ix *Index) Shown() []byte {
	at, dst := wire.BeginDocument(nil)
	for _, name := range [...]string{"v", "key", "name"} {
		v := query.Lookup(ix.Raw, name)
		dst = wire.AppendValue(dst, name, v.Type, v.Data)
	}
	it := wire.Elements(ix.Raw)
	for it.Next() {
		switch string(it.Key) {
		case "v", "key", "name":
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(dst, at)
}

// bytewise is the collation that compares bytes.
var bytewise = wire.EndDocument(wire.AppendString([]byte{0, 0, 0, 0}, "locale", "simple"), 0)
