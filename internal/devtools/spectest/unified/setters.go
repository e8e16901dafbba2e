package unified

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

var errNoSuchOption = errors.New("the client has no such option")

// setterNames are the options that the client calls differently.
var setterNames = map[string]string{
	"max":          "SetMaxDocuments",
	"showRecordId": "SetShowRecordID",
	"size":         "SetSizeInBytes",
	"timeseries":   "SetTimeSeriesOptions",
}

// set calls the builder's setter of that name. Finding it by reflection makes every option of every builder known.
func (r *Runner) set(builder any, name string, v bson.RawValue) error {
	if r.SetInternal != nil {
		if known, err := r.SetInternal(builder, name, v); known {
			return err
		}
	}
	setter, v := setterOf(builder, name, v)
	if !setter.IsValid() || setter.Type().NumIn() != 1 {
		return errNoSuchOption
	}
	to := setter.Type().In(0)
	converted, err := convert(v, to)
	if err != nil {
		return err
	}
	arg := reflect.New(to).Elem()
	if converted != nil {
		arg.Set(reflect.ValueOf(converted).Convert(to))
	}
	setter.Call([]reflect.Value{arg})
	return nil
}

// units are the suffixes by which files say what a duration is counted in.
var units = map[string]time.Duration{"MS": time.Millisecond, "Seconds": time.Second}

// setterOf finds the setter of x; for xMS and xSeconds also that of the duration x, with the value in milliseconds.
func setterOf(builder any, name string, v bson.RawValue) (reflect.Value, bson.RawValue) {
	b := reflect.ValueOf(builder)
	method := "Set" + strings.ToUpper(name[:1]) + name[1:]
	for _, m := range []string{method, setterNames[name]} {
		if setter := b.MethodByName(m); setter.IsValid() {
			return setter, v
		}
	}
	for suffix, unit := range units {
		short, has := strings.CutSuffix(method, suffix)
		setter := b.MethodByName(short)
		n, isNumber := wholeNumber(v)
		if !has || !isNumber || !setter.IsValid() || setter.Type().In(0) != reflect.TypeFor[time.Duration]() {
			continue
		}
		t, data, err := bson.MarshalValue(n * int64(unit/time.Millisecond))
		if err == nil {
			return setter, bson.RawValue{Type: t, Value: data}
		}
	}
	return reflect.Value{}, v
}

// converters make the values of those types that are not BSON's own.
var converters map[reflect.Type]func(bson.RawValue) (any, error)

func init() { // the options of transactions lead back to this table
	converters = map[reflect.Type]func(bson.RawValue) (any, error){
		reflect.TypeFor[time.Duration]():                      duration,
		reflect.TypeFor[*options.Collation]():                 collation,
		reflect.TypeFor[options.ReturnDocument]():             returnDocument,
		reflect.TypeFor[options.CursorType]():                 cursorType,
		reflect.TypeFor[*readconcern.ReadConcern]():           readConcern,
		reflect.TypeFor[*writeconcern.WriteConcern]():         writeConcern,
		reflect.TypeFor[*readpref.ReadPref]():                 readPreference,
		reflect.TypeFor[*options.TransactionOptionsBuilder](): transactionOptions,
		reflect.TypeFor[*options.TimeSeriesOptionsBuilder]():  timeSeriesOptions,
		reflect.TypeFor[[]any](): func(v bson.RawValue) (any, error) {
			a, err := native(v)
			values, ok := a.(bson.A)
			if err == nil && !ok {
				err = fmt.Errorf("%v is not an array", v)
			}
			return []any(values), err
		},
		reflect.TypeFor[any](): native,
	}
}

func convert(v bson.RawValue, to reflect.Type) (any, error) {
	if c, ok := converters[to]; ok {
		return c(v)
	}
	switch to.Kind() {
	case reflect.Int32, reflect.Int64, reflect.Int:
		if n, ok := wholeNumber(v); ok {
			return n, nil
		}
		return nil, fmt.Errorf("%v is not a whole number", v)
	}
	made := reflect.New(to)
	if err := v.Unmarshal(made.Interface()); err != nil {
		return nil, err
	}
	return made.Elem().Interface(), nil
}

// native is a value as an application would give it: documents as BSON, arrays as slices.
func native(v bson.RawValue) (any, error) {
	if doc, ok := v.DocumentOK(); ok {
		return doc, nil
	}
	if array, ok := v.ArrayOK(); ok {
		values, err := array.Values()
		if err != nil {
			return nil, err
		}
		a := make(bson.A, len(values))
		for i := range values {
			if a[i], err = native(values[i]); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	var n any
	err := v.Unmarshal(&n)
	return n, err
}
