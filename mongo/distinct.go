package mongo

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var distinctFields = supported("Collation", "Comment", "Hint", "Internal")

// DistinctResult is the result of Distinct: an array of values or an error. It is not safe for concurrent use.
type DistinctResult struct {
	values bson.RawArray
	codec  codec
	err    error
}

// Distinct returns the different values of a field in the documents that match the filter. It is a retryable read.
func (coll *Collection) Distinct(
	ctx context.Context, fieldName string, filter any, opts ...options.Lister[options.DistinctOptions],
) *DistinctResult {
	r := &DistinctResult{codec: coll.scope.codec}
	r.values, r.err = coll.distinct(ctx, fieldName, filter, opts)
	return r
}

func (coll *Collection) distinct(
	ctx context.Context, fieldName string, filter any, opts []options.Lister[options.DistinctOptions],
) (bson.RawArray, error) {
	o, err := arguments(coll, distinctFields, opts)
	if err != nil {
		return nil, err
	}
	x := extras{b: wire.AppendString(nil, "distinct", coll.name), codec: coll.scope.codec}
	x.b = wire.AppendString(x.b, "key", fieldName)
	x.required("query", filter)
	x.collation(o.Collation)
	x.value("comment", o.Comment)
	x.hint(o.Hint)
	end := x.ending(internalsOf(opts, o))
	if x.err != nil {
		return nil, x.err
	}
	var values bson.RawArray
	var op operation.Operation
	coll.scope.read(&op, coll.db.name, coll.name, "distinct", &plainCommand{elements: x.b, ending: end, accept: func(reply *operation.Reply) error {
		values, err = distinctIn(reply)
		return err
	}})
	if err := coll.db.client.run(ctx, &op); err != nil {
		return nil, err
	}
	return values, nil
}

func distinctIn(reply *operation.Reply) (bson.RawArray, error) {
	values, _ := element(reply.Body, "values")
	if values.Array() == nil {
		return nil, errors.New("mongo: the server's reply to distinct has no array of values")
	}
	return slices.Clone(bson.RawArray(values.Array())), nil
}

// Decode decodes the values into v, which must be a non-nil pointer, usually to a slice. It returns the operation's error
// if there is one, and ErrNoDocuments if there is no array.
func (r *DistinctResult) Decode(v any) error {
	if r.err != nil {
		return r.err
	}
	if r.values == nil {
		return ErrNoDocuments
	}
	to := reflect.ValueOf(v)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("mongo: DistinctResult.Decode: the argument must be a non-nil pointer; it is a %T", v)
	}
	at, doc := wire.BeginDocument(nil)
	doc = wire.EndDocument(wire.AppendValue(doc, "values", bson.TypeArray, r.values), at)
	holder := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "Values", Type: to.Type().Elem(), Tag: `bson:"values" json:"values"`,
	}}))
	field := holder.Elem().Field(0)
	field.Set(to.Elem())
	if err := r.codec.unmarshal(doc, holder.Interface()); err != nil {
		return err
	}
	to.Elem().Set(field)
	return nil
}

// Err returns the operation's error, nil if there was none.
func (r *DistinctResult) Err() error { return r.err }

// Raw returns the array of values, or the operation's error.
func (r *DistinctResult) Raw() (bson.RawArray, error) { return r.values, r.err }
