package command

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// plannedPipeline is the plan of the first stages of a pipeline.
type plannedPipeline struct {
	aggregation
	plan  *explain.Plan
	taken int // how many stages these are
}

// planAggregate finds the plan of the stages that find documents.
func planAggregate(x *call.Call) (*plannedPipeline, error) {
	a := &plannedPipeline{aggregation: aggregation{cursor: true}}
	for i := range x.Command.Args {
		if e := &x.Command.Args[i]; string(e.Key) != "explain" {
			if err := a.field(x, e); err != nil {
				return nil, err
			}
		}
	}
	a.inheritFor(x)
	if err := a.parse(pipelineOptions(x, x.Command.DB, x.Command.Coll)); err != nil {
		return nil, err
	}
	var err error
	if x.Result.Vars.Values, err = a.Vars(x.Context()); err != nil {
		return nil, err
	}
	if !a.Reads() {
		name, _ := a.First()
		return nil, fields.Unsupported("explain", "of an aggregation that begins with "+name)
	}
	e, taken := pushedDown(&a.aggregation, query.Elements(a.stages))
	if err := e.Compile(x, e.Query.Filter); err != nil {
		return nil, err
	}
	if e.Query.Sort != nil {
		if err := e.ParseSort(e.Query.Sort); err != nil {
			return nil, err
		}
	}
	a.taken = taken
	a.plan, err = planOf(x, e)
	return a, err
}

// explainAggregate writes the plan of the stages that find documents, and the stages behind them.
func explainAggregate(x *call.Call, level explain.Verbosity) error {
	x.Result.Explained = true
	a, err := planAggregate(x)
	if err != nil {
		return err
	}
	if level != explain.Planner && a.Target() != nil {
		return fields.Unsupported("explain", "of the execution of an aggregation that writes")
	}
	dst := wire.AppendString(x.Result.Out, "explainVersion", "1")
	if a.taken == len(query.Elements(a.stages)) {
		dst = a.plan.AppendPlanner(dst, func(dst []byte) []byte { return wire.AppendBool(dst, "optimizedPipeline", true) })
		if level != explain.Planner {
			dst = a.plan.AppendStats(dst, level)
		}
	} else if dst, err = appendStages(x, dst, a, level); err != nil {
		return err
	}
	x.Result.Out = appendExplained(x, dst)
	return nil
}

// pushedDown returns the search that the first stages of a pipeline are, and how many these are.
func pushedDown(a *aggregation, stages []query.Value) (*explained, int) {
	e := &explained{Criteria: call.Criteria{Hint: a.hint, Collating: a.Collating}}
	return e, e.PushDown(stages)
}

// appendStages writes the cursor with the plan, and the stages behind it, with the number of documents that each gives.
func appendStages(x *call.Call, dst []byte, a *plannedPipeline, level explain.Verbosity) ([]byte, error) {
	list, dst := wire.BeginArray(dst, "stages")
	at, dst := wire.BeginEmbedded(dst, "0")
	cursor, dst := wire.BeginEmbedded(dst, "$cursor")
	dst = a.plan.AppendPlanner(dst, func(dst []byte) []byte { return cursorType(x, dst) })
	if level != explain.Planner {
		dst = a.plan.AppendStats(dst, level)
	}
	dst = wire.EndDocument(dst, cursor)
	if level != explain.Planner {
		dst = appendReturned(dst, int(a.plan.Returned()))
	}
	dst = wire.EndDocument(dst, at)
	for i, stage := range query.Elements(a.stages)[a.taken:] {
		at, d := wire.BeginEmbedded(dst, wire.ArrayKey(i+1))
		it := wire.Elements(stage.Data)
		it.Next()
		d = wire.AppendElement(d, it.Element)
		if level != explain.Planner {
			n, err := resultsOf(x, &a.aggregation, a.taken+i+1)
			if err != nil {
				return nil, err
			}
			d = appendReturned(d, n)
		}
		dst = wire.EndDocument(d, at)
	}
	return wire.EndDocument(dst, list), nil
}

// cursorType writes that the cursor gives documents.
func cursorType(x *call.Call, dst []byte) []byte {
	if !x.Client.Set.Version.AtLeast(8, 0) {
		return dst
	}
	return wire.AppendString(dst, "cursorType", "regular")
}

func appendReturned(dst []byte, n int) []byte {
	return wire.AppendInt64(wire.AppendInt64(dst, "nReturned", int64(n)), "executionTimeMillisEstimate", 0)
}

// resultsOf returns how many documents the first stages of a pipeline give.
func resultsOf(x *call.Call, a *aggregation, stages int) (int, error) {
	first := *a
	at, dst := wire.BeginDocument(nil)
	for i, v := range query.Elements(a.stages)[:stages] {
		dst = wire.AppendValue(dst, wire.ArrayKey(i), v.Type, v.Data)
	}
	first.stages = wire.EndDocument(dst, at)
	if err := first.parse(pipelineOptions(x, x.Command.DB, x.Command.Coll)); err != nil {
		return 0, err
	}
	docs, err := aggregate(x, &first)
	return len(docs), err
}
