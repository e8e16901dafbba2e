package query

import "strings"

// fieldPath splits a path of a projection or sort, refusing what is none.
func fieldPath(name string) (path, error) {
	const advice = "Consider using $getField or $setField for a field path with '.' or '$'. :: caused by :: "
	switch {
	case name == "":
		return nil, fail(40352, "FieldPath cannot be constructed with empty string")
	case strings.HasSuffix(name, "."):
		return nil, fail(40353, "FieldPath must not end with a '.'.")
	}
	p := splitPath(name)
	for _, part := range p {
		switch {
		case part == "":
			return nil, fail(15998, advice+"FieldPath field names may not be empty strings.")
		case part[0] == '$' && !isReferenceField(part):
			return nil, fail(16410, advice+"FieldPath field names may not start with '$', given '%s'.", part)
		}
	}
	return p, nil
}

// isReferenceField tells whether a name is one of a DBRef's.
func isReferenceField(name string) bool { return name == "$ref" || name == "$id" || name == "$db" }
