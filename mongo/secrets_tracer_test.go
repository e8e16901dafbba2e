package mongo_test

import (
	"context"
	"reflect"

	"github.com/holdfast-db/holdfast/telemetry"
)

// tracer returns a tracer whose functions hear all that they are told.
func (l *listener) tracer() *telemetry.Tracer {
	t := reflect.ValueOf(new(telemetry.Tracer)).Elem()
	for i := range t.NumField() {
		function := t.Field(i)
		function.Set(reflect.MakeFunc(function.Type(), func(args []reflect.Value) []reflect.Value {
			for _, arg := range args {
				l.hearValue(arg)
			}
			if function.Type().NumOut() == 0 {
				return nil
			}
			return args[:1] // the context
		}))
	}
	return t.Addr().Interface().(*telemetry.Tracer)
}

// hearValue hears an argument: of a struct all fields, and what its functions return.
func (l *listener) hearValue(v reflect.Value) {
	switch given := v.Interface().(type) {
	case nil, context.Context:
		return
	case error:
		l.hearError(given)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			l.hearValue(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanInterface() {
				l.hearValue(v.Field(i))
			}
		}
	case reflect.Func:
		if !v.IsNil() && v.Type().NumIn() == 0 {
			l.hear(v.Call(nil)[0].Interface())
		}
	default:
		l.hear(v.Interface())
	}
}
