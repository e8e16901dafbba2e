package pipeline

import (
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/project/

func parseProject(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(15969, "%s specification must be an object", name)
	}
	return parseProjection(p, name, query.ObjectOf(spec.Data))
}

func parseProjection(p *parser, name string, fields object) (stage, error) {
	s, err := p.projection(fields)
	if err != nil {
		return nil, because("Invalid "+name, err)
	}
	return perDocument(s.apply), nil
}

// projection is a projection while it is parsed.
type projection struct {
	*parser
	shape   *shape
	decided bool // whether it keeps or leaves out what it does not name
	keepID  Value
}

func (p *parser) projection(fields object) (*shape, error) {
	if len(fields) == 0 {
		return nil, mongoerr.Errorf(51272, "projection specification must have at least one field")
	}
	j := &projection{parser: p, shape: newShape(dropOthers)}
	for _, f := range fields {
		if err := j.field(nil, f); err != nil {
			return nil, err
		}
	}
	return j.finish(), nil
}

// finish adds the _id, which is kept unless it is named.
func (j *projection) finish() *shape {
	if !j.decided && !j.keepID.Missing() && !query.Truth(j.keepID) {
		j.shape.mode = keepOthers
	}
	kept := j.keepID.Missing() || query.Truth(j.keepID)
	if _, named := j.shape.children["_id"]; !named && kept == (j.shape.mode == dropOthers) {
		j.shape.add(fieldPath{"_id"}, nil)
	}
	return j.shape
}

func (j *projection) field(prefix fieldPath, f field) error {
	if strings.HasSuffix(f.Name, ".$") || f.Name == "$" {
		return mongoerr.Errorf(31324, "Cannot use positional projection in aggregation projection")
	}
	path, err := query.FieldPath(f.Name)
	if err != nil {
		return err
	}
	path = append(prefix[:len(prefix):len(prefix)], path...)
	switch {
	case f.Value.IsNumber() || isBool(f.Value):
		return j.flag(path, f)
	case f.Value.IsDocument() && !j.isExpression(f.Value):
		return j.fields(path, f)
	}
	return j.computed(path, f)
}

func (j *projection) isExpression(v Value) bool {
	fields := query.ObjectOf(v.Data)
	return isCall(v) && len(fields) == 1 && !query.IsPathNameWithDollar(fields[0].Name)
}

func (j *projection) fields(path fieldPath, f field) error {
	fields := query.ObjectOf(f.Value.Data)
	if len(fields) == 0 {
		return mongoerr.Errorf(51270, "Invalid empty sub-projection: %s", f.Name)
	}
	for _, inner := range fields {
		if err := j.field(path, inner); err != nil {
			return err
		}
	}
	return nil
}

// flag takes a field to keep or to leave out.
func (j *projection) flag(path fieldPath, f field) error {
	if len(path) == 1 && path[0] == "_id" {
		j.keepID = f.Value
		return nil
	}
	if err := j.checkCollision(path); err != nil {
		return err
	}
	m := keepOthers
	if query.Truth(f.Value) {
		m = dropOthers
	}
	if j.decided && m != j.shape.mode {
		if m == keepOthers {
			return mongoerr.Errorf(31254, "Cannot do exclusion on field %s in inclusion projection", f.Name)
		}
		return mongoerr.Errorf(31253, "Cannot do inclusion on field %s in exclusion projection", f.Name)
	}
	j.decide(m)
	j.shape.add(path, nil)
	return nil
}

func (j *projection) decide(m mode) { j.decided, j.shape.mode = true, m }

func (j *projection) computed(path fieldPath, f field) error {
	if j.decided && j.shape.mode == keepOthers {
		if f.Value.IsDocument() {
			return mongoerr.Errorf(31252, "Cannot use expression other than $meta in exclusion projection")
		}
		if _, err := j.expressionOf(f.Value); err != nil {
			return err
		}
		return mongoerr.Errorf(31310, "Cannot use an expression %s in an exclusion projection", written(f.Name, f.Value))
	}
	e, err := j.expressionOf(f.Value)
	if err != nil {
		return err
	}
	j.decide(dropOthers)
	if err := j.checkCollision(path); err != nil {
		return err
	}
	j.shape.add(path, e)
	return nil
}

func (j *projection) expressionOf(v Value) (expr.Expression, error) {
	e, err := j.expression(v)
	var refused *mongoerr.Error
	if v.Type != bson.TypeEmbeddedDocument || !errors.As(err, &refused) {
		return e, err
	}
	name := query.ObjectOf(v.Data)[0].Name
	switch {
	case name == "$elemMatch":
		return nil, mongoerr.Errorf(168, "Cannot use $elemMatch in this context")
	case refused.Message == "Unrecognized expression '"+name+"'":
		return nil, mongoerr.Errorf(31325, "Unknown expression %s", name)
	}
	return nil, err
}

func (j *projection) checkCollision(path fieldPath) error {
	if at, rest, found := j.shape.collision(path); found {
		if len(rest) > 0 {
			return mongoerr.Errorf(31249, "Path collision at %s remaining portion %s", path, rest)
		}
		return mongoerr.Errorf(31250, "Path collision at %s", at)
	}
	return nil
}
