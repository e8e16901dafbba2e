package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/unionWith/

type unionWith struct {
	subPipeline
	nameless bool // it names a collection "", which is found out only when it is read
}

var unionWithOptions = []option{{name: "coll", types: ofString}, {name: "pipeline"}}

func surveyUnionWith(p *parser, name string, spec Value) error {
	switch {
	case spec.IsString():
		return checkUnited(spec)
	case !spec.IsDocument():
		return mongoerr.Errorf(mongoerr.FailedToParse, "the $unionWith stage specification must be an object or string, but found %s", typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, unionWithOptions)
	if err != nil {
		return err
	}
	if err := checkUnited(fields.Get("coll")); err != nil {
		return err
	}
	stages := fields.Get("pipeline")
	if stages.Type == bson.TypeNull {
		return p.surveyInner(stages)
	}
	if fields.Get("coll").Missing() && !startsWithDocuments(stages) {
		return withoutCollection(name)
	}
	if stages.Missing() {
		return nil
	}
	return p.surveyInner(stages)
}

func checkUnited(coll Value) error {
	if name := string(coll.Text()); strings.HasPrefix(name, ".") {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Collection names cannot start with '.': %s", name)
	}
	return nil
}

func parseUnionWith(p *parser, name string, spec Value) (stage, error) {
	s := &unionWith{}
	s.db = p.DB
	if spec.IsString() {
		s.unite(spec)
		return s, nil
	}
	fields, err := parseOptions(name, spec.Data, unionWithOptions)
	if err != nil {
		return nil, err
	}
	s.unite(fields.Get("coll"))
	return s, p.inside(func(inner *parser) error {
		return s.parse(inner, letVariables{}, fields.Get("pipeline"), func(name string) error {
			return mongoerr.Errorf(31441, "%s is not allowed within a $unionWith's sub-pipeline", name)
		})
	})
}

func (s *unionWith) unite(coll Value) {
	s.coll = string(coll.Text())
	s.nameless = s.coll == "" && !coll.Missing()
}

func (s *unionWith) run(r *runner, in stream) stream {
	return func(yield func([]byte, error) bool) {
		for doc, err := range in {
			if !yield(doc, err) || err != nil {
				return
			}
		}
		if s.nameless {
			yield(nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Namespace %sis not a valid collection name", s.db))
			return
		}
		s.searching(r, nil)()
		s.stream(r, query.EmptyDocument, r.documents(s.db, s.coll), nil)(yield)
	}
}
