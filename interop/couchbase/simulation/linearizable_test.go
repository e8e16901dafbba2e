package simulation

import (
	"fmt"
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

// step is an operation on one document as porcupine sees it. A state is the number of changes that the document has had, losses
// among them. The journal has every change at its place, so no two orders of the same writes need to be tried.
type step struct {
	// place is that of a change, anyPlace if it is a read.
	place int
	sees  read
}

const anyPlace = -1

// linearModel is the model of one document.
func linearModel(t *timeline) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, _ any) (bool, any) {
			s, at := in.(step), state.(int)
			if s.place == anyPlace {
				return (t.content(at) == s.sees.content) != s.sees.unlike, at
			}
			return s.place == at, at + 1
		},
		DescribeOperation: func(in, _ any) string { return fmt.Sprintf("%+v", in) },
	}
}

// checkLinearizable checks the calls on each document. A write whose outcome is unknown may take effect at any later time if it is there,
// and is left out if it is not. A loss is an operation too: it took effect during the fault that lost something.
func checkLinearizable(calls []*call, t *truth) []violation {
	v := simcheck.Violations{Rule: "linearizable"}
	for doc, ops := range operationsOf(calls, t) {
		if line := t.documents[doc]; line != nil {
			v.CheckLinearizable(doc, linearModel(line), ops)
		} else {
			v.CheckLinearizable(doc, linearModel(&timeline{start: missing}), ops)
		}
	}
	return v.List
}

func operationsOf(calls []*call, t *truth) map[string][]porcupine.Operation {
	histories := make(map[string][]porcupine.Operation)
	add := func(doc string, client int, s step, began, ended int64) {
		histories[doc] = append(histories[doc], porcupine.Operation{ClientId: client, Input: s, Call: began, Return: ended})
	}
	for _, c := range calls {
		for _, r := range c.reads {
			if !r.replica {
				add(r.doc, c.worker, step{place: anyPlace, sees: r}, c.began, c.ended)
			}
		}
		w := c.write
		if w == nil || t.documents[w.doc] == nil || w.claim == notApplied {
			continue
		}
		for i, at := range t.documents[w.doc].places(w) {
			ended := c.ended
			if w.claim == unknown || i > 0 { // a second one breaks another rule
				ended = math.MaxInt64
			}
			add(w.doc, c.worker, step{place: at}, c.began, ended)
		}
	}
	for doc, line := range t.documents {
		for at, c := range line.changes {
			if c.loss != nil {
				add(doc, math.MaxInt32, step{place: at}, c.loss.began, c.loss.ended)
			}
		}
	}
	return histories
}
