package once

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// update is a checked update.
type update struct {
	value    bson.RawValue // as it was given: a document of operators, or a pipeline
	onInsert bson.Raw      // the argument of $setOnInsert; nil if there is none
	paths    []string      // the fields that operators change
	natural  bool          // it does no harm the second time
}

// idempotent are the operators that do no harm the second time.
var idempotent = []string{"$set", "$unset", "$addToSet", "$pull", "$pullAll", "$min", "$max", "$rename", "$setOnInsert", "$currentDate"}

// replayable are the stages that can change a document without its tokens.
var replayable = []string{"$set", "$addFields", "$unset"}

func (c *Collection) parseUpdate(v any) (*update, error) {
	encoded, err := c.encode("update", v, true)
	if err != nil {
		return nil, err
	}
	u := &update{value: encoded}
	if encoded.Type == bson.TypeArray {
		return u, c.checkPipeline(encoded.Array())
	}
	elements := elementsOf(encoded.Document())
	if len(elements) == 0 {
		return nil, fmt.Errorf("once: the update is empty; it must have an operator")
	}
	u.natural = true
	given := make(map[string]bool)
	for _, e := range elements {
		arguments, ok := e.Value().DocumentOK()
		switch {
		case given[e.Key()]:
			return nil, fmt.Errorf("once: the update has the operator %s twice", e.Key())
		case !strings.HasPrefix(e.Key(), "$"):
			return nil, fmt.Errorf("%w: the update has the field %q; a replacement would remove the tokens, so the update must consist of operators", ErrNotExactlyOnce, e.Key())
		case !ok:
			return nil, fmt.Errorf("once: the argument of %s is of the BSON type %v; it must be a document", e.Key(), e.Value().Type)
		}
		given[e.Key()] = true
		paths, err := c.checkArguments(e.Key(), arguments)
		if err != nil {
			return nil, err
		}
		u.paths = append(u.paths, paths...)
		u.natural = u.natural && (slices.Contains(idempotent, e.Key()) || e.Key() == "$bit" && !hasXor(arguments))
		if e.Key() == "$setOnInsert" {
			u.onInsert = arguments
		}
	}
	return u, nil
}

// checkArguments returns the paths that an operator changes. It refuses those that it may not change.
func (c *Collection) checkArguments(operator string, arguments bson.Raw) (paths []string, err error) {
	for _, e := range elementsOf(arguments) {
		paths = append(paths, e.Key())
		if to, ok := e.Value().StringValueOK(); ok && operator == "$rename" {
			paths = append(paths, to)
		}
	}
	for _, path := range paths {
		if err := c.checkPath(path); err != nil {
			return nil, fmt.Errorf("%w: %s of %q: %w", ErrNotExactlyOnce, operator, path, err)
		}
	}
	return paths, nil
}

// changes reports whether the update changes a field, or another one below the same top-level field.
func (u *update) changes(field string) bool {
	top, _, _ := strings.Cut(field, ".")
	return slices.ContainsFunc(u.paths, func(path string) bool { return isBelow(path, top) })
}

func (c *Collection) checkPath(path string) error {
	switch {
	case isBelow(path, c.field):
		return fmt.Errorf("the field %q holds the tokens", c.field)
	case slices.Contains(strings.Split(path, "."), "$"):
		return errPositional
	}
	return nil
}

// hasXor reports whether $bit has an xor, which the second time undoes the first.
func hasXor(arguments bson.Raw) bool {
	for _, e := range elementsOf(arguments) {
		if of, ok := e.Value().DocumentOK(); !ok || !of.Lookup("xor").IsZero() {
			return true
		}
	}
	return false
}

func (c *Collection) checkPipeline(pipeline bson.RawArray) error {
	stages, _ := pipeline.Values()
	if len(stages) == 0 {
		return fmt.Errorf("once: the update is an empty pipeline; it must have a stage")
	}
	for i, s := range stages {
		stage, ok := s.DocumentOK()
		var elements []bson.RawElement
		if ok {
			elements = elementsOf(stage)
		}
		if len(elements) != 1 || !slices.Contains(replayable, elements[0].Key()) {
			return fmt.Errorf("%w: stage %d of the pipeline is not one of %s; others could remove the tokens", ErrNotExactlyOnce, i, strings.Join(replayable, ", "))
		}
		for _, path := range stagePaths(elements[0].Value()) {
			if isBelow(path, c.field) {
				return fmt.Errorf("%w: stage %d of the pipeline changes %q; the field %q holds the tokens", ErrNotExactlyOnce, i, path, c.field)
			}
		}
	}
	return nil
}

// stagePaths returns the paths that a stage changes: the keys of a document, a string, or the strings of an array.
func stagePaths(v bson.RawValue) []string {
	var paths []string
	if document, ok := v.DocumentOK(); ok {
		for _, e := range elementsOf(document) {
			paths = append(paths, e.Key())
		}
	}
	if array, ok := v.ArrayOK(); ok {
		values, _ := array.Values()
		for _, v := range values {
			paths = append(paths, stagePaths(v)...)
		}
	}
	if path, ok := v.StringValueOK(); ok {
		paths = append(paths, path)
	}
	return paths
}

// second returns the update of the second step: the change itself, which also moves the token to the finished ones.
func (c *Collection) second(change bson.RawValue, id bson.ObjectID) any {
	if change.Type == bson.TypeArray {
		return c.secondPipeline(change.Array(), id)
	}
	d := withArgument(fieldsOf(change.Document()), "$pull", c.pending(), bson.D{{Key: "id", Value: id}})
	return marshal(withArgument(d, "$push", c.done(), c.newest(id)))
}

// withArgument adds an argument to an operator of an update.
func withArgument(update bson.D, operator, path string, argument any) bson.D {
	for i, e := range update {
		if e.Key != operator {
			continue
		}
		arguments := fieldsOf(e.Value.(bson.RawValue).Document())
		arguments = append(arguments, bson.E{Key: path, Value: argument})
		update[i].Value = arguments
		return update
	}
	return append(update, bson.E{Key: operator, Value: bson.D{{Key: path, Value: argument}}})
}

func (c *Collection) secondPipeline(change bson.RawArray, id bson.ObjectID) bson.A {
	stages, _ := change.Values()
	pipeline := documents(stages)
	others := bson.D{{Key: "$filter", Value: bson.D{
		{Key: "input", Value: "$" + c.pending()},
		{Key: "as", Value: "token"},
		{Key: "cond", Value: bson.D{{Key: "$ne", Value: bson.A{"$$token.id", id}}}},
	}}}
	finished := bson.D{{Key: "$slice", Value: bson.A{
		bson.D{{Key: "$concatArrays", Value: bson.A{bson.D{{Key: "$ifNull", Value: bson.A{"$" + c.done(), bson.A{}}}}, bson.A{id}}}}, -c.finished,
	}}}
	return append(pipeline, marshal(bson.D{{Key: "$set", Value: bson.D{{Key: c.pending(), Value: others}, {Key: c.done(), Value: finished}}}}))
}
