package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/geoNear/

// geoNear is a $geoNear. Its documents come from the Source, the nearest first.
type geoNear struct {
	db, coll   string
	inside     bool // in a pipeline of another stage
	misplaced  bool // not at the start
	near       expr.Expression
	least      expr.Expression // nil for none
	most       expr.Expression // the same
	key        string          // "" for the only one
	spherical  bool
	multiplier float64
	distance   fieldPath // nil for none
	location   fieldPath // the same
	filter     query.Filter
}

func parseGeoNear(p *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() && !spec.IsArray() {
		return nil, mongoerr.Errorf(10065, "invalid parameter: expected an object ($geoNear)")
	}
	s := &geoNear{db: p.DB, coll: p.Coll, inside: p.nested, multiplier: 1}
	if err := s.filter.Parse(query.EmptyDocument); err != nil {
		return nil, err
	}
	for _, f := range query.ObjectOf(spec.Data) {
		if err := s.option(p, f); err != nil {
			return nil, err
		}
	}
	if s.near == nil {
		return nil, mongoerr.Errorf(5860400, "$geoNear requires a 'near' argument")
	}
	return s, nil
}

func (s *geoNear) option(p *parser, f field) (err error) {
	v := f.Value
	switch f.Name {
	case "near":
		s.near, err = p.fixed(v, mongoerr.Errorf(5860402, "$geoNear requires a constant near argument"))
	case "distanceField":
		if v.Type != bson.TypeString {
			return mongoerr.Errorf(16606, "$geoNear requires that the 'distanceField' option is a String")
		}
		s.distance, err = query.FieldPath(string(v.Text()))
	case "includeLocs":
		if v.Type != bson.TypeString {
			return mongoerr.Errorf(16607, "$geoNear requires that 'includeLocs' option is a String")
		}
		s.location, err = query.FieldPath(string(v.Text()))
	case "minDistance":
		s.least, err = p.nearLimit(f.Name, v)
	case "maxDistance":
		s.most, err = p.nearLimit(f.Name, v)
	case "distanceMultiplier":
		err = s.setMultiplier(v)
	case "query":
		err = s.parseQuery(p, v)
	case "spherical":
		s.spherical = query.Truth(v)
	case "key":
		err = s.setKey(v)
	case "uniqueDocs":
	case "limit", "num":
		return mongoerr.Errorf(map[string]mongoerr.Code{"limit": 50858, "num": 50857}[f.Name],
			"$geoNear no longer supports the '%s' parameter. Use a $limit stage instead.", f.Name)
	case "start":
		return mongoerr.Errorf(50856, "$geoNear no longer supports the 'start' argument.")
	default:
		return mongoerr.Errorf(mongoerr.BadValue, "Unknown argument to $geoNear: %s", f.Name)
	}
	return err
}

// fixed compiles an expression that may look at variables, and at no document.
func (p *parser) fixed(v Value, refused error) (expr.Expression, error) {
	e, err := p.expression(v)
	if err == nil && looksAtDocument(v) {
		err = refused
	}
	return e, err
}

// looksAtDocument reports whether an expression has a field path, or a variable that is a document of the input.
func looksAtDocument(v Value) bool {
	if text := string(v.Text()); v.Type == bson.TypeString {
		path, variable := strings.CutPrefix(text, "$$")
		name, _, _ := strings.Cut(path, ".")
		return strings.HasPrefix(text, "$") && (!variable || name == "ROOT" || name == "CURRENT")
	}
	if !v.IsDocument() && !v.IsArray() {
		return false
	}
	for _, f := range query.ObjectOf(v.Data) {
		if f.Name != "$literal" && f.Name != "$const" && looksAtDocument(f.Value) {
			return true
		}
	}
	return false
}

// nearLimit compiles a least or greatest distance.
func (p *parser) nearLimit(name string, v Value) (expr.Expression, error) {
	e, err := p.fixed(v, mongoerr.Errorf(map[string]mongoerr.Code{"minDistance": 7555701, "maxDistance": 7555702}[name],
		"$geoNear requires $%s to evaluate to a constant number", name))
	if known, ok := expr.Constant(e); ok && err == nil {
		err = checkNearLimit(name, known)
	}
	return e, err
}

func checkNearLimit(name string, v Value) error {
	switch {
	case !v.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "$geoNear requires $%s to evaluate to a number", name)
	case !(v.AsFloat64() >= 0):
		return mongoerr.Errorf(mongoerr.BadValue, "%s must be nonnegative", name)
	}
	return nil
}

func checkNearPoint(v Value) error {
	if v.IsDocument() || v.IsArray() {
		return nil
	}
	return mongoerr.Errorf(5860401, "$geoNear requires near argument to be a GeoJSON object or a legacy point(array)")
}

func (s *geoNear) setMultiplier(v Value) error {
	if !v.IsNumber() {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "distanceMultiplier must be a number")
	}
	if s.multiplier = v.AsFloat64(); s.multiplier < 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "distanceMultiplier must be nonnegative")
	}
	return nil
}

func (s *geoNear) setKey(v Value) error {
	if v.Type != bson.TypeString {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "$geoNear parameter 'key' must be of type string but found type: %s", typeName(v))
	}
	if s.key = string(v.Text()); s.key == "" {
		return mongoerr.Errorf(mongoerr.BadValue, "$geoNear parameter 'key' cannot be the empty string")
	}
	_, err := query.FieldPath(s.key)
	return err
}

func (s *geoNear) parseQuery(p *parser, v Value) error {
	if !v.IsDocument() {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "query must be an object")
	}
	h := hooks(p.scope)
	h.Searches = query.Searches{}
	err := s.filter.ParseCollated(v.Data, h, p.Collation)
	if p.fails(err) {
		return nil
	}
	return err
}

// expression writes the search as a filter has it.
func (s *geoNear) expression(r *runner) ([]byte, error) {
	near, err := r.eval(s.near, query.EmptyDocument)
	if err == nil {
		err = checkNearPoint(near)
	}
	if err != nil {
		return nil, err
	}
	name := "$geoNear"
	if s.spherical {
		name = "$nearSphere"
	}
	all := object{}.Set(name, query.PlainValue(near))
	for _, limit := range [...]struct {
		name string
		e    expr.Expression
	}{{"minDistance", s.least}, {"maxDistance", s.most}} {
		if limit.e == nil {
			continue
		}
		v, err := r.eval(limit.e, query.EmptyDocument)
		if err == nil {
			err = checkNearLimit(limit.name, v)
		}
		if err != nil {
			return nil, err
		}
		all = all.Set("$"+limit.name, v)
	}
	return all.Bytes(), nil
}

func (s *geoNear) run(r *runner, _ stream) stream {
	found := deferred(func() ([][]byte, error) {
		if s.misplaced {
			return nil, r.failed(s.inside, mongoerr.Errorf(40603,
				"$geoNear was not the first stage in the pipeline after optimization. Is optimization disabled or inhibited?"))
		}
		docs, err := r.Source.Near(s.db, s.coll, s.key, func() ([]byte, error) { return s.expression(r) }, &s.filter, r.env)
		return docs, r.failed(s.inside, err)
	})
	return perDocument(func(_ *runner, doc []byte) ([]byte, error) {
		out := doc
		if s.distance != nil {
			d := query.Meta(doc, query.GeoNearDistance).AsFloat64()
			out = s.distance.set(out, query.Double(d*s.multiplier))
		}
		if s.location != nil {
			out = s.location.set(out, query.Meta(doc, query.GeoNearPoint))
		}
		return out, nil
	}).run(r, found)
}
