package rules

import "github.com/holdfast-db/holdfast/retry"

// maxAdaptiveRetries is the default of that option.
const maxAdaptiveRetries = 2

// MongoCase is a failed attempt of a MongoDB operation.
type MongoCase struct {
	Operation MongoOperation
	Failure   MongoFailure
	Server    MongoServer
	Before44  bool // the servers are older than MongoDB 4.4, and do not add the label RetryableWriteError

	Off            bool // retryReads=false and retryWrites=false
	InTransaction  bool // the operation belongs to a transaction; its end does not
	Deadline       bool // the operation has a deadline
	Unacknowledged bool // w: 0
	InRequest      bool // the operation belongs to a request of the client
}

// Verdict returns the verdict for the case.
func (c *MongoCase) Verdict() Verdict {
	stop, rule := c.refusal()
	switch {
	case c.Failure.Kind == MongoCancelled:
		return refused(mongoCancelled, retry.StopCancelled)
	case c.Failure.Kind == MongoNoServer:
		return refused(mongoSelectFirst, retry.StopNoServer)
	case c.overloaded() && !c.overloadAllowed():
		return refused(mongoDisabled, stop)
	case c.overloaded() && !c.moves():
		return c.overload()
	case !c.retryable() && !c.moves():
		return refused(c.notRetryable(), retry.StopNotRetryable)
	case stop != retry.StopNone:
		return refused(rule, stop)
	case c.moves():
		return c.move()
	}
	return c.again()
}

// refusal returns why operations of this kind, on this server and with these options, are retried for overload only, and the rule for
// it. It is retry.StopNone if they are retried.
func (c *MongoCase) refusal() (retry.StopReason, Rule) {
	switch o := &c.Operation; {
	case !o.listed || c.Unacknowledged:
		return retry.StopNotRetryable, c.unlisted()
	case c.InTransaction:
		return retry.StopInTransaction, mongoTransaction
	case o.kind == mongoEnd:
		return retry.StopNone, mongoEnding
	case c.Off:
		return retry.StopDisabled, mongoDisabled
	case o.kind == mongoWrite && (c.Server == Standalone || c.Server == WithoutSessions):
		return retry.StopUnsupportedServer, mongoUnsupported
	}
	return retry.StopNone, Rule{}
}

// unlisted returns the rule for an operation that the specifications do not list.
func (c *MongoCase) unlisted() Rule {
	switch {
	case c.Operation.kind == mongoCommand:
		return mongoGeneric
	case c.Operation.kind == mongoRead:
		return mongoReadsNever
	case c.Unacknowledged:
		return mongoUnacknowledged
	default:
		return mongoWritesNever
	}
}

// retryable reports whether the failure is one for which an operation of this kind is retried.
func (c *MongoCase) retryable() bool {
	switch c.Failure.Kind {
	case MongoNetwork, MongoPoolCleared:
		return true
	case MongoHandshake:
		return retryableCode(c.Failure.Code)
	case MongoReply:
		return c.Operation.kind == mongoRead && retryableCode(c.Failure.Code) || c.labelled()
	case MongoWriteConcern:
		return c.labelled()
	case MongoWriteErrors, MongoConnect, MongoNoServer, MongoCancelled:
		return false
	}
	return false
}

// notRetryable returns the rule by which the failure is none that is retried.
func (c *MongoCase) notRetryable() Rule {
	switch {
	case c.Failure.Kind == MongoWriteErrors:
		return mongoWriteErrors
	case c.Operation.kind == mongoCommand:
		return mongoGeneric
	case c.Operation.kind == mongoRead:
		return mongoReadCode
	default:
		return mongoWriteLabel
	}
}

// again returns the verdict for a failure that is retried.
func (c *MongoCase) again() Verdict {
	rule := mongoWrites
	switch c.Operation.kind {
	case mongoRead:
		rule = mongoReads
	case mongoEnd:
		rule = mongoEnding
	case mongoWrite, mongoCommand:
	}
	v := Verdict{Rule: rule, Retried: true, Attempts: 2, Where: c.where(), Delay: DelayAtOnce, StopReason: retry.StopAttemptsUsed}
	switch {
	case c.inRequest():
		v.Rule = mongoRequest
	case c.Deadline:
		v.Rule, v.Attempts, v.UntilDeadline, v.StopReason = mongoDeadline, 0, true, retry.StopDeadlineWouldPass
	}
	return v
}

// where returns the server of the next attempt.
func (c *MongoCase) where() Where {
	switch {
	case c.Server == LoadBalanced:
		return WhereBalancer
	case c.Operation.pinned, c.Server == Standalone, c.Server == Sharded && (c.InTransaction || c.staysPinned()):
		return WhereSame
	case c.Server == Sharded:
		return WhereAnother
	default:
		return WhereSelected
	}
}

// staysPinned reports whether the next commit goes to the mongos of the transaction: only an answer of an overloaded server that has no
// label RetryableWriteError says for certain that nothing was committed.
func (c *MongoCase) staysPinned() bool {
	refusedIt := c.Failure.Kind == MongoReply && c.overloaded()
	return c.Operation.Name == "commitTransaction" && refusedIt && !c.Failure.has(labelRetryableWrite) && !c.ServerLabels()
}
