package query

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// fieldPath splits a path of a projection or sort, and refuses a text that is no path.
func fieldPath(name string) (path, error) {
	const advice = "Consider using $getField or $setField for a field path with '.' or '$'. :: caused by :: "
	switch {
	case name == "":
		return nil, mongoerr.Errorf(40352, "FieldPath cannot be constructed with empty string")
	case strings.HasSuffix(name, "."):
		return nil, mongoerr.Errorf(40353, "FieldPath must not end with a '.'.")
	}
	p := splitPath(name)
	for _, part := range p {
		switch {
		case part == "":
			return nil, mongoerr.Errorf(15998, advice+"FieldPath field names may not be empty strings.")
		case part[0] == '$' && !isReferenceField(part):
			return nil, mongoerr.Errorf(16410, advice+"FieldPath field names may not start with '$', given '%s'.", part)
		}
	}
	return p, nil
}

// isReferenceField reports whether a name is one of a DBRef's.
func isReferenceField(name string) bool { return name == "$ref" || name == "$id" || name == "$db" }
