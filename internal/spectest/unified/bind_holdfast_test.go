//go:build spec_holdfast

package unified

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestAMissingMethodReturnsItsOwnName(t *testing.T) {
	for receiver, missing := range map[string]any{
		"Client": missingFromClient{}, "Database": missingFromDatabase{}, "Collection": missingFromCollection{},
		"IndexView": missingIndexes{}, "SearchIndexView": missingSearchIndexes{}, "GridFSBucket": new(mongoBucket),
		"ChangeStream": new(mongoChangeStream),
	} {
		v := reflect.ValueOf(missing)
		for i := range v.NumMethod() {
			name := receiver + "." + v.Type().Method(i).Name
			for _, err := range errorsOf(v.Method(i)) {
				if got := mongoMissing(err); got != name {
					t.Errorf("%s returns the error %v, which names %q", name, err, got)
				}
			}
		}
	}
}

// errorsOf calls a method with nothing, and returns its error, or those that are in its result.
func errorsOf(method reflect.Value) []error {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		if !method.Type().IsVariadic() || i < method.Type().NumIn()-1 {
			in = append(in, reflect.Zero(method.Type().In(i)))
		}
	}
	var errs []error
	for _, out := range method.Call(in) {
		switch result := out.Interface().(type) {
		case error:
			errs = append(errs, result)
		case missingResult:
			_, err := result.Raw()
			errs = append(errs, err, result.Err())
		}
	}
	return errs
}

func TestOnlyTheClientsOwnRefusalIsMissing(t *testing.T) {
	refused := func(opts *options.ClientOptions) error {
		_, err := mongoConnect(opts)
		return err
	}
	for _, c := range []struct {
		name    string
		err     error
		missing string
	}{
		{"a client's option", refused(options.Client().SetZlibLevel(1)), "ClientOptions.ZlibLevel"},
		{"an option of the connection string", refused(options.Client().ApplyURI("mongodb://a/?zlibCompressionLevel=1")), "zlibCompressionLevel"},
		{"a value of one", refused(options.Client().ApplyURI("mongodb://a/?socketTimeoutMS=1")), "socketTimeoutMS"},
		{"a scheme", errors.New("mongo: the scheme mongodb+srv is not supported by Holdfast yet: list the hosts in a mongodb:// URI"), "mongodb+srv"},
		{"streamed checks", refused(options.Client().SetServerMonitoringMode("stream")), `serverMonitoringMode "stream"`},
		{"a method", notThereYet("Client.Watch"), "Client.Watch"},
		{"a method, around which others have put their text", fmt.Errorf("so: %w", notThereYet("Client.Watch")), "Client.Watch"},
		{"no error", nil, ""},
		{"another error", errors.New("mongo: no"), ""},
		{"a text that goes on", errors.New("mongo: option A.B is not supported by Holdfast here"), ""},
		{"a text that contains the refusal", errors.New("the server: mongo: option A.B is not supported by Holdfast"), ""},
		{"a value that is wrong", refused(options.Client().SetAppName(strings.Repeat("a", 129))), ""},
	} {
		if got := mongoMissing(c.err); got != c.missing {
			t.Errorf("%s: %v: got %q", c.name, c.err, got)
		}
	}
}
