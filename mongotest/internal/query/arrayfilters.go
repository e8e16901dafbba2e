package query

import (
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// arrayFilters are the array filters of an update by their identifiers.
type arrayFilters map[string]*arrayFilter

// arrayFilter selects elements of an array; a nil one all.
type arrayFilter struct {
	identifier string
	nodes      []node
	used       bool // while the update is parsed
}

func (f *arrayFilter) selected(v Value) bool {
	if f == nil {
		return true
	}
	return matchAll(f.nodes, wrapped(f.identifier, v), nil)
}

func parseArrayFilters(list Value, c Collation) (arrayFilters, error) {
	filters := make(arrayFilters)
	if list.Missing() {
		return filters, nil
	}
	if !list.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "arrayFilters must be an array")
	}
	for _, v := range list.elements() {
		if !v.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "an array filter must be an object")
		}
		f, err := parseArrayFilter(v.Data, c)
		if err != nil {
			return nil, err
		}
		if filters[f.identifier] != nil {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Found multiple array filters with the same top-level field name %s", f.identifier)
		}
		filters[f.identifier] = f
	}
	return filters, nil
}

// named returns the filter of an identifier in a path, nil for "$[]".
func (f arrayFilters) named(identifier string, p path) (*arrayFilter, error) {
	if identifier == "" {
		return nil, nil
	}
	filter := f[identifier]
	if filter == nil {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "No array filter found for identifier '%s' in path '%s'", identifier, dotted(p))
	}
	filter.used = true
	return filter, nil
}

// unused refuses filters that no path of the update names, the first of the list first.
func (f arrayFilters) unused(list, update Value) error {
	if list.Missing() {
		return nil
	}
	for _, v := range list.elements() {
		name := topNames(v.Data, nil)[0]
		if !f[name].used {
			return mongoerr.Errorf(mongoerr.FailedToParse, "The array filter for identifier '%s' was not used in the update %s", name, update)
		}
	}
	return nil
}

func parseArrayFilter(doc []byte, c Collation) (*arrayFilter, error) {
	p := filterParser{inner: true, array: true, collation: c}
	nodes, err := p.filter(doc, nil)
	if err != nil {
		return nil, inArrayFilter(err)
	}
	names := topNames(doc, nil)
	switch {
	case len(names) == 0:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot use an expression without a top-level field name in arrayFilters")
	case len(names) > 1:
		return nil, inArrayFilter(mongoerr.Errorf(mongoerr.FailedToParse, "Expected a single top-level field name, found '%s' and '%s'", names[0],
			names[1]))
	case !isIdentifier(names[0]):
		return nil, inArrayFilter(mongoerr.Errorf(mongoerr.BadValue, "The top-level field name must be an alphanumeric string beginning with a "+
			"lowercase letter, found '%s'", names[0]))
	}
	return &arrayFilter{identifier: names[0], nodes: nodes}, nil
}

func inArrayFilter(err error) error {
	var refused *mongoerr.Error
	if !errors.As(err, &refused) {
		return err
	}
	return mongoerr.Errorf(refused.Code, "Error parsing array filter :: caused by :: %s", refused.Message)
}

// topNames appends the different first components of the paths in a filter to names.
func topNames(doc []byte, names []string) []string {
	it := wire.Elements(doc)
	for it.Next() {
		name := splitPath(string(it.Key))[0]
		switch {
		case name == "" || name[0] != '$' || IsReferenceField(name):
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		case it.Type == bson.TypeArray:
			for _, e := range Elements(it.Value) {
				if e.IsDocument() {
					names = topNames(e.Data, names)
				}
			}
		}
	}
	return names
}

// isIdentifier reports whether a name is one that a path may have in $[identifier].
func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		lower, other := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !lower && (i == 0 || !other) {
			return false
		}
	}
	return name != ""
}
