package store

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// ofText puts the fields of a text index where the real server does: into weights, with two fields that stand for them all
// in the key.
func (r *specReader) ofText() {
	weights, given := r.weights()
	at, pattern := wire.BeginDocument(nil)
	placed := false
	for it := wire.Elements(r.Pattern); it.Next(); {
		name := string(it.Key)
		switch {
		case string(it.Text()) != "text":
			if name != "_ftsx" { // which stands behind _fts, and is written with it
				pattern = wire.AppendElement(pattern, it.Element)
			}
			continue
		case name == "_fts":
		case weights[name].Missing():
			weights[name] = query.Int32(1)
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

// weights reads the option of that name, and returns the other options too.
func (r *specReader) weights() (weights map[string]query.Value, others []wire.Element) {
	weights = make(map[string]query.Value)
	for _, e := range r.rest {
		switch {
		case string(e.Key) != "weights":
			others = append(others, e)
		case e.Type == bson.TypeString: // all fields
			weights[string(e.Text())] = query.Int32(1)
		default:
			for it := wire.Elements(e.Document()); it.Next(); {
				weight := query.Of(it.Element)
				weights[string(it.Key)] = query.Int32(int32(weight.Clamped32()))
			}
		}
	}
	return weights, others
}

// checkTextKey refuses a key that is not that of a text index: its fields, which may be written as the real server shows
// them, must stand side by side.
func (r *specReader) checkTextKey() error {
	var elements []wire.Element
	for it := wire.Elements(r.Pattern); it.Next(); {
		elements = append(elements, it.Element)
	}
	weights, _ := r.weights()
	ended, begun := false, false
	for i := 0; i < len(elements); i++ {
		name, isText := string(elements[i].Key), string(elements[i].Text()) == "text"
		switch {
		case name == "_fts" && begun:
			return errReservedField
		case name == "_fts":
			if i++; i == len(elements) || string(elements[i].Key) != "_ftsx" {
				return mongoerr.Errorf(mongoerr.CannotCreateIndex, "expected _ftsx after _fts")
			}
			if v := query.Of(elements[i]); v.Clamped32() != 1 {
				return mongoerr.Errorf(mongoerr.CannotCreateIndex, "expecting _ftsx:1")
			}
			ended = true
		case name == "_ftsx":
			return errReservedField
		case isText && ended:
			return mongoerr.Errorf(mongoerr.CannotCreateIndex, "'text' fields in index must all be adjacent")
		case isText:
			begun, weights[name] = true, query.Int32(1)
		case begun:
			ended = true
		}
	}
	if len(weights) == 0 {
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "text index option 'weights' must specify fields or the wildcard")
	}
	return nil
}

var errReservedField = mongoerr.Errorf(mongoerr.CannotCreateIndex, "text index with reserved fields _fts/_ftsx not allowed")

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
