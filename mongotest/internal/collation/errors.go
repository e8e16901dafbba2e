package collation

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// unsupported refuses what the real server can and this one cannot.
func unsupported(what string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a collation with %s is not supported", what)
}

func (s *specification) wrongType(field string, v query.Value, want string) error {
	return mongoerr.Errorf(mongoerr.TypeMismatch,
		"BSON field '%s' is the wrong type '%s', expected type '%s'", s.path(field), query.TypeName(v.Type), want)
}

// path is the name of a field as errors have it.
func (s *specification) path(field string) string {
	if s.command == "" {
		return "collation." + field
	}
	return s.command + ".collation." + field
}

func (s *specification) invalidLocale(how string, doc []byte) error {
	return mongoerr.Errorf(mongoerr.BadValue, "Field 'locale' %s in: %s", how, s.written(doc))
}

// written returns the specification as errors have it: as it was given, or that of a command's option.
func (s *specification) written(doc []byte) query.Value {
	if s.command != "" {
		doc = s.requested()
	}
	return query.Document(doc)
}
