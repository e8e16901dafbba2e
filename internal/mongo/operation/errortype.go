package operation

import (
	"errors"
	"fmt"
	"strconv"

	official "go.mongodb.org/mongo-driver/v2/mongo"
)

// errorType returns the code of a server's error as text or, without one, the type of the error in Go: OpenTelemetry's error.type.
func errorType(err error) string {
	if code := codeOf(err); code != 0 {
		return strconv.Itoa(code)
	}
	return fmt.Sprintf("%T", err)
}

// codeOf returns the code of the server's error, 0 if there is none: of several errors that of the first write.
func codeOf(err error) int {
	var (
		refused official.CommandError
		write   official.WriteException
		bulk    official.BulkWriteException
	)
	switch {
	case errors.As(err, &refused):
		return int(refused.Code)
	case errors.As(err, &write):
		if len(write.WriteErrors) > 0 {
			return write.WriteErrors[0].Code
		}
		return concernCode(write.WriteConcernError)
	case errors.As(err, &bulk):
		if len(bulk.WriteErrors) > 0 {
			return bulk.WriteErrors[0].Code
		}
		return concernCode(bulk.WriteConcernError)
	}
	return 0
}

func concernCode(e *official.WriteConcernError) int {
	if e == nil {
		return 0
	}
	return e.Code
}
