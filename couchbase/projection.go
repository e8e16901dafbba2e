package couchbase

import (
	"encoding/json"
	"strconv"
	"strings"
)

// step is a part of a sub-document path: a field, or an index of an array.
type step struct {
	field   string
	index   int
	isIndex bool
}

// parsePath splits a path such as "a.b[0].`c.d`".
func parsePath(path string) ([]step, error) {
	var steps []step
	for rest := path; rest != ""; {
		switch {
		case rest[0] == '.' && len(steps) > 0 && len(rest) > 1:
			rest = rest[1:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, invalid("the path %q has no ] for its [", path)
			}
			index, err := strconv.Atoi(rest[1:end])
			if err != nil {
				return nil, invalid("the path %q has the index %q", path, rest[1:end])
			}
			steps = append(steps, step{index: index, isIndex: true})
			rest = rest[end+1:]
			continue
		case len(steps) > 0:
			return nil, invalid("the path %q cannot be read at %q", path, rest)
		}
		field, after, err := cutField(path, rest)
		if err != nil {
			return nil, err
		}
		steps, rest = append(steps, step{field: field}), after
	}
	return steps, nil
}

// cutField returns the field at the beginning of a rest of a path. A field between backquotes may have any character; two backquotes
// mean one.
func cutField(path, rest string) (field, after string, err error) {
	if rest[0] != '`' {
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return "", "", invalid("the path %q has an empty field", path)
		}
		return rest[:end], rest[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] != '`':
			b.WriteByte(rest[i])
		case i+1 < len(rest) && rest[i+1] == '`':
			b.WriteByte('`')
			i++
		default:
			return b.String(), rest[i+1:], nil
		}
	}
	return "", "", invalid("the path %q has an odd number of backquotes", path)
}

// projection is a JSON object that is being made: each value is another projection, a *[]any of an array, or JSON.
type projection map[string]any

// set puts a value at a path.
func (p projection) set(path string, value json.RawMessage) error {
	steps, err := parsePath(path)
	if err != nil {
		return err
	}
	p.put(steps, value)
	return nil
}

// put puts a value at the place that the steps name. An array has those elements that were asked for, in the order of the paths: their
// indexes in the document are not kept.
func (p projection) put(steps []step, value json.RawMessage) {
	if len(steps) == 0 || steps[0].isIndex {
		return // a document that is an array has no field to hold its parts
	}
	p[steps[0].field] = placed(p[steps[0].field], steps[1:], value)
}

// placed returns what a place has after a value was put in there.
func placed(old any, steps []step, value json.RawMessage) any {
	switch {
	case len(steps) == 0:
		return value
	case steps[0].isIndex:
		array, _ := old.([]any)
		return append(array, placed(nil, steps[1:], value))
	default:
		object, ok := old.(projection)
		if !ok {
			object = projection{}
		}
		object.put(steps, value)
		return object
	}
}

func (p projection) json() ([]byte, error) { return json.Marshal(p) }
