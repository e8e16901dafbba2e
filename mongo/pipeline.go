package mongo

import (
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// stages are the encoded stages of a pipeline, one after the other.
type stages []byte

// pipeline encodes a pipeline: any slice or array whose elements are documents, or a value that encodes itself as an
// array. A document is refused, unless it is empty. The texts of the errors are those of the official driver.
func (c codec) pipeline(v any) (stages, error) {
	switch v.(type) {
	case bson.D, bson.Raw:
		if reflect.ValueOf(v).Len() == 0 {
			return stages{}, nil
		}
		return nil, notAnArray(v)
	case *bson.D, *bson.Raw:
		return nil, notAnArray(v)
	case bson.ValueMarshaler:
		return c.marshaledPipeline(v)
	}
	rv := reflect.ValueOf(v)
	if kind := rv.Kind(); kind != reflect.Slice && kind != reflect.Array {
		return nil, notAPipeline(kind)
	}
	s := newScratch()
	defer s.release()
	for i := range rv.Len() {
		if err := c.append(s, rv.Index(i).Interface()); err != nil {
			return nil, err
		}
	}
	return append(stages{}, s.b...), nil
}

func notAnArray(v any) error {
	return fmt.Errorf("%T is not an allowed pipeline type as it represents a single document. "+
		"Use bson.A or mongo.Pipeline instead", v)
}

func notAPipeline(got any) error {
	return fmt.Errorf("can only marshal slices and arrays into aggregation pipelines, but got %v", got)
}

// marshaledPipeline encodes a pipeline that encodes itself.
func (c codec) marshaledPipeline(v any) (stages, error) {
	rv, err := c.value(v)
	if err != nil {
		return nil, err
	}
	if rv.Type != bson.TypeArray {
		return nil, notAPipeline(rv.Type)
	}
	out := stages{}
	for it := wire.Elements(rv.Value); it.Next(); {
		doc := it.Document()
		if doc == nil {
			return nil, fmt.Errorf("mongo: stage %s of the pipeline is a %s instead of a document", it.Key, it.Type)
		}
		out = append(out, doc...)
	}
	return out, nil
}

// stage appends a stage with one key.
func (p stages) stage(name string, value bson.RawValue) stages {
	at, b := wire.BeginDocument(p)
	return wire.EndDocument(wire.AppendValue(b, name, value.Type, value.Value), at)
}

// appendTo writes the stages as an array under key.
func (p stages) appendTo(b []byte, key string) []byte {
	at, b := wire.BeginArray(b, key)
	for i, doc := range p.all {
		b = wire.AppendDocument(b, wire.ArrayKey(i), doc)
	}
	return wire.EndDocument(b, at)
}

// all calls yield with each stage.
func (p stages) all(yield func(int, []byte) bool) {
	for i := 0; len(p) > 0; i++ {
		n, err := wire.DocumentLength(p)
		if err != nil || !yield(i, p[:n]) {
			return
		}
		p = p[n:]
	}
}

// writes reports whether the last stage writes to a collection.
func (p stages) writes() bool {
	last := ""
	for _, doc := range p.all {
		last = nameOfStage(doc)
	}
	return last == "$out" || last == "$merge"
}

// watches reports whether the first stage makes the result a change stream.
func (p stages) watches() bool {
	for _, doc := range p.all {
		return nameOfStage(doc) == "$changeStream"
	}
	return false
}

func nameOfStage(doc []byte) string {
	if it := wire.Elements(doc); it.Next() {
		return string(it.Key)
	}
	return ""
}
