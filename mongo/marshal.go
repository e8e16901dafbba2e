package mongo

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/bsoncodec"
	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// codec encodes values as BSON and decodes them, with the options of a client, database or collection.
type codec struct {
	registry *bson.Registry
	options  *options.BSONOptions
}

func (c codec) with(registry *bson.Registry, o *options.BSONOptions) codec {
	if registry != nil {
		c.registry = registry
	}
	if o != nil {
		c.options = o
	}
	return c
}

func (c codec) plain() bool { return c.registry == nil && c.options == nil }

// scratch is a buffer for one operation.
type scratch struct{ b []byte }

var scratches = sync.Pool{New: func() any { return &scratch{b: make([]byte, 0, 1024)} }}

const keptScratch = largebuffer.Least

func newScratch() *scratch {
	s := scratches.Get().(*scratch)
	s.b = s.b[:0]
	return s
}

func (s *scratch) release() {
	if cap(s.b) <= keptScratch {
		scratches.Put(s)
	} else {
		largebuffer.Put(s.b)
	}
}

// mostForeseen limits how many times as large foresee makes a scratch: documents may differ.
const mostForeseen = 4

// foresee makes room for all n documents, of which done are in s, as if they were alike. Without it a large batch is copied many
// times while it grows.
func (s *scratch) foresee(done, n int) {
	if done&(done-1) != 0 || cap(s.b) >= 2*len(s.b) { // a power of two: then what fits lasts until the next one
		return
	}
	more, each := mostForeseen*len(s.b), len(s.b)/max(1, done)+1
	if n-done < more/each {
		more = (n - done) * each
	}
	s.b = slices.Grow(largebuffer.Grow(s.b, more), more)
}

// Write implements [io.Writer].
func (s *scratch) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// document appends v as a BSON document to s and returns its bytes. They are valid until s grows or is released.
func (c codec) document(s *scratch, v any) ([]byte, error) {
	at := len(s.b)
	if err := c.append(s, v); err != nil {
		return nil, err
	}
	return s.b[at:], nil
}

func (c codec) append(s *scratch, v any) error {
	switch d := v.(type) {
	case nil:
		return ErrNilDocument
	case bson.Raw:
		return appendRaw(s, d)
	case []byte:
		return appendRaw(s, d)
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
		return ErrNilDocument
	}
	var err error
	if c.plain() {
		var b []byte
		if b, err = bsoncodec.Append(s.b, v); err == nil {
			s.b = b
			return nil
		}
	} else if err = c.encodeWithOptions(s, v); err == nil {
		return nil
	}
	return MarshalError{Value: v, Err: err}
}

// encodeWithOptions also checks the bytes, because the official encoder copies those of a marshaler as they are.
func (c codec) encodeWithOptions(s *scratch, v any) error {
	at := len(s.b)
	if err := c.encoder(s).Encode(v); err != nil {
		return err
	}
	return bson.Raw(s.b[at:]).Validate()
}

// appendElement is append for an element of a slice.
func (c codec) appendElement(s *scratch, v reflect.Value) error {
	if !c.plain() || v.Kind() != reflect.Struct {
		return c.append(s, v.Interface())
	}
	b, err := bsoncodec.AppendElement(s.b, v)
	if err != nil {
		return MarshalError{Value: v.Interface(), Err: err}
	}
	s.b = b
	return nil
}

// encoder returns an encoder with the options of c, which writes whole documents to s.
func (c codec) encoder(s *scratch) *bson.Encoder {
	encoder := bson.NewEncoder(bson.NewDocumentWriter(s))
	c.configureEncoder(encoder)
	return encoder
}

func appendRaw(s *scratch, d []byte) error {
	n, err := wire.DocumentLength(d)
	if err == nil && n != len(d) {
		err = fmt.Errorf("%w: %d unexpected bytes after the document", wire.ErrMalformed, len(d)-n)
	}
	if err == nil {
		err = bson.Raw(d).Validate()
	}
	if err != nil {
		return MarshalError{Value: bson.Raw(d), Err: err}
	}
	s.b = append(s.b, d...)
	return nil
}

func (c codec) configureEncoder(e *bson.Encoder) {
	if c.registry != nil {
		e.SetRegistry(c.registry)
	}
	if c.options == nil {
		return
	}
	for _, o := range []struct {
		on  bool
		set func()
	}{
		{c.options.ErrorOnInlineDuplicates, e.ErrorOnInlineDuplicates},
		{c.options.IntMinSize, e.IntMinSize},
		{c.options.NilByteSliceAsEmpty, e.NilByteSliceAsEmpty},
		{c.options.NilMapAsEmpty, e.NilMapAsEmpty},
		{c.options.NilSliceAsEmpty, e.NilSliceAsEmpty},
		{c.options.OmitEmpty, e.OmitEmpty},
		{c.options.OmitZeroStruct, e.OmitZeroStruct},
		{c.options.StringifyMapKeysWithFmt, e.StringifyMapKeysWithFmt},
		{c.options.UseJSONStructTags, e.UseJSONStructTags},
	} {
		if o.on {
			o.set()
		}
	}
}

// unmarshal decodes a document into v.
func (c codec) unmarshal(doc bson.Raw, v any) error {
	if c.plain() {
		return bsoncodec.Decode(doc, v)
	}
	return c.unmarshalWithOptions(doc, v)
}

// decoder returns a function that decodes documents with common keys.
func (c codec) decoder() func(doc []byte, v any) error {
	if c.plain() {
		return new(bsoncodec.Decoder).Decode
	}
	return func(doc []byte, v any) error { return c.unmarshalWithOptions(doc, v) }
}

func (c codec) unmarshalWithOptions(doc bson.Raw, v any) error {
	d := bson.NewDecoder(bson.NewDocumentReader(bytes.NewReader(doc)))
	if c.registry != nil {
		d.SetRegistry(c.registry)
	}
	if c.options != nil {
		c.configureDecoder(d)
	}
	return d.Decode(v)
}

func (c codec) configureDecoder(d *bson.Decoder) {
	for _, o := range []struct {
		on  bool
		set func()
	}{
		{c.options.AllowTruncatingDoubles, d.AllowTruncatingDoubles},
		{c.options.BinaryAsSlice, d.BinaryAsSlice},
		{c.options.DefaultDocumentM, d.DefaultDocumentM},
		{c.options.DefaultDocumentMap, d.DefaultDocumentMap},
		{c.options.ObjectIDAsHexString, d.ObjectIDAsHexString},
		{c.options.UseJSONStructTags, d.UseJSONStructTags},
		{c.options.UseLocalTimeZone, d.UseLocalTimeZone},
		{c.options.ZeroMaps, d.ZeroMaps},
		{c.options.ZeroStructs, d.ZeroStructs},
	} {
		if o.on {
			o.set()
		}
	}
}

// value returns v as a BSON value.
func (c codec) value(v any) (bson.RawValue, error) {
	s := newScratch()
	defer s.release()
	doc, err := c.document(s, bson.D{{Key: "v", Value: v}})
	if err != nil {
		return bson.RawValue{}, err
	}
	it := wire.Elements(doc)
	if !it.Next() {
		return bson.RawValue{}, errors.New("mongo: the value cannot be encoded as BSON")
	}
	return bson.RawValue{Type: it.Type, Value: append([]byte(nil), it.Value...)}, nil
}

// withID returns the _id of the last document of s, which begins at offset at. If it has none, withID inserts a new
// ObjectID as the first field, as servers do.
func (c codec) withID(s *scratch, at int) (any, error) {
	it := wire.Elements(s.b[at:])
	for it.Next() {
		if string(it.Key) == "_id" {
			return c.unmarshalID(it.Element)
		}
	}
	if it.Err != nil {
		return nil, it.Err
	}
	id := bson.NewObjectID()
	var head [17]byte
	element := wire.AppendObjectID(head[:0], "_id", id)
	s.b = append(s.b, element...)
	copy(s.b[at+4+len(element):], s.b[at+4:len(s.b)-len(element)])
	copy(s.b[at+4:], element)
	wire.SetDocumentLength(s.b[at:], len(s.b)-at)
	return id, nil
}

// unmarshalID returns an _id as the type that the options of c choose for a variable of type any.
func (c codec) unmarshalID(id wire.Element) (any, error) {
	if c.plain() {
		return bsoncodec.DecodeValue(id.Type, id.Value)
	}
	at, doc := wire.BeginDocument(nil)
	doc = wire.EndDocument(wire.AppendElement(doc, id), at)
	var v struct {
		ID any `bson:"_id"`
	}
	err := c.unmarshalWithOptions(doc, &v)
	return v.ID, err
}

// startsWithOperator reports whether the first key of a document begins with a dollar sign, and whether there is a
// key.
func startsWithOperator(doc []byte) (bool, bool) {
	it := wire.Elements(doc)
	if !it.Next() {
		return false, false
	}
	return len(it.Key) > 0 && it.Key[0] == '$', true
}
