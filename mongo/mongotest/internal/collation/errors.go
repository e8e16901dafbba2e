package collation

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// The real server's codes.
const (
	typeMismatch   = 14
	incompatible   = 161
	notImplemented = 238
	missingField   = 40414
	unknownField   = 40415
)

func refuse(code int32, format string, args ...any) error {
	return &query.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// unsupported refuses what the real server can and this one cannot.
func unsupported(what string) error {
	return refuse(notImplemented, "mongotest: a collation with %s is not supported", what)
}

func wrongType(field string, v query.Value, want string) error {
	return refuse(typeMismatch, "BSON field 'collation.%s' is the wrong type '%s', expected type '%s'", field, query.TypeName(v.Type), want)
}
