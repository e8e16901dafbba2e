package simcheck

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// The histories of a document are short, so that a check takes milliseconds. This limit is never reached unless one is not.
const linearizableLimit = 2 * time.Minute

// CheckLinearizable adds a violation if the operations on a document are not linearizable.
func (v *Violations) CheckLinearizable(document any, model porcupine.Model, ops []porcupine.Operation) {
	if result := porcupine.CheckOperationsTimeout(model, ops, linearizableLimit); result != porcupine.Ok {
		v.Add("%v: %s, of %d operations", document, result, len(ops))
	}
}
