package operation

import (
	"context"
	"errors"
	"fmt"
	"testing"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/retry"
)

// The error type is that of the error which the application gets, and not of an earlier attempt.
func TestErrorType(t *testing.T) {
	refused := official.CommandError{Code: 10107}
	duplicate := official.WriteError{Code: 11000}
	concern := &official.WriteConcernError{Code: 64}
	history := &retry.Error{Attempts: []retry.Record{{Failure: retry.Failure{Err: refused}}}, Total: 1}
	if !errors.As(error(history), new(official.CommandError)) {
		t.Fatal("the history does not have the error of its attempt")
	}
	writes := map[int]official.WriteError{7: {Code: 7}, 3: duplicate, 5: {Code: 5}, 9: {Code: 9}}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a command":                        {refused, "10107"},
		"a command, wrapped":               {fmt.Errorf("x: %w", refused), "10107"},
		"a command without a code":         {official.CommandError{Wrapped: history}, "mongo.CommandError"},
		"a write":                          {official.WriteException{WriteErrors: official.WriteErrors{duplicate}, WriteConcernError: concern}, "11000"},
		"a write, its concern":             {official.WriteException{WriteConcernError: concern}, "64"},
		"a bulk write":                     {official.BulkWriteException{WriteErrors: []official.BulkWriteError{{WriteError: duplicate}}, WriteConcernError: concern}, "11000"},
		"a bulk write, its concern":        {official.BulkWriteException{WriteConcernError: concern}, "64"},
		"a bulk write, no error":           {official.BulkWriteException{}, "mongo.BulkWriteException"},
		"a client's bulk write":            {official.ClientBulkWriteException{WriteErrors: writes, WriteConcernErrors: []official.WriteConcernError{*concern}}, "11000"},
		"a client's bulk write, as whole":  {official.ClientBulkWriteException{WriteErrors: writes, WriteError: &official.WriteError{Code: 8}}, "8"},
		"a client's bulk write, a concern": {official.ClientBulkWriteException{WriteConcernErrors: []official.WriteConcernError{*concern}}, "64"},
		"a history":                        {&WithHistory{Err: context.Canceled, History: history}, "*errors.errorString"},
		"a history of a write":             {&WithHistory{Err: official.WriteException{WriteConcernError: concern}, History: history}, "64"},
		"no server":                        {NoServer{WithHistory: WithHistory{Err: context.Canceled, History: history}}, "operation.NoServer"},
		"several":                          {errors.Join(context.Canceled, refused), "10107"},
	} {
		if got := errorType(c.err); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
