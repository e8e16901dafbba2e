package mongo

import (
	"cmp"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// extras writes the optional fields of a command. err is the first error.
type extras struct {
	b     []byte
	codec codec
	err   error
}

// value writes v under key, unless it is nil.
func (x *extras) value(key string, v any) {
	if x.err != nil || v == nil {
		return
	}
	rv, err := x.codec.value(v)
	if err != nil {
		x.err = inField(key, v, err)
		return
	}
	x.b = wire.AppendValue(x.b, key, rv.Type, rv.Value)
}

// document writes v, which must be a document, under key, unless it is nil.
func (x *extras) document(key string, v any) {
	if x.err != nil || v == nil {
		return
	}
	s := newScratch()
	defer s.release()
	doc, err := x.codec.document(s, v)
	if err != nil {
		x.err = inField(key, v, err)
		return
	}
	x.b = wire.AppendDocument(x.b, key, doc)
}

// inField adds the name of the field to the error of its value v. A MarshalError keeps its type, because programs switch
// on it.
func inField(name string, v any, err error) error {
	if e, ok := err.(MarshalError); ok { //nolint:errorlint // only the error's own type is kept
		return MarshalError{Value: v, Err: fmt.Errorf("%s: %w", name, e.Err)}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// required is document for an argument of a method: its error is returned as it is, and nil is ErrNilDocument.
func (x *extras) required(key string, v any) {
	if x.err != nil {
		return
	}
	s := newScratch()
	defer s.release()
	doc, err := x.codec.document(s, v)
	if err != nil {
		x.err = err
		return
	}
	x.b = wire.AppendDocument(x.b, key, doc)
}

// hint writes a hint: the name of an index, or its keys, whose order has a meaning.
func (x *extras) hint(v any) {
	if x.refuseUnordered("hint", v) {
		x.value("hint", v)
	}
}

// orderedDocument is document for an argument in which the order of the keys has a meaning.
func (x *extras) orderedDocument(key string, v any) {
	if x.refuseUnordered(key, v) {
		x.document(key, v)
	}
}

// refuseUnordered sets the error if v is a map with several keys. It reports whether there is no error.
func (x *extras) refuseUnordered(key string, v any) bool {
	if x.err == nil && unordered(v) {
		x.err = ErrMapForOrderedArgument{ParamName: key}
	}
	return x.err == nil
}

// unordered reports whether v is a map with several keys, or a pointer to one: its order differs from run to run.
func unordered(v any) bool {
	switch v.(type) {
	case nil, bson.D, string:
		return false
	}
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer {
		rv = rv.Elem()
	}
	return rv.Kind() == reflect.Map && rv.Len() > 1
}

func (x *extras) boolean(key string, v *bool) {
	if v != nil {
		x.b = wire.AppendBool(x.b, key, *v)
	}
}

func (x *extras) int64(key string, v *int64) {
	if v != nil {
		x.b = wire.AppendInt64(x.b, key, *v)
	}
}

// array writes documents under key, unless the slice is nil.
func (x *extras) array(key string, documents []any) {
	if documents != nil {
		x.value(key, documents)
	}
}

func (x *extras) collation(c *options.Collation) {
	if c == nil {
		return
	}
	if err := checkNested(reflect.ValueOf(c)); err != nil { // that of a write model was not checked with the options
		x.err = cmp.Or(x.err, err)
		return
	}
	at, b := wire.BeginEmbedded(x.b, "collation")
	for _, s := range []struct{ key, value string }{
		{"locale", c.Locale}, {"caseFirst", c.CaseFirst}, {"alternate", c.Alternate}, {"maxVariable", c.MaxVariable},
	} {
		if s.value != "" {
			b = wire.AppendString(b, s.key, s.value)
		}
	}
	if c.Strength != 0 {
		b = wire.AppendInt32(b, "strength", int32(c.Strength))
	}
	for _, f := range []struct {
		key string
		on  bool
	}{
		{"caseLevel", c.CaseLevel},
		{"numericOrdering", c.NumericOrdering},
		{"normalization", c.Normalization},
		{"backwards", c.Backwards},
	} {
		if f.on {
			b = wire.AppendBool(b, f.key, true)
		}
	}
	x.b = wire.EndDocument(b, at)
}
