package telemetry

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type key string

// functions returns the indexes of the fields of a tracer that are functions.
func functions() []int {
	var all []int
	of := reflect.TypeFor[Tracer]()
	for i := range of.NumField() {
		if of.Field(i).Type.Kind() == reflect.Func {
			all = append(all, i)
		}
	}
	return all
}

// noting returns a tracer with all functions, each of which notes its call and what the context has.
func noting(name string, calls *[]string) *Tracer {
	t := reflect.ValueOf(new(Tracer)).Elem()
	for _, i := range functions() {
		function, what := t.Field(i), t.Type().Field(i).Name
		function.Set(reflect.MakeFunc(function.Type(), func(args []reflect.Value) []reflect.Value {
			before := ""
			ctx, has := args[0].Interface().(context.Context)
			if has {
				before, _ = ctx.Value(key("seen")).(string)
			}
			*calls = append(*calls, name+" "+what+" after "+before)
			if !strings.HasSuffix(what, "Began") {
				return nil
			}
			return []reflect.Value{reflect.ValueOf(context.WithValue(ctx, key("seen"), before+name))}
		}))
	}
	return t.Addr().Interface().(*Tracer)
}

// call calls a function of a tracer with zero values, and returns its context, nil if it has none.
func call(function reflect.Value) context.Context {
	args := make([]reflect.Value, function.Type().NumIn())
	for i := range args {
		args[i] = reflect.Zero(function.Type().In(i))
	}
	if function.Type().In(0) == reflect.TypeFor[context.Context]() {
		args[0] = reflect.ValueOf(context.Background())
	}
	result := function.Call(args)
	if len(result) == 0 {
		return nil
	}
	return result[0].Interface().(context.Context)
}

func TestJoinedTracersAreAllCalledInTheirOrder(t *testing.T) {
	var calls []string
	joined := reflect.ValueOf(Join(nil, noting("a", &calls), &Tracer{}, noting("b", &calls), nil)).Elem()
	for _, i := range functions() {
		name := joined.Type().Field(i).Name
		calls = nil
		ctx := call(joined.Field(i))
		want := []string{"a " + name + " after ", "b " + name + " after "}
		if ctx != nil {
			want[1] += "a"
			if got := ctx.Value(key("seen")); got != "ab" {
				t.Errorf("%s returns a context with %v", name, got)
			}
		}
		if !slices.Equal(calls, want) {
			t.Errorf("the calls are %q, want %q", calls, want)
		}
	}
}

// One that returns no context leaves the one before.
func TestAJoinedTracerMayReturnNoContext(t *testing.T) {
	var calls []string
	silent := &Tracer{OperationBegan: func(context.Context, *Operation) context.Context { return nil }}
	joined := Join(noting("a", &calls), silent, noting("b", &calls))
	if got := joined.OperationBegan(t.Context(), nil).Value(key("seen")); got != "ab" {
		t.Errorf("the context has %v", got)
	}
}

func TestTheOtherTracersHearOfTheEndIfOnePanics(t *testing.T) {
	var calls []string
	first := reflect.ValueOf(noting("a", &calls)).Elem()
	for _, i := range functions() {
		function := first.Field(i)
		function.Set(reflect.MakeFunc(function.Type(), func([]reflect.Value) []reflect.Value { panic("first") }))
	}
	joined := reflect.ValueOf(Join(first.Addr().Interface().(*Tracer), noting("b", &calls))).Elem()
	for _, i := range functions() {
		name := joined.Type().Field(i).Name
		calls = nil
		func() {
			defer func() {
				if recover() != "first" {
					t.Errorf("%s: the panic is lost", name)
				}
			}()
			call(joined.Field(i))
		}()
		if want := !strings.HasSuffix(name, "Began"); (len(calls) == 1) != want {
			t.Errorf("%s: the calls are %q", name, calls)
		}
	}
}

func TestJoinMakesNoMoreThanItNeeds(t *testing.T) {
	one := &Tracer{}
	if Join() != nil || Join(nil, nil) != nil || Join(nil, one) != one {
		t.Error("a tracer was made")
	}
	if joined := Join(one, &Tracer{}); !reflect.ValueOf(joined).Elem().IsZero() {
		t.Error("a function was made of none")
	}
}

// A joined tracer stays as it is if its parts' list changes.
func TestJoinKeepsItsArguments(t *testing.T) {
	var calls []string
	list := []*Tracer{nil, noting("a", &calls), noting("b", &calls)}
	Join(list...)
	if list[0] != nil || list[1] == nil || list[2] == nil {
		t.Error("the list was changed")
	}
}

func TestJoinedTracersKeepSomethingIfOneDoes(t *testing.T) {
	keeps, not := &Tracer{}, &Tracer{Passive: true}
	for _, c := range []struct {
		of   []*Tracer
		want bool
	}{
		{[]*Tracer{not}, true}, {[]*Tracer{not, nil, not}, true}, {[]*Tracer{not, keeps}, false}, {[]*Tracer{keeps, not, not}, false},
	} {
		if got := Join(c.of...).Passive; got != c.want {
			t.Errorf("Passive is %v of %d tracers, want %v", got, len(c.of), c.want)
		}
	}
}
