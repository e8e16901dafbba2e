package query

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// FieldPath splits a path of a projection, a sort, an expression or a stage, and refuses a text that is no path.
func FieldPath(name string) ([]string, error) {
	switch {
	case name == "":
		return nil, mongoerr.Errorf(40352, "FieldPath cannot be constructed with empty string")
	case strings.HasSuffix(name, "."):
		return nil, mongoerr.Errorf(40353, "FieldPath must not end with a '.'.")
	}
	names := strings.Split(name, ".")
	for _, part := range names {
		if err := CheckExpressionName(part); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// CheckExpressionName is CheckPathName with the advice that expressions give.
func CheckExpressionName(name string) error {
	if err := CheckPathName(name); err != nil {
		return mongoerr.Because("Consider using $getField or $setField for a field path with '.' or '$'.", err)
	}
	return nil
}

// CheckPathName refuses a name that cannot be a part of a path.
func CheckPathName(name string) *mongoerr.Error {
	switch {
	case name == "":
		return mongoerr.Errorf(15998, "FieldPath field names may not be empty strings.")
	case name[0] == '$' && !IsPathNameWithDollar(name):
		return mongoerr.Errorf(16410, "FieldPath field names may not start with '$', given '%s'.", name)
	case strings.Contains(name, "\x00"):
		return mongoerr.Errorf(16411, "FieldPath field names may not contain '%s'.", name)
	case strings.Contains(name, "."):
		return mongoerr.Errorf(16412, "FieldPath field names may not contain '.', given '%s'.", name)
	}
	return nil
}

// IsReferenceField reports whether a name is one of a DBRef's.
func IsReferenceField(name string) bool { return name == "$ref" || name == "$id" || name == "$db" }

// IsPathNameWithDollar reports whether a name that begins with "$" may be a part of a path: those of a DBRef, and a few that a server gives to
// what it knows of a document.
func IsPathNameWithDollar(name string) bool {
	return IsReferenceField(name) || slices.Contains([]string{"$sortKey", "$recordId", "$searchScore"}, name)
}
