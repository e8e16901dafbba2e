package rules

import (
	"slices"

	"github.com/holdfast-db/holdfast/retry"
)

// Rule is one rule of retries.
type Rule struct {
	ID       string `json:"id"`
	Sentence string `json:"sentence"`
	Source   string `json:"source"`
}

// Backend names a kind of database.
type Backend string

// The backends.
const (
	MongoDB   Backend = "mongodb"
	Couchbase Backend = "couchbase"
)

// Of returns the rules of a backend, in the order in which they are asked.
func Of(b Backend) []Rule {
	if b == Couchbase {
		return slices.Clone(couchbaseRules)
	}
	return slices.Clone(mongoRules)
}

// Where is the server of the next attempt.
type Where string

// The servers of a next attempt.
const (
	WhereNone     Where = ""
	WhereSame     Where = "on the same server"
	WhereSelected Where = "on a server that is selected anew"
	WhereAnother  Where = "on another mongos if there is one, else on the same"
	WhereMember   Where = "on another member that matches the read preference"
	WhereBalancer Where = "through the load balancer again"
)

// Delay is the delay before the next attempt.
type Delay string

// The delays.
const (
	DelayNone       Delay = ""
	DelayAtOnce     Delay = "at once"
	DelayOverload   Delay = "after a random delay below min(10 s, 100 ms x 2^n), n being the number of the retry"
	DelayController Delay = "after 1, 10, 50, 100, 500, 1000, 1000, ... ms"
	DelayBestEffort Delay = "after a random delay between 1 ms and min(500 ms, 2^n ms), n being the number of the retry"
)

// Verdict is the answer for one case.
type Verdict struct {
	Rule    Rule `json:"rule"`
	Retried bool `json:"retried"`
	// Attempts is the largest number of attempts if the failure does not go away. It is 0 if UntilDeadline is true: then only the deadline
	// of the operation limits them.
	Attempts      int   `json:"attempts"`
	UntilDeadline bool  `json:"until_deadline"`
	Where         Where `json:"where,omitempty"`
	Delay         Delay `json:"delay,omitempty"`
	// StopReason is why there is no further attempt if the failure does not go away.
	StopReason retry.StopReason `json:"-"`
}

// refused is the verdict that there is no retry.
func refused(rule Rule, stop retry.StopReason) Verdict {
	return Verdict{Rule: rule, Attempts: 1, StopReason: stop}
}
