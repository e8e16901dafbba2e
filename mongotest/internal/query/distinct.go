package query

import (
	"strings"
)

// Distinct returns the values that documents have at a path, each once and in order; of an array it takes the elements.
func Distinct(w *Work, docs [][]byte, path string, c Collation) ([]Value, error) {
	seen := make(map[string]bool)
	var values []Value
	add := func(v Value) {
		if key := string(AppendKey(nil, Keyed(c, v))); !seen[key] {
			seen[key] = true
			values = append(values, v)
		}
	}
	parts := strings.Split(path, ".")
	for _, doc := range docs {
		if err := w.Bytes(len(doc)); err != nil {
			return nil, err
		}
		eachAt(doc, parts, func(v Value) {
			if !v.IsArray() {
				add(v)
				return
			}
			for _, element := range Elements(v.Data) {
				add(element)
			}
		})
	}
	return values, SortStable(w, values, func(a, b Value) int { return CompareBy(c, a, b) })
}

// eachAt calls visit with every value that a path leads to, through the documents in arrays and by the places of elements.
func eachAt(doc []byte, path []string, visit func(Value)) {
	v := Lookup(doc, path[0])
	switch {
	case v.Missing():
	case len(path) == 1:
		visit(v)
	case v.IsDocument():
		eachAt(v.Data, path[1:], visit)
	case v.IsArray():
		eachWithin(v.Data, path[1:], visit)
	}
}

func eachWithin(array []byte, path []string, visit func(Value)) {
	if place := Lookup(array, path[0]); !place.Missing() {
		switch {
		case len(path) == 1:
			visit(place)
		case place.IsDocument():
			eachAt(place.Data, path[1:], visit)
		case place.IsArray():
			eachWithin(place.Data, path[1:], visit)
		}
		return
	}
	for _, element := range Elements(array) {
		if element.IsDocument() {
			eachAt(element.Data, path, visit)
		}
	}
}
