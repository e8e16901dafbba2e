package mongo_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/telemetry"
)

// tracer returns a tracer whose functions hear all that they are told.
func (l *listener) tracer() *telemetry.Tracer {
	t := reflect.ValueOf(new(telemetry.Tracer)).Elem()
	for i := range t.NumField() {
		function := t.Field(i)
		if function.Kind() != reflect.Func { // Passive
			continue
		}
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
	case []byte:
		l.hear(string(given)) // BSON: as numbers it would show nothing
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
			l.hearValue(v.Call(nil)[0])
		}
	default:
		l.hear(v.Interface())
	}
}

// A server may repeat what it refuses. Nothing that a tracer is told of a command with credentials has it, at the end of the operation either.
func TestATracerIsToldNoSecretOfACommand(t *testing.T) {
	l := &listener{}
	opened(t, mongo.Config{Tracer: l.tracer()}, nil, func(w *world) {
		create := doc("createUser", "u", "pwd", hidden, "roles", []string{})
		w.set.Use("createUser", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 2, Message: "no " + hidden}}))
		if err := w.client.Database("test").RunCommand(w.ctx, create).Err(); err == nil || !strings.Contains(err.Error(), hidden) {
			t.Errorf("the error of the application is %v", err)
		}
		w.must(w.client.Database("test").RunCommand(w.ctx, create).Err())
		heard := strings.Join(l.heard, "\n")
		if strings.Contains(heard, hidden) || !strings.Contains(heard, "the server's message is not shown") {
			t.Errorf("the tracer was told %q", heard)
		}
	})
}
