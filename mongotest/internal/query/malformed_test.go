package query_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// A value in a well-framed message may still be malformed inside. Its text is written into errors all the same.
func TestTheTextOfMalformedValues(t *testing.T) {
	for rule, v := range map[string]query.Value{
		"code longer than the whole":    {Type: bson.TypeCodeWithScope, Data: []byte("\x0e\x00\x00\x00\x7f\x00\x00\x00\x00\x05\x00\x00\x00\x00")},
		"code of no length":             {Type: bson.TypeCodeWithScope, Data: []byte("\x0e\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00")},
		"code of a negative length":     {Type: bson.TypeCodeWithScope, Data: []byte("\x0e\x00\x00\x00\xff\xff\xff\xff\x00\x05\x00\x00\x00\x00")},
		"code without its end":          {Type: bson.TypeCodeWithScope, Data: []byte("\x0f\x00\x00\x00\x02\x00\x00\x00xy\x05\x00\x00\x00\x00")},
		"a scope longer than there is":  {Type: bson.TypeCodeWithScope, Data: []byte("\x0e\x00\x00\x00\x01\x00\x00\x00\x00\x06\x00\x00\x00\x00")},
		"old binary data of two bytes":  {Type: bson.TypeBinary, Data: []byte("\x02\x00\x00\x00\x02ab")},
		"a string without its end":      {Type: bson.TypeString, Data: []byte("\x01\x00\x00\x00x")},
		"a symbol without its end":      {Type: bson.TypeSymbol, Data: []byte("\x01\x00\x00\x00x")},
		"code alone without its end":    {Type: bson.TypeJavaScript, Data: []byte("\x01\x00\x00\x00x")},
		"a pointer whose name does not": {Type: bson.TypeDBPointer, Data: []byte("\x01\x00\x00\x00x123456789012")},
		"a boolean of seven":            {Type: bson.TypeBoolean, Data: []byte{7}},
	} {
		doc := wire.EndDocument(wire.AppendValue(make([]byte, 4), "a", v.Type, v.Data), 0)
		if it := wire.Elements(doc); !it.Next() {
			t.Errorf("%s: the framing refuses it: %v", rule, it.Err)
			continue
		}
		_ = v.String()
		_ = query.Document(doc).String()
		_ = query.Compare(v, v)
		_ = query.AppendKey(nil, v)
		if f := new(query.Filter); f.Parse(doc) == nil {
			_, _ = f.MatchWith(doc, &query.Matching{})
		}
	}
}
