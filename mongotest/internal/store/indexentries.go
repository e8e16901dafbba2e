package store

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// The keys of indexes whose entries are not the documents' values. Only a unique one is asked for them.
// https://www.mongodb.com/docs/manual/core/index-unique/

// entryKeys returns the keys under which an index of such a kind has a document.
func (ix *Index) entryKeys(doc []byte) ([]Key, error) {
	switch ix.plugin {
	case "text":
		return ix.textKeys(doc)
	case "2d":
		return ix.planeKeys(doc)
	case "2dsphere":
		return ix.sphereKeys(doc)
	}
	return nil, nil // the other kinds are never unique
}

// textKeys returns a key for each word of a document: the word and its score between the other fields.
func (ix *Index) textKeys(doc []byte) ([]Key, error) {
	scores, err := ix.text.Terms(doc, (*query.Work)(nil))
	if err != nil {
		return nil, textError(err)
	}
	var before, behind Key
	fts := false
	for it := wire.Elements(ix.Pattern); it.Next(); {
		switch name := string(it.Key); {
		case name == "_fts" || name == "_ftsx":
			fts = true
		case fts:
			behind = append(behind, oneAlong(doc, name))
		default:
			before = append(before, oneAlong(doc, name))
		}
	}
	keys := make([]Key, 0, len(scores))
	for _, word := range slices.Sorted(maps.Keys(scores)) {
		keys = append(keys, slices.Concat(before, Key{query.Text(word), query.Double(scores[word])}, behind))
	}
	return keys, nil
}

// oneAlong returns the value at a path, null if there is none.
func oneAlong(doc []byte, path string) query.Value {
	found := nullValue
	eachAlong(query.Document(doc), strings.Split(path, "."), func(v query.Value) { found = v })
	return found
}

// planeKeys returns a key for each point of a document in a 2d index: the point's square before the other fields, which are one value each.
func (ix *Index) planeKeys(doc []byte) ([]Key, error) {
	if err := ix.plane.check(ix.Paths[0], doc); err != nil {
		return nil, err
	}
	var others Key
	for _, path := range ix.Paths[1:] {
		others = append(others, allAlong(doc, path))
	}
	var keys []Key
	for _, p := range query.PlanePoints(doc, ix.Paths[0]) {
		keys = append(keys, append(Key{ix.plane.square(p.X, p.Y)}, others...))
	}
	return keys, nil
}

// subtypeSquare is that of the binary values that 2d indexes have.
const subtypeSquare = 0x80

// square returns which square of the plane a point is in: the bits of its coordinates in turn.
func (p *plane) square(x, y float64) query.Value {
	scale := (1 << 32) / (p.max - p.min)
	bits := [2]uint32{p.scaled(x, scale), p.scaled(y, scale)}
	var hash uint64
	for i := range p.bits {
		for axis, b := range bits {
			if b&(1<<(31-i)) != 0 {
				hash |= 1 << (63 - 2*i - axis)
			}
		}
	}
	data := binary.BigEndian.AppendUint64([]byte{8, 0, 0, 0, subtypeSquare}, hash)
	return query.Value{Type: bson.TypeBinary, Data: data}
}

func (p *plane) scaled(coordinate, scale float64) uint32 {
	return uint32(min((coordinate-p.min)*scale, 1<<32-1))
}

// allAlong returns the values at a path as one: null for none, an array of several.
func allAlong(doc []byte, path []string) query.Value {
	list := valuesAlong(doc, path)
	switch len(list) {
	case 0:
		return nullValue
	case 1:
		return list[0]
	}
	return query.Array(list)
}

// valuesAlong returns the values at a path, each element of an array as one.
func valuesAlong(doc []byte, path []string) []query.Value {
	var list []query.Value
	eachAlong(query.Document(doc), path, func(v query.Value) {
		if v.IsArray() {
			list = append(list, query.Elements(v.Data)...)
		} else {
			list = append(list, v)
		}
	})
	return list
}

// sphereKeys returns the keys of a document in a 2dsphere index: each cell of a geometry with each value of the other fields.
func (ix *Index) sphereKeys(doc []byte) ([]Key, error) {
	if !ix.holds(doc) {
		return nil, nil
	}
	collated := doc
	if ix.Collation != nil {
		collated = ix.Collation.Document(doc)
	}
	coarse, fine := ix.level("coarsestIndexedLevel", coarsestLevel), ix.level("finestIndexedLevel", fineLevel)
	keys := []Key{nil}
	for it := wire.Elements(ix.Pattern); it.Next(); {
		path := strings.Split(string(it.Key), ".")
		list := valuesAlong(collated, path)
		if query.Of(it.Element).IsString() {
			list = query.SphereCells(doc, path, coarse, fine)
		} else if len(list) == 0 && hasAlong(doc, path, query.Value.IsArray) {
			list = []query.Value{undefinedValue}
		}
		if len(list) == 0 {
			list = []query.Value{nullValue}
		}
		var longer []Key
		for _, k := range keys {
			for _, v := range list {
				longer = append(longer, append(slices.Clone(k), v))
			}
		}
		keys = longer
	}
	return keys, nil
}

// level returns an option of a 2dsphere index.
func (ix *Index) level(name string, otherwise int) int {
	if v := query.Lookup(ix.Raw, name); v.IsNumber() {
		return v.Clamped32()
	}
	return otherwise
}
