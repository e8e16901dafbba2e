package operation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/retry"
)

// errorType returns the code of a server's error as text or, without one, the type of the error in Go: OpenTelemetry's error.type. It does not
// depend on the number of attempts.
func errorType(err error) string {
	if code := codeOf(err); code != 0 {
		return strconv.Itoa(code)
	}
	if with, ok := err.(*WithHistory); ok { //nolint:errorlint // it is not wrapped here
		err = with.Err
	}
	return fmt.Sprintf("%T", err)
}

// codeOf returns the code of the first server's error, 0 if there is none. It does not go on into a history: the error beside it was chosen among
// those of its attempts.
func codeOf(err error) int {
	switch e := err.(type) { //nolint:errorlint // it walks along the chain itself
	case nil, *retry.Error:
	case interface{ ErrorCodes() []int }:
		return firstCode(err, e.ErrorCodes())
	case interface{ Unwrap() error }:
		return codeOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, branch := range e.Unwrap() {
			if code := codeOf(branch); code != 0 {
				return code
			}
		}
	}
	return 0
}

// firstCode returns the first of the codes of an error: that of the command or of the first write. Those of a client's bulk write have no order.
func firstCode(err error, codes []int) int {
	var bulk official.ClientBulkWriteException
	if errors.As(err, &bulk) && bulk.WriteError == nil && len(bulk.WriteErrors) > 0 {
		return bulk.WriteErrors[slices.Min(slices.Collect(maps.Keys(bulk.WriteErrors)))].Code
	}
	if len(codes) == 0 {
		return 0
	}
	return codes[0]
}
