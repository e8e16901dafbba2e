package mongo_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo"
)

// The names of client-side encryption exist, so that programs compile. Each method says that it is not supported.
func TestUnsupportedMethodsReturnAClearError(t *testing.T) {
	for _, receiver := range []any{new(mongo.ClientEncryption)} {
		v := reflect.ValueOf(receiver)
		for i := range v.NumMethod() {
			name := v.Type().Elem().Name() + "." + v.Type().Method(i).Name
			want := "mongo: " + name + " is not supported by Holdfast"
			if err := errorOf(v.Method(i)); err == nil || err.Error() != want {
				t.Errorf("%s returns the error %v", name, err)
			}
		}
	}
	if _, err := mongo.NewClientEncryption(nil); err == nil || !strings.Contains(err.Error(), "NewClientEncryption is not supported by Holdfast") {
		t.Errorf("NewClientEncryption: %v", err)
	}
}

// errorOf calls a method with zero arguments and returns its error.
func errorOf(method reflect.Value) error {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		if !method.Type().IsVariadic() || i < method.Type().NumIn()-1 {
			in = append(in, reflect.Zero(method.Type().In(i)))
		}
	}
	for _, out := range method.Call(in) {
		switch result := out.Interface().(type) {
		case error:
			return result
		case *mongo.SingleResult:
			if result != nil {
				return result.Err()
			}
		}
	}
	return nil
}
