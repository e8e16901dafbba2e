package store

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// ofText puts the fields of a text index where the real server does: into weights, with two fields that stand for them all
// in the key.
func (r *specReader) ofText() {
	weights := make(map[string]query.Value)
	var given []wire.Element
	for _, e := range r.rest {
		if string(e.Key) != "weights" {
			given = append(given, e)
			continue
		}
		it := wire.Elements(e.Document())
		for e.Document() != nil && it.Next() {
			weight := query.Of(it.Element)
			weights[string(it.Key)] = query.Int32(int32(weight.Clamped32()))
		}
	}
	at, pattern := wire.BeginDocument(nil)
	placed := false
	it := wire.Elements(r.Pattern)
	for it.Next() {
		if string(it.Text()) != "text" {
			pattern = wire.AppendElement(pattern, it.Element)
			continue
		}
		if _, ok := weights[string(it.Key)]; !ok && string(it.Key) != "_fts" {
			weights[string(it.Key)] = query.Int32(1)
		}
		if !placed {
			pattern = wire.AppendInt32(wire.AppendString(pattern, "_fts", "text"), "_ftsx", 1)
			placed = true
		}
	}
	r.Pattern = wire.EndDocument(pattern, at)
	r.rest = append([]wire.Element{{Type: bson.TypeEmbeddedDocument, Key: []byte("weights"), Value: weightsDocument(weights)}},
		withDefaults(given)...)
}

// textOf returns what a text index searches, by its specification as it is kept.
func textOf(raw []byte) *fulltext.Index {
	ix := &fulltext.Index{
		Weights:  make(map[string]float64),
		Language: string(query.Lookup(raw, "default_language").Text()),
		Override: string(query.Lookup(raw, "language_override").Text()),
	}
	for it := wire.Elements(query.Lookup(raw, "weights").Data); it.Next(); {
		ix.Weights[string(it.Key)] = query.Of(it.Element).AsFloat64()
	}
	return ix
}

func weightsDocument(weights map[string]query.Value) []byte {
	var names []string
	for name := range weights {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	at, dst := wire.BeginDocument(nil)
	for _, name := range names {
		dst = wire.AppendValue(dst, name, weights[name].Type, weights[name].Data)
	}
	return wire.EndDocument(dst, at)
}

// withDefaults puts the options that every text index has behind the others, with what those are that were not given.
func withDefaults(given []wire.Element) []wire.Element {
	text := func(s string) []byte { return wire.AppendString(nil, "", s)[2:] }
	known := []wire.Element{
		{Type: bson.TypeString, Key: []byte("default_language"), Value: text("english")},
		{Type: bson.TypeString, Key: []byte("language_override"), Value: text("language")},
		{Type: bson.TypeInt32, Key: []byte("textIndexVersion"), Value: query.Int32(3).Data},
	}
	return append(slices.DeleteFunc(given, func(e wire.Element) bool {
		i := slices.IndexFunc(known, func(d wire.Element) bool { return string(e.Key) == string(d.Key) })
		if i < 0 {
			return false
		}
		if v := query.Of(e); v.IsNumber() {
			e.Type, e.Value = bson.TypeInt32, query.Int32(int32(v.Clamped32())).Data
		}
		known[i] = e
		return true
	}), known...)
}
