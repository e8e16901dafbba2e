package fields

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// WrongType refuses a value of another type than a field may have.
func WrongType(command, field string, is bson.Type, want string) error {
	return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'", command, field,
		query.TypeName(is), want)
}

// Unknown refuses a field that the command does not have.
func Unknown(command, field string) error {
	return mongoerr.Errorf(mongoerr.UnknownField, "BSON field '%s.%s' is an unknown field.", command, field)
}

// Missing refuses a command without a field that it must have.
func Missing(command, field string) error {
	return mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.%s' is missing but a required field", command, field)
}

// Unsupported refuses a field that the real server knows and this one does not.
func Unsupported(command, field string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the field '%s' of %s is not supported", field, command)
}

// NotEnumerated refuses a text that is not among those that a field may have.
func NotEnumerated(field, text string) error {
	return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field '%s' is not a valid value.", text, field)
}

// ErrNoHint refuses a hint that is neither the name nor the keys of an index.
var ErrNoHint = mongoerr.Errorf(mongoerr.FailedToParse, "Hint must be a string or an object")

// CheckUpdate refuses an update that is neither a document nor an array of them.
func CheckUpdate(v query.Value) error {
	switch {
	case v.IsDocument():
		return nil
	case !v.IsArray():
		return mongoerr.Errorf(mongoerr.FailedToParse, "Update argument must be either an object or an array")
	}
	for _, stage := range query.Elements(v.Data) {
		if !stage.IsDocument() {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
	}
	return nil
}
