package pipeline

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/redact/

// redact decides on each document, and on those inside it, by an expression that sees the one it decides on as $$CURRENT.
type redact struct {
	decision expr.Expression
	first    int // the place of its variables
}

func parseRedact(p *parser, _ string, spec Value) (stage, error) {
	e, err := p.within([]string{"KEEP", "DESCEND", "PRUNE", "CURRENT"}).expression(spec)
	if err != nil {
		return nil, err
	}
	return &redact{e, len(p.names)}, nil
}

func (s *redact) run(r *runner, in stream) stream {
	return perDocument(func(r *runner, doc []byte) ([]byte, error) {
		kept, err := s.redacted(r, doc, doc)
		return kept.Data, err
	}).run(r, in)
}

// redacted returns the remaining part of a document that is root or inside it, Missing for nothing.
func (s *redact) redacted(r *runner, root, doc []byte) (Value, error) {
	own := []Value{query.Text("keep"), query.Text("descend"), query.Text("prune"), query.Document(doc)}
	r.env.Vars = slices.Concat(r.env.Vars[:s.first], own)
	v, err := r.eval(s.decision, root)
	if err != nil {
		return missing, err
	}
	switch string(v.Text()) {
	case "keep":
		return query.Document(doc), nil
	case "prune":
		return missing, nil
	case "descend":
		return s.descend(r, root, doc)
	}
	return missing, mongoerr.Errorf(17053, "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and "+
		"$$PRUNE, but returned %s", spelled(v))
}

func (s *redact) descend(r *runner, root, doc []byte) (Value, error) {
	var fields object
	for _, f := range query.ObjectOf(doc) {
		v, err := s.value(r, root, f.Value)
		if err != nil {
			return missing, err
		}
		if !v.Missing() {
			fields = append(fields, field{Name: f.Name, Value: v})
		}
	}
	return fields.Made(), nil
}

func (s *redact) value(r *runner, root []byte, v Value) (Value, error) {
	switch {
	case v.IsDocument():
		return s.redacted(r, root, v.Data)
	case v.IsArray():
		elements := query.Elements(v.Data)
		for i := range elements {
			var err error
			if elements[i], err = s.value(r, root, elements[i]); err != nil {
				return missing, err
			}
		}
		return array(elements), nil
	}
	return v, nil
}
