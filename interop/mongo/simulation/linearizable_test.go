package simulation

import (
	"fmt"
	"math"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

// step is an operation on one document as porcupine sees it. A state is the number of changes that the document has had. The
// final log has every change at its place, so a state stands for a beginning of that log, and no two orders of the same writes
// need to be tried.
type step struct {
	// place is that of a write's token in the final log, -1 if it is not there.
	place int
	// sees is how many changes were read, or found by a write; it is not compared if it is negative.
	sees int
	read bool
}

const unseen = -1

func linearModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, _ any) (bool, any) {
			s, changes := in.(step), state.(int)
			legal := s.sees < 0 || s.sees == changes
			if s.read {
				return legal, changes
			}
			return legal && s.place == changes, changes + 1
		},
		DescribeOperation: func(in, _ any) string { return fmt.Sprintf("%+v", in) },
	}
}

// checkLinearizable checks the calls on each document of registers. A write whose outcome is unknown may take effect at any later
// time if it is there, and is left out if it is not.
func checkLinearizable(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "linearizable"}
	for a, ops := range operationsOf(calls, t) {
		v.CheckLinearizable(a, linearModel(), ops)
	}
	return v.List
}

func operationsOf(calls []*call, t *truth) map[address][]porcupine.Operation {
	histories := make(map[address][]porcupine.Operation)
	add := func(a address, c *call, s step, end int64) {
		histories[a] = append(histories[a], porcupine.Operation{ClientId: c.worker, Input: s, Call: c.began, Return: end})
	}
	for _, c := range calls {
		for _, r := range c.reads {
			if r.level == linearizable && !c.failed() {
				add(address{r.ns, r.doc}, c, step{read: true, sees: len(r.log)}, c.ended)
			}
		}
		for _, w := range c.writes {
			a := address{w.ns, w.doc}
			place := slices.Index(t.documents[a].Log, w.token)
			if w.ns != registers || w.effect != push || w.claim == notApplied || w.claim == unknown && place < 0 {
				continue
			}
			end := c.ended
			if w.claim == unknown {
				end = math.MaxInt64
			}
			add(a, c, step{place: place, sees: c.found(w, t)}, end)
		}
	}
	return histories
}

// found returns how many changes a write has found, if its result shows that. An image that is not a beginning of the final
// log is found nowhere.
func (c *call) found(w write, t *truth) int {
	const nowhere = math.MaxInt
	log := c.swapped
	if c.image != nil {
		log = c.image.log
		if c.image.after {
			if len(log) == 0 || log[len(log)-1] != w.token {
				return nowhere
			}
			log = log[:len(log)-1]
		}
	}
	switch {
	case c.failed() || c.swapped == nil && c.image == nil:
		return unseen
	case !startsWith(t.documents[address{w.ns, w.doc}].Log, log):
		return nowhere
	}
	return len(log)
}
