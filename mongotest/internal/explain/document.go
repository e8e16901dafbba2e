package explain

import (
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// AppendPlanner writes the part queryPlanner. The fields of more stand behind the hashes.
func (p *Plan) AppendPlanner(dst []byte, more func(dst []byte) []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "queryPlanner")
	dst = wire.AppendString(dst, "namespace", p.query.NS)
	if p.condition != nil {
		dst = wire.AppendDocument(dst, "parsedQuery", p.condition.document())
		if p.query.Collation != nil {
			dst = wire.AppendDocument(dst, "collation", p.query.Collation)
		}
		dst = wire.AppendBool(dst, "indexFilterSet", p.query.Permits != nil)
		if p.query.Exists {
			dst = p.appendHashes(dst)
		}
	}
	if more != nil {
		dst = more(dst)
	}
	if p.query.Express {
		dst = wire.AppendInt32(wire.AppendInt32(dst, "optimizationTimeMillis", 0), "optimizationTimeMicros", 0)
	}
	dst = wire.AppendBool(wire.AppendBool(dst, "maxIndexedOrSolutionsReached", false), "maxIndexedAndSolutionsReached", false)
	dst = wire.AppendBool(dst, "maxScansToExplodeReached", false)
	if p.query.Express {
		dst = wire.AppendBool(dst, "prunedSimilarIndexes", false)
	}
	winner, dst := wire.BeginEmbedded(dst, "winningPlan")
	dst = wire.EndDocument(p.appendRoot(dst, p.root, false), winner)
	list, dst := wire.BeginArray(dst, "rejectedPlans")
	for i, t := range p.rejected() {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		dst = wire.EndDocument(p.appendRoot(d, p.wrapped(t), false), one)
	}
	return wire.EndDocument(wire.EndDocument(dst, list), at)
}

func (p *Plan) appendHashes(dst []byte) []byte {
	dst = wire.AppendString(dst, "queryHash", p.shape(""))
	if p.query.Express {
		dst = wire.AppendString(dst, "planCacheShapeHash", p.shape(""))
	}
	var names []string
	for _, ix := range p.query.Indexes {
		names = append(names, ix.Name)
	}
	return wire.AppendString(dst, "planCacheKey", p.shape(strings.Join(names, ",")))
}

func (p *Plan) rejected() []*trial {
	if len(p.all) == 0 {
		return nil
	}
	return p.all[1:]
}

// wrapped returns a plan that lost, with what stands around the plan that was chosen.
func (p *Plan) wrapped(t *trial) stage {
	s := t.stage
	if p.subplan {
		s = &subplan{withInput{input: s}}
	}
	if p.query.Kind != Count {
		return s
	}
	return (&planner{Query: p.query}).ending(s)
}

// appendRoot writes a whole plan.
func (p *Plan) appendRoot(dst []byte, s stage, figures bool) []byte {
	if p.query.Express {
		dst = wire.AppendBool(dst, "isCached", false)
	}
	return appendStage(dst, unchosen(s), figures)
}

// unchosen returns the plan of which a stage is the choice.
func unchosen(s stage) stage {
	if c, ok := s.(*chosen); ok {
		return c.stage
	}
	return s
}

// subplan is shown around the plan of an $or, whose branches are planned one by one.
type subplan struct{ withInput }

func (*subplan) name() string { return "SUBPLAN" }

// AppendStats writes the part executionStats.
func (p *Plan) AppendStats(dst []byte, v Verbosity) []byte {
	at, dst := wire.BeginEmbedded(dst, "executionStats")
	dst = wire.AppendInt32(wire.AppendBool(dst, "executionSuccess", true), "nReturned", p.returned)
	dst = wire.AppendInt32(dst, "executionTimeMillis", 0)
	if p.query.Express {
		dst = wire.AppendInt32(dst, "executionTimeMicros", 0)
	}
	keys, docs := examined(p.root)
	dst = wire.AppendInt32(wire.AppendInt32(dst, "totalKeysExamined", keys), "totalDocsExamined", docs)
	stages, dst := wire.BeginEmbedded(dst, "executionStages")
	dst = wire.EndDocument(p.appendRoot(dst, p.root, true), stages)
	if v == AllPlans {
		list, d := wire.BeginArray(dst, "allPlansExecution")
		for i, t := range p.all {
			d = wire.AppendDocument(d, wire.ArrayKey(i), t.then)
		}
		dst = wire.EndDocument(d, list)
	}
	return wire.EndDocument(dst, at)
}

// appendOutcome writes what a candidate had done when the trial ended.
// A candidate that lost is shown with what the command would have done with its results.
func (p *planner) appendOutcome(dst []byte, t *trial, won bool) []byte {
	shown := t.stage
	if !won && p.Kind == Count {
		shown = p.ending(t.stage)
	}
	dst = wire.AppendInt32(wire.AppendInt32(dst, "nReturned", shown.counts().advanced), "executionTimeMillisEstimate", 0)
	keys, docs := examined(shown)
	dst = wire.AppendInt32(wire.AppendInt32(dst, "totalKeysExamined", keys), "totalDocsExamined", docs)
	at, dst := wire.BeginEmbedded(wire.AppendDouble(dst, "score", t.score), "executionStages")
	if p.Express {
		dst = wire.AppendBool(dst, "isCached", false)
	}
	return wire.EndDocument(appendStage(dst, shown, true), at)
}

func (s *subplan) step() (state, *store.Record) {
	if s.eof() {
		return ended, nil
	}
	return work(s.input)
}
