package mongotest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/distinct/

func cmdDistinct(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var s search
	key, filter := query.Value{}, query.EmptyDocument
	for i := range x.command.args {
		if err := s.distinctField(&x.command.args[i], &key, &filter); err != nil {
			return err
		}
	}
	if bytes.IndexByte(key.Text(), 0) >= 0 {
		return mongoerr.Errorf(31032, "Key field cannot contain an embedded null byte")
	}
	if err := s.compile(x, filter); err != nil {
		return err
	}
	docs, view, err := x.matching(&s)
	if err != nil {
		return err
	}
	x.result.wholeOK = view
	x.result.out = appendValues(x.result.out, "values", distinct(docs, string(key.Text()), s.collation))
	if x.snapshot() {
		x.result.out = wire.AppendTimestamp(x.result.out, "atClusterTime", x.command.atTime.Seconds(), x.command.atTime.Increment())
	}
	return nil
}

func (s *search) distinctField(e *wire.Element, key *query.Value, filter *[]byte) error {
	switch string(e.Key) {
	case "key":
		*key = query.Of(*e)
	case "query":
		*filter = e.Value
		return query.CheckDocument(*filter)
	case "hint":
		return s.hint.Parse(e)
	case "collation":
		return s.parseCollation(e)
	}
	return nil
}

// distinct returns the values that documents have at a path, each once and in order; of an array it takes the elements.
func distinct(docs [][]byte, path string, c query.Collation) []query.Value {
	seen := make(map[string]bool)
	var values []query.Value
	add := func(v query.Value) {
		if key := string(query.AppendKey(nil, collated(v, c))); !seen[key] {
			seen[key] = true
			values = append(values, v)
		}
	}
	parts := strings.Split(path, ".")
	for _, doc := range docs {
		eachAt(doc, parts, func(v query.Value) {
			if !v.IsArray() {
				add(v)
				return
			}
			for _, element := range query.Elements(v.Data) {
				add(element)
			}
		})
	}
	slices.SortStableFunc(values, func(a, b query.Value) int { return query.Compare(collated(a, c), collated(b, c)) })
	return values
}

// eachAt calls visit with every value that a path leads to, through the documents in arrays and by the places of elements.
func eachAt(doc []byte, path []string, visit func(query.Value)) {
	v := query.Lookup(doc, path[0])
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

func eachWithin(array []byte, path []string, visit func(query.Value)) {
	if place := query.Lookup(array, path[0]); !place.Missing() {
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
	for _, element := range query.Elements(array) {
		if element.IsDocument() {
			eachAt(element.Data, path, visit)
		}
	}
}

func appendValues(dst []byte, key string, values []query.Value) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, v := range values {
		dst = wire.AppendValue(dst, wire.ArrayKey(i), v.Type, v.Data)
	}
	return wire.EndDocument(dst, at)
}
