package mongo

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// lastBatch returns a cursor whose only batch has these documents. token is the batch's postBatchResumeToken, or nil. The bytes of
// the reply are overwritten afterwards, as those of a connection's buffer are by its next reply.
func lastBatch(token []byte, documents ...[]byte) (*Cursor, error) {
	at, body := wire.BeginDocument(nil)
	inside, body := wire.BeginEmbedded(wire.AppendInt32(body, "ok", 1), "cursor")
	body = wire.AppendString(wire.AppendInt64(body, "id", 0), "ns", "db.c")
	batch, body := wire.BeginArray(body, "firstBatch")
	for i, document := range documents {
		body = wire.AppendDocument(body, wire.ArrayKey(i), document)
	}
	body = wire.EndDocument(body, batch)
	if token != nil {
		body = wire.AppendDocument(body, "postBatchResumeToken", token)
	}
	body = wire.EndDocument(wire.EndDocument(body, inside), at)
	defer func() {
		for i := range body {
			body[i] = 0xff
		}
	}()
	var reply operation.Reply
	if err := reply.Parse(body); err != nil {
		return nil, err
	}
	c := new(Cursor)
	return c, c.accept(&reply)
}

// decoded decodes documents of a list command as the client does.
func decoded[T any](t *testing.T, documents ...[]byte) ([]T, error) {
	t.Helper()
	c, err := lastBatch(nil, documents...)
	if err != nil {
		return nil, err
	}
	var all []T
	err = each(t.Context(), c, func(v T) { all = append(all, v) })
	return all, err
}

// framed reports whether b is as long as the document in it says.
func framed(b []byte) bool {
	n, err := wire.DocumentLength(b)
	return err == nil && n == len(b)
}

// valuesOf returns the values of a valid document with that key. As for package bson, a key in upper case is that in lower case.
func valuesOf(document bson.Raw, key string) []bson.RawValue {
	var values []bson.RawValue
	elements, _ := document.Elements()
	for _, e := range elements {
		if e.Key() == key || strings.ToLower(e.Key()) == key {
			values = append(values, e.Value())
		}
	}
	return values
}

// lastOf returns the last of valuesOf. Its type is 0 if there is none.
func lastOf(document bson.Raw, key string) bson.RawValue {
	values := valuesOf(document, key)
	if len(values) == 0 {
		return bson.RawValue{}
	}
	return values[len(values)-1]
}

// agreement compares the fields of a decoded value with those that package bson finds in its document.
type agreement struct {
	*testing.T
	document bson.Raw
}

func (a agreement) text(key, got string) {
	a.Helper()
	switch v := lastOf(a.document, key); v.Type {
	case 0:
		a.same(key, got, "")
	case bson.TypeString:
		a.same(key, got, v.StringValue())
	}
}

func (a agreement) flag(key string, got *bool) {
	a.Helper()
	switch v := lastOf(a.document, key); v.Type {
	case 0:
		a.same(key, got, (*bool)(nil))
	case bson.TypeBoolean:
		want := v.Boolean()
		a.same(key, got, &want)
	}
}

func (a agreement) number(key string, got *int32) {
	a.Helper()
	switch v := lastOf(a.document, key); v.Type {
	case 0:
		a.same(key, got, (*int32)(nil))
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		if got == nil || int64(*got) != v.AsInt64() {
			a.Errorf("%s is %v, want %v", key, got, v)
		}
	}
}

func (a agreement) embedded(key string, got bson.Raw) {
	a.Helper()
	switch v := lastOf(a.document, key); v.Type {
	case 0:
		a.same(key, got, bson.Raw(nil))
	case bson.TypeEmbeddedDocument:
		a.same(key, got, v.Document())
	}
}

func (a agreement) same(key string, got, want any) {
	a.Helper()
	if !reflect.DeepEqual(got, want) {
		a.Errorf("%s is %v, want %v", key, got, want)
	}
}

// checkList checks what holds for the documents of every list command: a document is decoded by its own bytes only, and the
// result does not use the memory of the reply. It returns the result for one document.
func checkList[T any](t *testing.T, document []byte) (T, bool) {
	t.Helper()
	var none T
	one, err := decoded[T](t, document)
	if !framed(document) {
		return none, false // then it is not one document of the batch
	}
	if (len(one) == 1) != (err == nil) {
		t.Fatalf("%d results and the error %v", len(one), err)
	}
	two, errOfTwo := decoded[T](t, document, document)
	if (err == nil) != (errOfTwo == nil) || err == nil && !reflect.DeepEqual(two, []T{one[0], one[0]}) {
		t.Fatalf("one document is %+v (%v), two are %+v (%v)", one, err, two, errOfTwo)
	}
	if err != nil || bson.Raw(document).Validate() != nil {
		return none, false
	}
	return one[0], true
}

func addDocuments(f *testing.F, documents ...bson.D) {
	f.Helper()
	for _, document := range documents {
		b, err := bson.Marshal(document)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// FuzzCollectionSpecification gives arbitrary documents to the decoder of listCollections, and compares it with package bson.
func FuzzCollectionSpecification(f *testing.F) {
	id := bson.D{{Key: "v", Value: int32(2)}, {Key: "key", Value: bson.D{{Key: "_id", Value: int32(1)}}}, {Key: "name", Value: "_id_"}}
	addDocuments(
		f,
		bson.D{
			{Key: "name", Value: "c"},
			{Key: "type", Value: "collection"},
			{Key: "options", Value: bson.D{{Key: "capped", Value: true}, {Key: "size", Value: int64(4096)}}},
			{Key: "info", Value: bson.D{{Key: "readOnly", Value: false}, {Key: "uuid", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}}},
			{Key: "idIndex", Value: id},
		},
		bson.D{{Key: "name", Value: "v"}, {Key: "type", Value: "view"}, {Key: "options", Value: bson.D{{Key: "viewOn", Value: "c"}}}, {Key: "info", Value: bson.D{{Key: "readOnly", Value: true}}}},
		bson.D{{Key: "name", Value: "c"}, {Key: "type", Value: "collection"}}, // nameOnly
		bson.D{{Key: "name", Value: "c"}, {Key: "idIndex", Value: append(id, bson.E{Key: "ns", Value: "db.c"})}},
		bson.D{{Key: "name", Value: "a"}, {Key: "name", Value: "b"}, {Key: "info", Value: nil}},
		bson.D{{Key: "name", Value: int32(1)}},
		bson.D{{Key: "Name", Value: "a"}, {Key: "TYPE", Value: "view"}},
		bson.D{{Key: "info", Value: "text"}, {Key: "options", Value: bson.A{}}},
		bson.D{},
	)
	f.Add([]byte{5, 0, 0, 0})
	f.Add([]byte{12, 0, 0, 0, 2, 'a', 0, 255, 255, 255, 255, 0})
	f.Fuzz(func(t *testing.T, document []byte) {
		listed, ok := checkList[listedCollection](t, document)
		if !ok {
			return
		}
		got, a := listed.specification("db"), agreement{t, document}
		a.text("name", got.Name)
		a.text("type", got.Type)
		a.embedded("options", got.Options)
		if got.IDIndex.Namespace != "db."+got.Name {
			t.Errorf("the namespace of the index is %q", got.IDIndex.Namespace)
		}
		if len(valuesOf(document, "info")) > 1 || len(valuesOf(document, "idIndex")) > 1 {
			return // the decoder merges the fields of both
		}
		if info, ok := lastOf(document, "info").DocumentOK(); ok {
			agreement{t, info}.readOnly(got.ReadOnly)
			if subtype, data, ok := lastOf(info, "uuid").BinaryOK(); ok && (got.UUID == nil || got.UUID.Subtype != subtype || !bytes.Equal(got.UUID.Data, data)) {
				t.Errorf("the UUID is %v", got.UUID)
			}
		}
		if index, ok := lastOf(document, "idIndex").DocumentOK(); ok {
			a = agreement{t, index}
			a.text("name", got.IDIndex.Name)
			a.embedded("key", got.IDIndex.KeysDocument)
		}
	})
}

func (a agreement) readOnly(got bool) {
	a.Helper()
	if v := lastOf(a.document, "readOnly"); v.Type == bson.TypeBoolean && v.Boolean() != got || v.Type == 0 && got {
		a.Errorf("readOnly is %t", got)
	}
}

// FuzzIndexSpecification gives arbitrary documents to the decoder of listIndexes, and compares it with package bson.
func FuzzIndexSpecification(f *testing.F) {
	key := bson.E{Key: "key", Value: bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: "text"}}}
	addDocuments(
		f,
		bson.D{
			{Key: "v", Value: int32(2)},
			key,
			{Key: "name", Value: "a_1_b_text"},
			{Key: "expireAfterSeconds", Value: int32(60)},
			{Key: "sparse", Value: true},
			{Key: "unique", Value: false},
			{Key: "clustered", Value: true},
		},
		bson.D{key, {Key: "expireAfterSeconds", Value: 3600.0}, {Key: "v", Value: int64(1)}},
		bson.D{key, {Key: "expireAfterSeconds", Value: 1.5}},
		bson.D{key, {Key: "expireAfterSeconds", Value: int64(1) << 40}},
		bson.D{key, {Key: "unique", Value: int32(1)}, {Key: "sparse", Value: nil}},
		bson.D{{Key: "key", Value: "text"}, {Key: "name", Value: "x"}},
		bson.D{{Key: "v", Value: int32(1)}, {Key: "v", Value: int32(2)}},
		bson.D{},
	)
	f.Add([]byte{12, 0, 0, 0, 16, 'v', 0, 1, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, document []byte) {
		listed, ok := checkList[listedIndex](t, document)
		if !ok {
			return
		}
		got, a := listed.specification("db", "c"), agreement{t, document}
		a.text("name", got.Name)
		a.embedded("key", got.KeysDocument)
		a.number("expireAfterSeconds", got.ExpireAfterSeconds)
		a.flag("sparse", got.Sparse)
		a.flag("unique", got.Unique)
		a.flag("clustered", got.Clustered)
		if lastOf(document, "v").Type != 0 {
			a.number("v", &got.Version)
		} else if got.Version != 0 {
			t.Errorf("v is %d", got.Version)
		}
		if got.Namespace != "db.c" {
			t.Errorf("the namespace is %q", got.Namespace)
		}
	})
}
