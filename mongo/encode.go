package mongo

import (
	"math"
	"reflect"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// encodeByPlan appends v as a document to dst. It returns false if v is not a struct with a plan or a pointer to one.
func encodeByPlan(dst []byte, v any) ([]byte, bool) {
	source := reflect.ValueOf(v)
	if source.Kind() == reflect.Pointer {
		source = source.Elem()
	}
	if source.Kind() != reflect.Struct {
		return dst, false
	}
	p := planFor(source.Type())
	if p == nil {
		return dst, false
	}
	at, dst := wire.BeginDocument(dst)
	for i := range p.fields {
		f := &p.fields[i]
		if field := source.Field(f.index); !f.omitEmpty || !empty(field) {
			dst = f.put(dst, f, field)
		}
	}
	return wire.EndDocument(dst, at), true
}

var timeType = reflect.TypeFor[time.Time]()

// empty reports whether omitempty omits a field. -0.0 and a zero time with a location are empty too, although
// reflect's IsZero is false for them.
func empty(field reflect.Value) bool {
	if field.Kind() == reflect.Float64 {
		return field.Float() == 0
	}
	if field.Type() == timeType {
		return field.Interface().(time.Time).IsZero()
	}
	return field.IsZero()
}

func putString(dst []byte, f *planField, field reflect.Value) []byte {
	return wire.AppendString(dst, f.name, field.String())
}

func putBool(dst []byte, f *planField, field reflect.Value) []byte {
	return wire.AppendBool(dst, f.name, field.Bool())
}

// putInt writes an int as the general encoder does: as a 32-bit integer if it fits.
func putInt(dst []byte, f *planField, field reflect.Value) []byte {
	n := field.Int()
	if n >= math.MinInt32 && n <= math.MaxInt32 {
		return wire.AppendInt32(dst, f.name, int32(n))
	}
	return wire.AppendInt64(dst, f.name, n)
}

func putInt32(dst []byte, f *planField, field reflect.Value) []byte {
	return wire.AppendInt32(dst, f.name, int32(field.Int()))
}

func putInt64(dst []byte, f *planField, field reflect.Value) []byte {
	if f.minSize {
		return putInt(dst, f, field)
	}
	return wire.AppendInt64(dst, f.name, field.Int())
}

func putFloat(dst []byte, f *planField, field reflect.Value) []byte {
	return wire.AppendDouble(dst, f.name, field.Float())
}

func putObjectID(dst []byte, f *planField, field reflect.Value) []byte {
	var id bson.ObjectID
	reflect.Copy(reflect.ValueOf(&id).Elem(), field)
	return wire.AppendObjectID(dst, f.name, id)
}

func putTime(dst []byte, f *planField, field reflect.Value) []byte {
	return wire.AppendDateTime(dst, f.name, int64(bson.NewDateTimeFromTime(field.Interface().(time.Time))))
}
