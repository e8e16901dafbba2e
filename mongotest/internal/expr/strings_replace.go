package expr

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

func replacer(name string, n int) operator {
	required := func(code int32) refusal { return refusal{code, "%[1]s requires '%[2]s' to be specified"} }
	s := signature{
		notObject: refusal{51751, "%[1]s requires an object as an argument, found: %[2]s"},
		unknown:   refusal{51750, "%[1]s found an unknown argument: %[2]s"},
		params:    []parameter{{name: "input", absent: required(51749)}, {name: "find", absent: required(51748)}, {name: "replacement", absent: required(51747)}},
	}
	return operator{name: name, optimize: late, parse: s.parse, long: func(env *Env, args []Value) (Value, error) {
		input, find, by := args[0], args[1], args[2]
		switch {
		case !input.IsString() && !input.IsNullish():
			return missing, mongoerr.Errorf(10503904, "%s requires that 'input' be a string, found: %s", name, spelled(input))
		case !find.IsString() && find.Type != bson.TypeRegex && !find.IsNullish():
			return missing, mongoerr.Errorf(10503903, "%s requires that 'find' be a string or regular expression, found: %s", name, spelled(find))
		case !by.IsString() && !by.IsNullish():
			return missing, mongoerr.Errorf(10503902, "%s requires that 'replacement' be a string, found: %s", name, spelled(by))
		case input.IsNullish() || find.IsNullish() || by.IsNullish():
			return null, nil
		case find.Type == bson.TypeRegex:
			return replaceRegex(env, name, string(input.Text()), find, string(by.Text()), n)
		}
		s, old := input.Text(), find.Text()
		if n < 0 && (bytes.Count(s, old)+1)*len(by.Text()) > maxValue {
			return missing, mongoerr.Errorf(mongoerr.BSONObjectTooLarge, "%s result exceeds %d bytes", name, maxValue)
		}
		return query.Text(replace(s, old, by.Text(), n)), nil
	}}
}

// replace replaces bytes: an empty string is found before every byte and at the end.
func replace(s, old, by []byte, n int) []byte {
	if len(old) > 0 || n >= 0 {
		return bytes.Replace(s, old, by, n)
	}
	all := make([]byte, 0, len(s)+len(by)*(len(s)+1))
	for _, c := range s {
		all = append(append(all, by...), c)
	}
	return append(all, by...)
}
