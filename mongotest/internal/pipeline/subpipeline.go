package pipeline

import (
	"bytes"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// subPipeline is a pipeline inside a stage, over a collection, with variables of its own.
type subPipeline struct {
	db, coll string // coll is "" for none
	let      letVariables
	outer    int // how many variables are in scope outside
	inside   []step
	written  []Value // the same as the command has them
	own      bool    // the first stage makes the documents, so that a filter comes after it
}

func (s *subPipeline) steps() []step { return s.inside }

// parse compiles the stages; refuse makes the error of a stage that may only be at the end of a whole pipeline.
func (s *subPipeline) parse(p *parser, let letVariables, stages Value, refuse func(name string) error) error {
	s.let, s.outer = let, len(p.names)
	if stages.Missing() {
		return nil
	}
	steps, err := p.inner(s.coll, let.names, stages)
	if err != nil {
		return err
	}
	for _, step := range steps {
		if step.last || step.name == "$changeStream" {
			return refuse(step.name)
		}
	}
	inner := *p
	inner.Coll = s.coll
	s.inside, s.written, s.own = steps, query.Elements(stages.Data), startsWithDocuments(stages)
	if err := checkMeta(steps); err != nil {
		return err
	}
	return inner.checkOrder(steps)
}

// stream returns what the pipeline gives for a document outside of it, from what the filter leaves of documents.
func (s *subPipeline) stream(r *runner, doc []byte, from stream, f *query.Filter) stream {
	return func(yield func([]byte, error) bool) {
		values, err := s.let.values(r, doc)
		if err != nil {
			yield(nil, err)
			return
		}
		inner, inside := r.within(s.outer, values), s.inside
		if s.own {
			from, inside = chain(inner, inside[:1], from), inside[1:]
		}
		chain(inner, inside, inner.filtered(from, f))(yield)
	}
}

// searching returns what counts that the documents of the collection were searched: those that a filter leaves, nil for all.
func (s *subPipeline) searching(r *runner, filter []byte) func() {
	if s.coll == "" || s.own {
		return func() {}
	}
	stages := s.written
	if filter != nil {
		stages = slices.Insert(slices.Clone(stages), 0, object{}.Set("$match", query.Document(filter)).Document())
	}
	return r.Source.Searching(s.db, s.coll, stages)
}

// correlated reports whether the stages depend on the document outside.
func (s *subPipeline) correlated() bool {
	return slices.ContainsFunc(s.let.names, func(name string) bool {
		return slices.ContainsFunc(s.written, func(v Value) bool { return bytes.Contains(v.Data, []byte("$$"+name)) })
	})
}

// documents returns the documents of a collection, none without a name.
func (r *runner) documents(db, coll string) stream {
	if coll == "" {
		return streamOf(nil)
	}
	return deferred(func() ([][]byte, error) { return r.Source.Collection(db, coll), nil })
}

// filtered returns the documents that match a filter, all if it is nil.
func (r *runner) filtered(in stream, f *query.Filter) stream {
	if f == nil {
		return watched(r, in)
	}
	return flat(watched(r, in), func(doc []byte, emit func([]byte) bool) error {
		ok, err := f.MatchWith(doc, &r.matching)
		if ok && err == nil {
			emit(doc)
		}
		return err
	})
}

// startsWithDocuments reports whether a pipeline makes its documents itself.
func startsWithDocuments(stages Value) bool {
	if !stages.IsArray() {
		return false
	}
	list := query.Elements(stages.Data)
	return len(list) > 0 && list[0].IsDocument() && !query.Lookup(list[0].Data, "$documents").Missing()
}

func withoutCollection(name string) error {
	return mongoerr.Errorf(mongoerr.FailedToParse, "%s stage without explicit collection must have a pipeline with $documents as first stage", name)
}

// checkNamespace refuses the name of a collection that none can have.
func (p *parser) checkNamespace(name, coll string) error {
	if coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "invalid %s namespace: %s", name, p.DB)
	}
	return nil
}
