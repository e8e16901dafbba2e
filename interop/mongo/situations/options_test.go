package situations

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// optionValues are the values of an option by its type.
var optionValues = map[reflect.Type][]any{
	reflect.TypeFor[bool]():          {true, false},
	reflect.TypeFor[int32]():         {int32(0), int32(2), int32(-2)},
	reflect.TypeFor[int64]():         {int64(0), int64(2), int64(-2)},
	reflect.TypeFor[float64]():       {0.0, 1.5, -1.0},
	reflect.TypeFor[string]():        {"", "text", "a\x00b"},
	reflect.TypeFor[time.Duration](): {time.Duration(0), 1500 * time.Microsecond, 2 * time.Second, -time.Second},
	reflect.TypeFor[any](): {
		nil,
		bson.D{},
		bson.D{{Key: "n", Value: int32(1)}},
		bson.M{"n": int32(1)},
		bson.M(nil), (*bson.D)(nil), "_id_", "", 5,
		failing{},
		bson.Raw{5, 0, 0, 0, 0},
		bson.A{x},
		[]any{},
	},
	reflect.TypeFor[[]any]():                      {[]any(nil), []any{}, []any{x}, []any{nil}},
	reflect.TypeFor[[]string]():                   {[]string(nil), []string{}, []string{"a"}},
	reflect.TypeFor[bson.M]():                     {bson.M(nil), bson.M{}, bson.M{"x": int32(1)}},
	reflect.TypeFor[map[string]any]():             {map[string]any(nil), map[string]any{"x": int32(1)}},
	reflect.TypeFor[*options.Collation]():         {(*options.Collation)(nil), &options.Collation{}, &options.Collation{Locale: "en", Strength: 2}},
	reflect.TypeFor[options.Collation]():          {options.Collation{}, options.Collation{Locale: "en"}},
	reflect.TypeFor[options.CursorType]():         {options.NonTailable, options.Tailable, options.TailableAwait, options.CursorType(99)},
	reflect.TypeFor[options.ReturnDocument]():     {options.Before, options.After, options.ReturnDocument(99)},
	reflect.TypeFor[options.FullDocument]():       {options.Default, options.UpdateLookup, options.FullDocument("nonsense"), options.FullDocument("")},
	reflect.TypeFor[*bson.Timestamp]():            {(*bson.Timestamp)(nil), &bson.Timestamp{T: 1}},
	reflect.TypeFor[*bson.Registry]():             {(*bson.Registry)(nil), bson.NewRegistry()},
	reflect.TypeFor[*readpref.ReadPref]():         {(*readpref.ReadPref)(nil), readpref.Nearest(), readpref.SecondaryPreferred()},
	reflect.TypeFor[*readconcern.ReadConcern]():   {(*readconcern.ReadConcern)(nil), readconcern.Majority(), &readconcern.ReadConcern{Level: "nonsense"}},
	reflect.TypeFor[*writeconcern.WriteConcern](): {(*writeconcern.WriteConcern)(nil), writeconcern.Majority(), writeconcern.Unacknowledged()},
	reflect.TypeFor[*options.DefaultIndexOptionsBuilder](): {
		(*options.DefaultIndexOptionsBuilder)(nil), options.DefaultIndex(), options.DefaultIndex().SetStorageEngine(x),
	},
	reflect.TypeFor[*options.TimeSeriesOptionsBuilder](): {
		(*options.TimeSeriesOptionsBuilder)(nil), options.TimeSeries(), options.TimeSeries().SetTimeField("t").SetGranularity("hours"),
	},
}

// optionSituations set each option of each method to several values, and two values of it one after the other.
func optionSituations() []situation {
	var all []situation
	for _, o := range operations {
		if o.builder == nil {
			continue
		}
		builder := reflect.TypeOf(o.builder())
		for i := range builder.NumMethod() {
			setter := builder.Method(i)
			if !strings.HasPrefix(setter.Name, "Set") {
				continue
			}
			if setter.Type.NumIn() == 1 {
				all = append(all, o.with(setter.Name, setting{name: setter.Name}))
				continue
			}
			values := optionValues[setter.Type.In(1)]
			for _, value := range values {
				all = append(all, o.with(fmt.Sprintf("%s %s", setter.Name, valueName(value)), setting{setter.Name, value}))
			}
			if n := len(values); n > 1 {
				all = append(all, o.with(setter.Name+" twice", setting{setter.Name, values[n-1]}, setting{setter.Name, values[1]}))
			}
		}
		all = append(all, o.oddBuilders()...)
	}
	return all
}

// setting is a call of a setter.
type setting struct {
	name  string
	value any
}

func (o *operation) with(name string, settings ...setting) situation {
	return situation{name: o.name + ", " + name, do: func(ctx context.Context, w *world) (any, error) {
		builder := o.builder()
		for _, s := range settings {
			set(builder, s)
		}
		return o.call(ctx, w, builder)
	}}
}

func set(builder any, s setting) {
	method := reflect.ValueOf(builder).MethodByName(s.name)
	if method.Type().NumIn() == 0 {
		method.Call(nil)
		return
	}
	value := reflect.ValueOf(s.value)
	if s.value == nil {
		value = reflect.Zero(method.Type().In(0))
	}
	method.Call([]reflect.Value{value})
}

func valueName(v any) string {
	switch r := reflect.ValueOf(v); {
	case v == nil:
		return "nil"
	case r.Kind() == reflect.Pointer && r.IsNil(), r.Kind() == reflect.Slice && r.IsNil(), r.Kind() == reflect.Map && r.IsNil():
		return fmt.Sprintf("a nil %T", v)
	case r.Kind() == reflect.Pointer && reflect.TypeOf(v).Implements(reflect.TypeFor[fmt.Stringer]()):
		return fmt.Sprintf("%T %v", v, v)
	case r.Type() == reflect.TypeFor[*bson.Registry]():
		return "a registry"
	case r.Kind() == reflect.Pointer && r.Elem().NumField() == 1: // a builder of options
		return fmt.Sprintf("%T with %d options", v, r.Elem().Field(0).Len())
	case r.Kind() == reflect.Pointer:
		return oneLine(fmt.Sprintf("%T %+v", v, r.Elem()))
	}
	return oneLine(fmt.Sprintf("%T %+v", v, v))
}

// oddBuilders are nil, several and empty builders.
func (o *operation) oddBuilders() []situation {
	missing := reflect.Zero(reflect.TypeOf(o.builder())).Interface()
	var all []situation
	for _, c := range []struct {
		name string
		opts func() []any
	}{
		{"a nil builder", func() []any { return []any{missing} }},
		{"nil as options", func() []any { return []any{nil} }},
		{"a nil builder between two", func() []any { return []any{o.builder(), missing, o.builder()} }},
		{"an empty builder", func() []any { return []any{o.builder()} }},
		{"a builder with an error", func() []any { return []any{withError(o.builder())} }},
		{"a builder with a nil function", func() []any { return []any{withNilFunction(o.builder())} }},
	} {
		all = append(all, situation{
			name: o.name + ", " + c.name,
			do:   func(ctx context.Context, w *world) (any, error) { return o.call(ctx, w, c.opts()...) },
		})
	}
	return all
}

// withError adds a function that fails to a builder.
func withError(builder any) any {
	opts := reflect.ValueOf(builder).Elem().FieldByName("Opts")
	failing := reflect.MakeFunc(opts.Type().Elem(), func([]reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(&errMarshaler).Elem()}
	})
	opts.Set(reflect.Append(opts, failing))
	return builder
}

func withNilFunction(builder any) any {
	opts := reflect.ValueOf(builder).Elem().FieldByName("Opts")
	opts.Set(reflect.Append(opts, reflect.Zero(opts.Type().Elem())))
	return builder
}

// uncovered returns the setters whose type has no values.
func uncovered() []string {
	var missing []string
	for _, o := range operations {
		if o.builder == nil {
			continue
		}
		builder := reflect.TypeOf(o.builder())
		for i := range builder.NumMethod() {
			setter := builder.Method(i)
			if strings.HasPrefix(setter.Name, "Set") && setter.Type.NumIn() == 2 && optionValues[setter.Type.In(1)] == nil {
				missing = append(missing, builder.String()+"."+setter.Name)
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}
