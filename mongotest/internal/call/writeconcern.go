package call

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// AwaitWriteConcern waits until the write concern of the applied writes is satisfied, or notes in writeError why not.
func (x *Call) AwaitWriteConcern() error {
	return WithLock(x, func(x Locked) error {
		w, rs := &x.Command.writeConcern, x.Client.Set
		if rs.Standalone || w.ByNumber() && w.Members <= 1 || !w.Given && !rs.MajorityByDefault {
			return nil
		}
		never := x.Unsatisfiable(w)
		if never == nil {
			return awaitMembers(x, w)
		}
		x.Result.ConcernError = never
		return nil
	})
}

// awaitFailed waits for the write concern of a command that tried to write and failed: what the error tells of must not be rolled back
// either. It returns the error of the command. https://jira.mongodb.org/browse/SERVER-25765
func (x *Call) awaitFailed(err error) error {
	code := mongoerr.CodeOf(err)
	interrupted := errors.Is(err, ErrHangUp) || code == mongoerr.MaxTimeMSExpired || code == mongoerr.Interrupted || mongoerr.Is(code, mongoerr.StateChange)
	if !x.Command.Spec.Write || x.Result.Applied < 0 || x.InTransaction() || interrupted {
		return err
	}
	if gone := x.AwaitWriteConcern(); gone != nil {
		return gone
	}
	return err
}

// awaitMembers waits until as many members as asked for have the applied writes, or a new configuration has not that many.
func awaitMembers(x Locked, w *writeconcern.Concern) error {
	m := x.Client.Member
	until := x.Client.waiter.Until(func() bool {
		return demoted(x) || replicated(x) || x.Unsatisfiable(w) != nil
	})
	limit := limit(x.Call)
	ownTime := w.Timeout > 0 && (limit < 0 || w.Timeout <= limit)
	if ownTime {
		limit = w.Timeout
	}
	err := x.Client.Set.AwaitLocked(until, x.Client.Done, limit)
	interrupted, gone := demoted(x), x.Client.Epoch != m.Epoch
	if err == nil && !replicated(x) {
		x.Result.ConcernError = x.Unsatisfiable(w)
	}
	switch {
	case gone || errors.Is(err, ErrHangUp):
		return ErrHangUp
	case interrupted:
		x.Result.State = true
		x.Result.ConcernError = mongoerr.Errorf(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	case err != nil && ownTime:
		x.Result.ConcernError = mongoerr.Errorf(mongoerr.WriteConcernFailed, "waiting for replication timed out")
	case err != nil:
		x.Result.ConcernError = mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return nil
}

// demoted reports whether the member is no longer the primary that applied the write.
func demoted(x Locked) bool {
	return x.Client.Epoch != x.Client.Member.Epoch || x.Client.Member.Role != replica.Primary || x.Client.Member.Term != x.Result.Term
}

// Unsatisfiable returns why the set cannot satisfy a write concern, nil if it can.
func (x Locked) Unsatisfiable(w *writeconcern.Concern) *mongoerr.Error {
	return w.Unsatisfiable(x.Client.Set.Modes, x.Client.Set.BearersLocked(replica.EveryMember))
}

func replicated(x Locked) bool {
	w, m := &x.Command.writeConcern, x.Client.Member
	if w.ByNumber() {
		return m.CountLocked(x.Result.Applied) >= w.Members
	}
	if p, tagged := w.Pattern(x.Client.Set.Modes); tagged {
		return p.Met(x.Client.Set.BearersLocked(func(other *replica.Member) bool { return m.Matched[other.Index] >= x.Result.Applied }))
	}
	if w.CheckName(x.Client.Set.Modes) != nil {
		return false // a new configuration does not have the mode
	}
	return m.Commit >= x.Result.Applied
}

func appendWriteConcernError(x *Call) {
	e := x.Result.ConcernError
	at, dst := wire.BeginEmbedded(x.Result.Out, "writeConcernError")
	dst = wire.AppendInt32(dst, "code", e.Code)
	name, message := x.Client.Set.Version.Express(e)
	dst = wire.AppendString(dst, "codeName", name)
	dst = wire.AppendString(dst, "errmsg", message)
	info, dst := wire.BeginEmbedded(dst, "errInfo")
	if e.Code == mongoerr.WriteConcernFailed {
		dst = wire.AppendBool(dst, "wtimeout", true)
	}
	dst = x.Command.writeConcern.Append(dst, x.Client.Set.Version)
	x.Result.Out = wire.EndDocument(wire.EndDocument(dst, info), at)
}
