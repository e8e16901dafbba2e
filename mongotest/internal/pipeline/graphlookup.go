package pipeline

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/

type graphLookup struct {
	db, coll             string
	start                expr.Expression
	failing              error     // of the restriction, which is optimized when there is something to look for
	from, to, as, depthF fieldPath // depthF is nil if the depth is not wanted
	maxDepth             int64     // -1 for none
	restrict             *query.Filter
	restriction          Value // the same as the command has it
}

func surveyGraphLookup(p *parser, name string, spec Value) error {
	if !spec.IsDocument() {
		return mongoerr.Errorf(mongoerr.FailedToParse, "the $graphLookup stage specification must be an object, but found %s", typeName(spec))
	}
	from := query.Lookup(spec.Data, "from")
	switch {
	case from.Missing():
		text := spec.String()
		if len(query.ObjectOf(spec.Data)) == 0 {
			text = "{}"
		}
		return mongoerr.Errorf(mongoerr.FailedToParse, "missing 'from' option to $graphLookup stage specification: %s", text)
	case !from.IsString():
		return mongoerr.Errorf(mongoerr.FailedToParse, "$graphLookup 'from' field must be a string, but found %s", typeName(from))
	}
	return p.checkNamespace(name, string(from.Text()))
}

func parseGraphLookup(p *parser, _ string, spec Value) (stage, error) {
	s := &graphLookup{db: p.DB, maxDepth: -1}
	for _, f := range query.ObjectOf(spec.Data) {
		if err := s.option(p, f); err != nil {
			return nil, err
		}
	}
	var absent []string
	for _, required := range []struct {
		name string
		ok   bool
	}{{"as", s.as != nil}, {"startWith", s.start != nil}, {"connectFromField", s.from != nil}, {"connectToField", s.to != nil}} {
		if !required.ok {
			absent = append(absent, "'"+required.name+"'")
		}
	}
	if absent != nil {
		return nil, mongoerr.Errorf(12109300, "$graphLookup is missing required field(s): %s", strings.Join(absent, ", "))
	}
	return s, nil
}

func (s *graphLookup) option(p *parser, f field) (err error) {
	switch f.Name {
	case "from":
		s.coll = string(f.Value.Text())
	case "startWith":
		s.start, err = p.late().expression(f.Value)
	case "maxDepth":
		err = s.parseMaxDepth(f.Value)
	case "restrictSearchWithMatch":
		err = s.parseRestriction(p, f.Value)
	case "as", "connectFromField", "connectToField", "depthField":
		err = s.path(f)
	default:
		err = mongoerr.Errorf(12109312, "unknown argument to $graphLookup: BSON field '$graphLookup.%s' is an unknown field.", f.Name)
	}
	return err
}

func (s *graphLookup) path(f field) (err error) {
	if !f.Value.IsString() {
		return mongoerr.Errorf(12109311, "$graphLookup '%s' field must be a string, but found %s", f.Name, typeName(f.Value))
	}
	target := map[string]*fieldPath{"as": &s.as, "connectFromField": &s.from, "connectToField": &s.to, "depthField": &s.depthF}[f.Name]
	*target, err = query.FieldPath(string(f.Value.Text()))
	return err
}

func (s *graphLookup) parseMaxDepth(v Value) error {
	n, ok := v.Integer()
	switch {
	case !v.IsNumber():
		return mongoerr.Errorf(12109307, "$graphLookup 'maxDepth' must be numeric, but found type: %s", typeName(v))
	case !ok:
		return mongoerr.Errorf(12109309, "$graphLookup 'maxDepth' must be an integer representable as a long long, but found: %s", v)
	case n < 0:
		return mongoerr.Errorf(12109308, "$graphLookup 'maxDepth' must be nonnegative, but found: %s", v)
	}
	s.maxDepth = n
	return nil
}

func (s *graphLookup) parseRestriction(p *parser, v Value) error {
	if !v.IsDocument() {
		return mongoerr.Errorf(12109310, "$graphLookup 'restrictSearchWithMatch' must be an object, but found %s", typeName(v))
	}
	s.restrict, s.restriction = &query.Filter{}, v
	err := s.restrict.ParseCollated(v.Data, hooks(p.scope), p.Collation)
	var refused *mongoerr.Error
	if errors.As(err, &refused) && refused.Constant {
		s.failing = because("Failed to optimize expression", err)
		return nil
	}
	if err != nil {
		return because("Failed to parse 'restrictSearchWithMatch' option to $graphLookup", err)
	}
	return nil
}

func (s *graphLookup) run(r *runner, in stream) stream {
	w := &walk{graphLookup: s, known: make(map[string]bool)}
	return perDocument(func(r *runner, doc []byte) ([]byte, error) {
		start, err := r.eval(s.start, doc)
		if err != nil {
			return nil, err
		}
		nodes, err := collect(r.documents(s.db, s.coll))
		if err != nil {
			return nil, err
		}
		found, err := w.search(r, nodes, elementsOrSelf(start))
		if err != nil {
			return nil, err
		}
		return s.as.set(doc, documents(found)), nil
	}).run(r, in)
}

// walk is one run of a $graphLookup.
type walk struct {
	*graphLookup
	found func()          // counts a search of the collection; nil before the first
	known map[string]bool // the values whose nodes were found, which are not searched again
}

// count counts the search for the nodes that have any of the values.
func (s *walk) count(r *runner, values []Value) {
	if !slices.ContainsFunc(values, func(v Value) bool { return !s.known[string(r.key(nil, v))] }) {
		return
	}
	if s.found == nil {
		filter := equality(s.to, values)
		if s.restrict != nil {
			filter = object{}.Set("$and", array([]Value{query.Document(filter), s.restriction})).Bytes()
		}
		s.found = r.Source.Searching(s.db, s.coll, []Value{object{}.Set("$match", query.Document(filter)).Document()})
	}
	s.found()
}

// search walks the graph breadth first and returns each node once, with the depth it was first found at.
func (s *walk) search(r *runner, nodes [][]byte, next []Value) ([][]byte, error) {
	var found [][]byte
	seen, asked := make([]bool, len(nodes)), make(map[string]bool)
	index, err := newJoinIndex(r, nodes, s.to)
	if err != nil {
		return nil, err
	}
	for depth := int64(0); len(next) > 0 && (s.maxDepth < 0 || depth <= s.maxDepth); depth++ {
		f, err := s.reaches(r.Collation, next)
		if err == nil {
			err = s.failing
		}
		if err != nil {
			return nil, err
		}
		s.count(r, next)
		var further []Value
		places, known := index.places(r, next)
		if !known {
			places = slices.Collect(indexes(len(nodes)))
		}
		for _, i := range places {
			node := nodes[i]
			if err := r.Work.Bytes(len(node)); err != nil {
				return nil, err
			}
			if seen[i] || !f.Match(node) {
				continue
			}
			if ok, err := s.admits(r, node); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			seen[i] = true
			found = append(found, s.at(node, depth))
			s.to.each(node, func(v Value) { s.known[string(r.key(nil, v))] = true })
			s.from.each(node, func(v Value) { further = append(further, elementsOrSelf(v)...) })
		}
		next = unasked(r, asked, further)
	}
	return found, nil
}

// indexes are the numbers from 0 to n-1.
func indexes(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// admits reports whether the search is not restricted to other nodes.
func (s *graphLookup) admits(r *runner, node []byte) (bool, error) {
	if s.restrict == nil {
		return true, nil
	}
	return s.restrict.MatchWith(node, &r.matching)
}

// reaches returns the filter of the nodes that have any of the values. Unlike elsewhere null is nothing that is not there.
func (s *graphLookup) reaches(c query.Collation, values []Value) (*query.Filter, error) {
	var branches []Value
	for _, v := range values {
		if err := query.CheckListed(v); err != nil {
			return nil, err
		}
		branches = append(branches, object{}.Set(s.to.String(), object{}.Set("$eq", query.PlainValue(v)).Set("$exists", query.Int32(1)).Document()).Document())
	}
	f := &query.Filter{}
	return f, f.ParseCollated(object{}.Set("$or", array(branches)).Bytes(), query.Hooks{}, c)
}

func (s *graphLookup) at(node []byte, depth int64) []byte {
	if s.depthF == nil {
		return node
	}
	return s.depthF.set(node, int64Value(depth))
}

// unasked returns the values that were not looked for yet.
func unasked(r *runner, asked map[string]bool, values []Value) []Value {
	var fresh []Value
	for _, v := range values {
		key := string(r.key(nil, v))
		if v.Type != bson.TypeUndefined && !asked[key] {
			asked[key] = true
			fresh = append(fresh, v)
		}
	}
	return fresh
}
