package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// maxStages is how many stages a pipeline may have, https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/.
const maxStages = 1000

// survey looks at what the real server checks of all stages before it compiles the first: that they are stages, and what
// decides which namespaces they read and write.
func (p *parser) survey(stages Value) error {
	if stages.Type != bson.TypeArray {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "A pipeline must be an array of objects")
	}
	list := query.Elements(stages.Data)
	if len(list) > maxStages && p.has(version.Of(5, 0, 0)) {
		return mongoerr.Errorf(7749501, "Pipeline length must be no longer than %d stages.", maxStages)
	}
	for _, v := range list {
		if !v.IsDocument() {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		}
		fields := query.ObjectOf(v.Data)
		if len(fields) != 1 {
			return mongoerr.Errorf(mongoerr.NotOneStage, "A pipeline stage specification object must contain exactly one field.")
		}
		k, ok := stageKinds[fields[0].Name]
		if !ok || !p.has(k.since) {
			return mongoerr.Errorf(mongoerr.UnknownStage, "Unrecognized pipeline stage name: '%s'", fields[0].Name)
		}
		if k.survey == nil {
			continue
		}
		if err := k.survey(p, k.name, fields[0].Value); err != nil {
			return err
		}
	}
	return nil
}

// surveyInner looks at a pipeline inside a stage.
func (p *parser) surveyInner(stages Value) error {
	if p.depth >= maxDepth {
		return mongoerr.Errorf(5397300, "Maximum number of nested sub-pipelines exceeded. Limit is %d", maxDepth)
	}
	inner := *p
	inner.depth++
	return inner.survey(stages)
}

// checkOrder refuses a stage that stands where it may not.
func (p *parser) checkOrder(steps []step) error {
	watching := len(steps) > 0 && steps[0].name == changeStream
	for i, s := range steps {
		switch {
		case watching && i > 0 && !s.events:
			return mongoerr.Errorf(mongoerr.IllegalOperation, "%s is not permitted in a $changeStream pipeline", s.name)
		case s.name == splitEvents && !watching:
			return mongoerr.Errorf(mongoerr.IllegalOperation, "%s can only be used in a $changeStream pipeline", s.name)
		case s.name == splitEvents && i < len(steps)-1:
			return mongoerr.Errorf(7182802, "%s must be the last stage in the pipeline", s.name)
		case s.first && i > 0:
			return mongoerr.Errorf(40602, "%s is only valid as the first stage in a pipeline", s.name)
		case s.last && i < len(steps)-1:
			return mongoerr.Errorf(40601, "%s can only be the final stage in the pipeline", s.name)
		case searches(s) && p.Coll == "":
			return mongoerr.Errorf(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for '%s'; a collection is required.", s.name)
		case s.name == "$documents" && p.Coll != "":
			return mongoerr.Errorf(mongoerr.InvalidNamespace, "'$documents' can only be run with database or cluster-level aggregation {aggregate: 1}")
		}
	}
	return checkSearches(steps)
}

// inner compiles a pipeline inside a stage that reads a collection: "" for none.
func (p *parser) inner(coll string, names []string, stages Value) ([]step, error) {
	inner := p.within(names)
	inner.Coll, inner.nested = coll, true
	steps, err := inner.steps(stages)
	if err != nil {
		return nil, err
	}
	return steps, nil
}
