package pipeline

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/unionWith/

type unionWith struct{ subPipeline }

var unionWithOptions = []option{{name: "coll", types: ofString}, {name: "pipeline"}}

func surveyUnionWith(p *parser, name string, spec Value) error {
	switch {
	case isText(spec):
		if len(spec.Text()) == 0 {
			return fail(invalidNamespace, "Namespace %sis not a valid collection name", p.DB)
		}
		return nil
	case !spec.IsDocument():
		return fail(failedToParse, "the $unionWith stage specification must be an object or string, but found %s", typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, unionWithOptions)
	if err != nil {
		return err
	}
	stages := fields.get("pipeline")
	if fields.get("coll").Missing() && !startsWithDocuments(stages) {
		return withoutCollection(name)
	}
	if stages.Missing() {
		return nil
	}
	return p.surveyInner(stages)
}

func parseUnionWith(p *parser, _ string, spec Value) (stage, error) {
	s := &unionWith{}
	s.db, s.coll = p.DB, string(spec.Text())
	if isText(spec) {
		return s, nil
	}
	fields := fieldsOf(spec.Data)
	s.coll = string(fields.get("coll").Text())
	return s, p.inside(func(inner *parser) error {
		return s.parse(inner, letVariables{}, fields.get("pipeline"), func(name string) error {
			return fail(31441, "%s is not allowed within a $unionWith's sub-pipeline", name)
		})
	})
}

func (s *unionWith) run(r *runner, in stream) stream {
	return func(yield func([]byte, error) bool) {
		for doc, err := range in {
			if !yield(doc, err) || err != nil {
				return
			}
		}
		s.stream(r, emptyDocument, nil)(yield)
	}
}
