package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

// countUse counts the indexes by which a search of the command's collection has found its documents, as the real server's plan
// would. One that failed uses none. What the test itself does is not counted. q is the search, and of returns it for the planner.
func countUse(x *call.Call, q *call.Criteria, of func() *explained) {
	if countsUses(x) {
		call.WithLock(x, func(x call.Locked) any {
			countUseOf(x, q, of)
			return nil
		})
	}
}

func countsUses(x *call.Call) bool { return !x.Client.Direct && !x.Result.Explained }

// countStatement is countUse for a statement that was executed with the set's mutex held.
func countStatement(x call.Locked, q *call.Criteria, of func() *explained) {
	if countsUses(x.Call) && !x.Evaluation.Paused() {
		countUseOf(x, q, of)
	}
}

func countUseOf(x call.Locked, q *call.Criteria, of func() *explained) {
	c := x.Client.Member.Data.Collections[x.Command.Full]
	if c == nil {
		return
	}
	if byIDAlone(q, c.Def) {
		c.Use(c.Def.Indexes[0])
		return
	}
	list, c := usedBy(x, x.Command.Full, of())
	for _, ix := range list {
		c.Use(ix)
	}
}

// byIDAlone reports whether a search needs no plan, because it is for one _id and nothing else.
func byIDAlone(q *call.Criteria, d *store.Definition) bool {
	return d.HasIDIndex() && d.Options.Clustered == nil && !q.Hint.Given() && q.Collation == d.Options.Collation && q.Filter.OnlyID(d.Options.Collation.Rule())
}

// usedBy returns the indexes that a search uses, of which collection; none of a search whose plan fails.
func usedBy(x call.Locked, ns string, e *explained) ([]*store.Index, *store.Collection) {
	c := x.Client.Member.Data.Collections[ns]
	if c == nil || c.IsView() {
		return nil, nil
	}
	own := &ownCall{of: x.Call}
	defer own.end()
	if settleQuery(x, e, ns, c, own.get) != nil {
		return nil, c
	}
	list, err := explain.Uses(&e.Query, c)
	if err != nil {
		return nil, c
	}
	return list, c
}

// countStages counts the indexes by which the first stages of a pipeline have found their documents.
func countStages(x *call.Call, ns string, stages []query.Value, q *call.Criteria) {
	if countsUses(x) {
		usesOfStages(x, ns, stages, q)()
	}
}

// usesOfStages returns what counts the indexes by which the first stages of a pipeline find their documents, once for each call.
func usesOfStages(x *call.Call, ns string, stages []query.Value, q *call.Criteria) func() {
	var list []*store.Index
	var c *store.Collection
	call.WithLock(x, func(x call.Locked) any {
		if e, err := stagesExplained(stages, q); err == nil {
			list, c = usedBy(x, ns, e)
		}
		return nil
	})
	return func() { useAll(x, c, list) }
}

// countSearch counts a search by distance or by words.
func (s *source) countSearch(ns string, ix *store.Index) {
	if countsUses(s.x) {
		c := call.WithLock(s.x, func(x call.Locked) *store.Collection { return x.Client.Member.Data.Collections[ns] })
		useAll(s.x, c, []*store.Index{ix})
	}
}

func useAll(x *call.Call, c *store.Collection, list []*store.Index) {
	if c == nil || len(list) == 0 {
		return
	}
	call.WithLock(x, func(call.Locked) any {
		for _, ix := range list {
			c.Use(ix)
		}
		return nil
	})
}

// Searching implements pipeline.Source.
func (s *source) Searching(db, coll string, stages []query.Value) func() {
	if !countsUses(s.x) {
		return func() {}
	}
	var of []query.Value
	ns := db + "." + coll
	err := call.WithLock(s.x, func(x call.Locked) (err error) {
		ns, of, err = x.Resolve(ns)
		return err
	})
	if err != nil {
		return func() {}
	}
	return usesOfStages(s.x, ns, append(of, stages...), &call.Criteria{Vars: s.x.Result.Vars.Values})
}

// stagesExplained returns the search that the first stages of a pipeline are, in the order in which they are executed.
func stagesExplained(stages []query.Value, q *call.Criteria) (*explained, error) {
	e := &explained{Criteria: call.Criteria{Hint: q.Hint, Collating: q.Collating, Vars: q.Vars}}
	stages = explain.Moved(stages)
	taken := e.PushDown(stages)
	if taken < len(stages) && e.Skip == 0 && e.Limit == 0 {
		if key := explain.GroupedBy(stages[taken]); key != "" {
			e.Kind, e.Key, e.Grouped = explain.Distinct, key, true
		}
	}
	if e.Query.Sort == nil {
		return e, nil
	}
	return e, e.ParseSort(e.Query.Sort)
}

// ownCall is a call in which a plan is found beside the execution of a command, whose own state stays as it is. Few plans need one.
type ownCall struct {
	of   *call.Call
	made *call.Call
}

func (o *ownCall) get() *call.Call {
	if o.made == nil {
		o.made = &call.Call{Client: o.of.Client, Command: o.of.Command}
		o.made.Result = o.made.Result.Again(0)
		o.made.Result.Vars = o.of.Result.Vars
		o.made.Evaluation.EndsBy = o.of.Evaluation.EndsBy
	}
	return o.made
}

func (o *ownCall) end() {
	if o.made != nil {
		o.made.Evaluated()
	}
}
