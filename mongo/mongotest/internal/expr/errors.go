package expr

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// The codes with a name; the rest are the real server's location codes, written where they are used.
const (
	badValue          int32 = 2
	failedToParse     int32 = 9
	typeMismatch      int32 = 14
	overflow          int32 = 15
	maxTimeExpired    int32 = 50
	exceededMemory    int32 = 146
	invalidOptions    int32 = 168
	conversionFailure int32 = 241
	objectTooLarge    int32 = 10334
)

func fail(code int32, format string, args ...any) *query.Error {
	return &query.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
