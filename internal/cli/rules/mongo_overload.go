package rules

import "github.com/holdfast-db/holdfast/retry"

// overloaded reports whether the failure has both overload labels, from the server or from the client.
func (c *MongoCase) overloaded() bool {
	f := &c.Failure
	return f.Kind == MongoConnect || f.Kind == MongoReply && f.has(labelOverloaded) && f.has(labelRetryable)
}

// overloadAllowed reports whether the options allow the retries of overload errors.
func (c *MongoCase) overloadAllowed() bool { return !c.Off || c.Operation.kind == mongoEnd }

// overload returns the verdict for an overload error.
func (c *MongoCase) overload() Verdict {
	v := Verdict{
		Rule: mongoOverload, Retried: true, Attempts: 1 + maxAdaptiveRetries, Where: c.where(), Delay: DelayOverload, StopReason: retry.StopAttemptsUsed,
	}
	if c.Failure.Kind == MongoConnect {
		v.Rule = mongoConnect
	}
	return v
}
