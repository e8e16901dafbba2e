package programs

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/mongotest"
)

// failure is what happens to the first message of its kind.
type failure struct {
	name    string
	command string
	fault   func(*mongotest.Deployment) mongotest.Fault
}

var (
	none        = failure{name: "no failure"}
	requestLost = failure{"the request is lost", "update", func(*mongotest.Deployment) mongotest.Fault {
		return mongotest.Fault{LoseRequest: true}
	}}
	replyLost = failure{"the reply is lost", "update", func(*mongotest.Deployment) mongotest.Fault {
		return mongotest.Fault{LoseReply: true}
	}}
	killed = failure{"the primary is killed", "update", func(set *mongotest.Deployment) mongotest.Fault {
		return mongotest.Fault{Before: func() { set.Kill(set.Primary()) }}
	}}
	conflict = failure{"a conflict at the commit", "commitTransaction", func(*mongotest.Deployment) mongotest.Fault {
		return mongotest.Fault{Error: &mongotest.CommandError{Code: 112, Labels: []string{"TransientTransactionError"}}}
	}}
)

// arrange has it happen in a set, and returns a function that says whether it did.
func (f failure) arrange(set *mongotest.Deployment) (happened func() bool) {
	if f.fault == nil {
		return func() bool { return true }
	}
	var done atomic.Bool
	set.Use(f.command, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		if !f.concerns(r) || done.Swap(true) {
			return mongotest.Fault{}
		}
		return f.fault(set)
	}))
	return done.Load
}

// concerns reports whether a message is a commit or an update of many documents, which no driver retries.
func (f failure) concerns(r *mongotest.Request) bool {
	if f.command != "update" {
		return true
	}
	many, _ := r.Body.Lookup("updates", "0", "multi").BooleanOK()
	return many
}
