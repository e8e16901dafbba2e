package mongotest

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// awaitWriteConcern waits until the write concern of the applied writes is satisfied, or notes in writeError why not.
func (x *call) awaitWriteConcern() error {
	w, rs := &x.command.writeConcern, x.client.cluster
	rs.set.Lock()
	enough := rs.set.Standalone || w.ByNumber() && w.Members <= 1 || !w.Given && !rs.set.MajorityByDefault
	if !enough {
		x.result.writeError = x.unsatisfiableLocked(w)
		enough = x.result.writeError != nil
	}
	rs.set.Unlock()
	if enough {
		return nil
	}
	return x.awaitMembers(w)
}

// awaitMembers waits until as many members as asked for have the applied writes, or a new configuration has not that many.
func (x *call) awaitMembers(w *writeconcern.Concern) error {
	rs, m := x.client.cluster, x.client.member
	until := x.client.waiter.Until(func() bool {
		return x.interruptedLocked() || x.replicatedLocked() || x.unsatisfiableLocked(w) != nil
	})
	limit := x.limit()
	ownTime := w.Timeout > 0 && (limit < 0 || w.Timeout <= limit)
	if ownTime {
		limit = w.Timeout
	}
	rs.set.Lock()
	err := rs.set.AwaitLocked(until, x.client.done, limit)
	interrupted, gone := x.interruptedLocked(), x.client.epoch != m.Epoch
	if err == nil && !x.replicatedLocked() {
		x.result.writeError = x.unsatisfiableLocked(w)
	}
	rs.set.Unlock()
	switch {
	case gone || errors.Is(err, errHangUp):
		return errHangUp
	case interrupted:
		x.result.state = true
		x.result.writeError = mongoerr.Errorf(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	case err != nil && ownTime:
		x.result.writeError = mongoerr.Errorf(mongoerr.WriteConcernFailed, "waiting for replication timed out")
	case err != nil:
		x.result.writeError = mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return nil
}

// interruptedLocked reports whether the member is no longer the primary that applied the write.
func (x *call) interruptedLocked() bool {
	return x.client.epoch != x.client.member.Epoch || x.client.member.Role != replica.Primary || x.client.member.Term != x.result.term
}

func (x *call) unsatisfiableLocked(w *writeconcern.Concern) *mongoerr.Error {
	return w.Unsatisfiable(x.client.set.Modes, x.client.set.BearersLocked(replica.EveryMember))
}

func (x *call) replicatedLocked() bool {
	w, m := &x.command.writeConcern, x.client.member
	if w.ByNumber() {
		return m.CountLocked(x.result.applied) >= w.Members
	}
	if p, tagged := w.Pattern(x.client.set.Modes); tagged {
		return p.Met(x.client.set.BearersLocked(func(other *replica.Member) bool { return m.Matched[other.Index] >= x.result.applied }))
	}
	if w.CheckName(x.client.set.Modes) != nil {
		return false // a new configuration does not have the mode
	}
	return m.Commit >= x.result.applied || x.client.set.Mutant.AcknowledgeBeforeMajority
}

func (x *call) appendWriteConcernError() {
	e := x.result.writeError
	at, dst := wire.BeginEmbedded(x.result.out, "writeConcernError")
	dst = wire.AppendInt32(dst, "code", e.Code)
	name, message := x.client.set.Version.Express(e)
	dst = wire.AppendString(dst, "codeName", name)
	dst = wire.AppendString(dst, "errmsg", message)
	info, dst := wire.BeginEmbedded(dst, "errInfo")
	if e.Code == mongoerr.WriteConcernFailed {
		dst = wire.AppendBool(dst, "wtimeout", true)
	}
	dst = x.command.writeConcern.Append(dst, x.client.set.Version)
	x.result.out = wire.EndDocument(wire.EndDocument(dst, info), at)
}

// appendLabels writes the error labels of a reply that succeeded but for its write concern.
func (x *call) appendLabels(point pointAction) {
	code := int32(0)
	if x.result.writeError != nil {
		code = x.result.writeError.Code
	}
	if point.writeConcernError != nil {
		n, _ := query.Lookup(point.writeConcernError, "code").Integer()
		code = int32(n)
	}
	labels := point.labels
	if labels == nil && x.repeatable(code) {
		labels = []string{"RetryableWriteError"}
	}
	x.writeLabels(labels)
}

func (x *call) writeLabels(labels []string) {
	if len(labels) > 0 {
		x.result.out = wire.AppendStrings(x.result.out, "errorLabels", labels)
	}
}

// labelsOf returns the labels that the error of a command deserves.
func (x *call) labelsOf(code int32) []string {
	switch {
	case x.inTransaction() && (mongoerr.Is(code, mongoerr.Transient) || !x.ends() && mongoerr.Is(code, mongoerr.RetryableWrite)):
		return []string{"TransientTransactionError"}
	case x.repeatable(code):
		return []string{"RetryableWriteError"}
	case code == mongoerr.ChangeStreamFatalError || code == mongoerr.ChangeStreamHistoryLost:
		if x.client.set.Version.AtLeast(4, 2) {
			return []string{"NonResumableChangeStreamError"}
		}
	case x.client.set.Version.LabelsErrors() && x.watching() && mongoerr.Is(code, mongoerr.Resumable|mongoerr.RetryableWrite):
		return []string{"ResumableChangeStreamError"}
	}
	return nil
}

// ends reports whether the command ends a transaction. A command that the server does not know has no spec.
func (x *call) ends() bool { return x.command.spec != nil && x.command.spec.ends }

// repeatable reports whether the command is worth being repeated after an error: a retryable write, or the end of a transaction.
// A mongos does not say so of its own.
func (x *call) repeatable(code int32) bool {
	return x.client.router == nil && x.command.hasTxn && (!x.inTransaction() || x.ends()) && mongoerr.Is(code, mongoerr.RetryableWrite) &&
		x.client.set.Version.LabelsErrors()
}
