package pipeline

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/unwind/

type unwind struct {
	path, index fieldPath
	preserve    bool
}

func parseUnwind(_ *parser, _ string, spec Value) (stage, error) {
	u := &unwind{}
	var path string
	switch {
	case spec.IsString():
		path = string(spec.Text())
	case spec.IsDocument():
		var err error
		if path, err = u.options(spec.Data); err != nil {
			return nil, err
		}
	default:
		return nil, mongoerr.Errorf(15981, "expected either a string or an object as specification for $unwind stage, got %s", typeName(spec))
	}
	if path == "" {
		return nil, mongoerr.Errorf(28812, "no path specified to $unwind stage")
	}
	if path[0] != '$' {
		return nil, mongoerr.Errorf(28818, "path option to $unwind stage should be prefixed with a '$': %s", path)
	}
	if strings.Contains(path, "\x00") {
		return nil, mongoerr.Errorf(16419, "field path must not contain embedded null characters")
	}
	var err error
	u.path, err = query.FieldPath(path[1:])
	return u, err
}

func (u *unwind) options(spec []byte) (path string, err error) {
	for _, f := range query.ObjectOf(spec) {
		switch f.Name {
		case "path":
			if !f.Value.IsString() {
				return "", mongoerr.Errorf(28808, "expected a string as the path for $unwind stage, got %s", typeName(f.Value))
			}
			path = string(f.Value.Text())
		case "preserveNullAndEmptyArrays":
			if !isBool(f.Value) {
				return "", mongoerr.Errorf(28809, "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got %s", typeName(f.Value))
			}
			u.preserve = f.Value.True()
		case "includeArrayIndex":
			if err := u.parseIndex(f.Value); err != nil {
				return "", err
			}
		default:
			return "", mongoerr.Errorf(28811, "unrecognized option to $unwind stage: %s", f.Name)
		}
	}
	return path, nil
}

func (u *unwind) parseIndex(v Value) (err error) {
	name := string(v.Text())
	if name == "" {
		return mongoerr.Errorf(28810, "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got %s", typeName(v))
	}
	if strings.HasPrefix(name, "$") {
		return mongoerr.Errorf(28822, "includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", name)
	}
	u.index, err = query.FieldPath(name)
	return err
}

func (u *unwind) run(_ *runner, in stream) stream {
	return flat(in, func(doc []byte, emit func([]byte) bool) error {
		v := u.path.get(doc)
		if !v.IsArray() {
			if u.preserve || !v.IsNullish() {
				emit(u.numbered(doc, null))
			}
			return nil
		}
		elements := query.Elements(v.Data)
		if len(elements) == 0 && u.preserve {
			emit(u.numbered(u.path.set(doc, missing), null))
		}
		for i, e := range elements {
			if !emit(u.numbered(u.path.set(doc, e), int64Value(int64(i)))) {
				return nil
			}
		}
		return nil
	})
}

// numbered adds the index in the array, if it is asked for.
func (u *unwind) numbered(doc []byte, n Value) []byte {
	if u.index == nil {
		return doc
	}
	return u.index.set(doc, n)
}
