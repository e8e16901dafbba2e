package rules

import "github.com/holdfast-db/holdfast/retry"

// The nodes of a next attempt.
const (
	WhereOwner   Where = "on the node that has the document by then"
	WhereService Where = "on a node with the service"
)

// CouchbaseCase is a failed attempt of a Couchbase operation.
type CouchbaseCase struct {
	Operation CouchbaseOperation
	Reason    retry.Reason
	Declines  bool // the operation's strategy declines every retry; without it the strategy is best effort
}

// Verdict returns the verdict for the case.
func (c *CouchbaseCase) Verdict() Verdict {
	switch {
	case c.Reason == retry.ReasonUnknown:
		return refused(couchbaseFinal, retry.StopNotRetryable)
	case c.Reason.AlwaysRetry():
		return c.retried(DelayController)
	case c.Declines:
		return refused(couchbaseDeclined, retry.StopStrategyDeclined)
	case !c.Operation.idempotent && !c.Reason.AllowsNonIdempotentRetry():
		return refused(couchbaseNotIdempotent, retry.StopNotIdempotent)
	}
	return c.retried(DelayBestEffort)
}

func (c *CouchbaseCase) retried(delay Delay) Verdict {
	v := Verdict{Retried: true, UntilDeadline: true, Where: WhereService, Delay: delay, StopReason: retry.StopDeadlineWouldPass}
	if c.Operation.service == keyValue {
		v.Where = WhereOwner
	}
	for i := range reasonRules {
		if reasonRules[i].reason == c.Reason {
			v.Rule = reasonRules[i].rule()
		}
	}
	return v
}
