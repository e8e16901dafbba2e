package collation

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// unsupported refuses what the real server can and this one cannot.
func unsupported(what string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a collation with %s is not supported", what)
}

func wrongType(field string, v query.Value, want string) error {
	return mongoerr.Errorf(mongoerr.TypeMismatch,
		"BSON field 'collation.%s' is the wrong type '%s', expected type '%s'", field, query.TypeName(v.Type), want)
}
