package pipeline

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// The codes with a name; the rest are the real server's location codes, written where they are used.
const (
	badValue         int32 = 2
	failedToParse    int32 = 9
	typeMismatch     int32 = 14
	illegalOperation int32 = 20
	invalidOptions   int32 = 72
	invalidNamespace int32 = 73
	notImplemented         = query.NotImplemented
	missingField     int32 = 40414
	unknownField     int32 = 40415
)

func fail(code int32, format string, args ...any) *query.Error {
	return &query.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// because puts what failed before the text of an error.
func because(what string, err error) error {
	var refused *query.Error
	if errors.As(err, &refused) {
		return fail(refused.Code, "%s :: caused by :: %s", what, refused.Message)
	}
	return err
}

func unsupported(what string) error {
	return fail(notImplemented, "mongotest: %s is not supported", what)
}
