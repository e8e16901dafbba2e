package dropin

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	ours "github.com/holdfast-db/holdfast/mongo"
)

// zeros are the zero value of each type with methods, and nil, by the official driver and by ours. Applications have them in their mocks.
var zeros = [][2]any{
	{&official.Client{}, &ours.Client{}},
	{&official.Database{}, &ours.Database{}},
	{&official.Collection{}, &ours.Collection{}},
	{&official.Cursor{}, &ours.Cursor{}},
	{&official.ChangeStream{}, &ours.ChangeStream{}},
	{&official.Session{}, &ours.Session{}},
	{&official.SingleResult{}, &ours.SingleResult{}},
	{&official.DistinctResult{}, &ours.DistinctResult{}},
	{&official.IndexView{}, &ours.IndexView{}},
	{&official.SearchIndexView{}, &ours.SearchIndexView{}},
	{(*official.Client)(nil), (*ours.Client)(nil)},
	{(*official.Database)(nil), (*ours.Database)(nil)},
	{(*official.Collection)(nil), (*ours.Collection)(nil)},
	{(*official.Cursor)(nil), (*ours.Cursor)(nil)},
	{(*official.ChangeStream)(nil), (*ours.ChangeStream)(nil)},
	{(*official.Session)(nil), (*ours.Session)(nil)},
	{(*official.SingleResult)(nil), (*ours.SingleResult)(nil)},
	{(*official.DistinctResult)(nil), (*ours.DistinctResult)(nil)},
}

// A method panics only if the official one does, on a zero value and on nil, with zero arguments and with a context.
func TestZeroValuesPanicNoMoreThanTheOfficialOnes(t *testing.T) {
	calls := 0
	for _, pair := range zeros {
		official, ours := reflect.ValueOf(pair[0]), reflect.ValueOf(pair[1])
		for i := range official.NumMethod() {
			name := official.Type().Method(i).Name
			for _, ctx := range []context.Context{nil, t.Context()} {
				calls++
				ours, panics := panicOf(ctx, ours.MethodByName(name)), panicOf(ctx, official.Method(i))
				if ours != nil && panics == nil {
					t.Errorf("%T.%s, nil %v, context %v: %v", pair[1], name, official.IsNil(), ctx != nil, ours)
				}
			}
		}
	}
	if calls < 300 {
		t.Errorf("only %d calls", calls)
	}
}

// panicOf calls a method with zero arguments, except for the context, and returns what it panics with, nil if it does not.
func panicOf(ctx context.Context, method reflect.Value) (panicked any) {
	defer func() { panicked = recover() }()
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		switch given := method.Type().In(i); {
		case method.Type().IsVariadic() && i == method.Type().NumIn()-1:
		case ctx != nil && strings.HasSuffix(fmt.Sprint(given), "context.Context"):
			in = append(in, reflect.ValueOf(ctx))
		default:
			in = append(in, reflect.Zero(given))
		}
	}
	method.Call(in)
	return nil
}
