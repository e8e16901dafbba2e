package once

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// filter is a filter that names one document.
type filter struct {
	document bson.Raw
	only     bool // it has no other condition
}

// parseFilter checks that a filter fixes one of the given keys by equality.
func (c *Collection) parseFilter(v any, keys ...string) (*filter, error) {
	encoded, err := encode("filter", v, false)
	if err != nil {
		return nil, err
	}
	f := &filter{document: encoded.Document()}
	elements := elementsOf(f.document)
	fixed := false
	for _, e := range elements {
		if err := c.checkCondition(e); err != nil {
			return nil, err
		}
		fixed = fixed || slices.Contains(keys, e.Key()) && isEquality(e)
	}
	if !fixed {
		return nil, fmt.Errorf("%w: the filter must fix %s by equality: a repeated command could change a second document", ErrNotExactlyOnce, oneOf(keys))
	}
	f.only = len(elements) == 1
	return f, nil
}

// checkCondition refuses conditions on the tokens.
func (c *Collection) checkCondition(e bson.RawElement) error {
	if isBelow(e.Key(), c.field) {
		return fmt.Errorf("once: the filter has a condition on %q, which holds the tokens", e.Key())
	}
	if branches, ok := e.Value().ArrayOK(); ok && strings.HasPrefix(e.Key(), "$") {
		values, _ := branches.Values()
		for _, branch := range values {
			inner, ok := branch.DocumentOK()
			if !ok {
				continue
			}
			for _, e := range elementsOf(inner) {
				if err := c.checkCondition(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isEquality reports whether a condition holds for one value only. Null is not one: other documents may lack the field.
func isEquality(e bson.RawElement) bool {
	v := e.Value()
	switch v.Type {
	case bson.TypeRegex, bson.TypeArray, bson.TypeUndefined:
		return false
	case bson.TypeNull:
		return e.Key() == "_id"
	case bson.TypeEmbeddedDocument:
		elements := elementsOf(v.Document())
		if len(elements) == 0 || !strings.HasPrefix(elements[0].Key(), "$") {
			return true
		}
		return len(elements) == 1 && elements[0].Key() == "$eq" && (elements[0].Value().Type != bson.TypeNull || e.Key() == "_id")
	}
	return true
}

func oneOf(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return strings.Join(keys[:len(keys)-1], ", ") + " or " + keys[len(keys)-1]
}

// and returns the filter with one more condition.
func (f *filter) and(key string, condition any) bson.D {
	return append(fieldsOf(f.document), bson.E{Key: key, Value: condition})
}
