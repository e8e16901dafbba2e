package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
)

// plansOf finds the plans of a command: of an update or a delete one for each statement, as if it was the only one.
func plansOf(x *call.Call) []call.Plan {
	if x.Command.Spec.Statements == "" {
		return []call.Plan{planned(x, nil)}
	}
	statements, err := x.Documents(x.Command.Spec.Statements)
	if err != nil {
		return nil
	}
	list := make([]call.Plan, len(statements))
	for i, s := range statements {
		list[i] = planned(x, s)
	}
	return list
}

// planned returns the plan that explain would show, the zero one where it would show none. The call itself is left as it is.
func planned(x *call.Call, statement []byte) call.Plan {
	own := &call.Call{Client: x.Client, Command: x.Command}
	own.Result = own.Result.Again(0)
	own.Evaluation.EndsBy = x.Evaluation.EndsBy
	defer own.Evaluated()
	p, err := ownPlan(own, statement)
	if err != nil {
		return call.Plan{}
	}
	keys, docs := p.Examined()
	return call.Plan{Summary: p.Summary(), Keys: keys, Docs: docs, Sorts: p.Sorts(), Competed: p.Competed()}
}

func ownPlan(x *call.Call, statement []byte) (*explain.Plan, error) {
	if err := explainedTarget(x); err != nil {
		return nil, err
	}
	if x.Command.Name == "aggregate" {
		p, err := planAggregate(x)
		if err != nil {
			return nil, err
		}
		return p.plan, nil
	}
	e, err := newExplained(x, statement)
	if err != nil {
		return nil, err
	}
	return planOf(x, e)
}
