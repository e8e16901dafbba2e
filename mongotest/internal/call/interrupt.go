package call

import (
	"cmp"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// pollInterval is how often an evaluation looks whether its client is there and nobody has killed it.
const pollInterval = 10 * time.Millisecond

// Evaluation is what a command's evaluation has taken so far.
type Evaluation struct {
	work   *query.Work          // nil before the connection's first evaluation
	EndsBy time.Time            // zero if it may take as long as it wants
	looked time.Time            // when it last looked, zero before the first time
	listed *currentop.Operation // nil as long as it was short
	Ended  error                // why it may not go on
	lock   lockState            // what it does with the set's mutex
	script *javascript.Engine   // nil before the command's first script
}

// Reset begins the evaluation of another command.
func (e *Evaluation) Reset() {
	*e = Evaluation{work: e.work}
	if e.work != nil {
		e.work.Restart()
	}
}

// Work returns what the evaluation of the command asks whether it may go on.
func (x *Call) Work() *query.Work {
	if x.Evaluation.work == nil {
		x.Evaluation.work = query.NewWork(func() error { return checkInterrupt(x) })
	}
	return x.Evaluation.work
}

// Engine returns the engine that runs the command's scripts.
func (x *Call) Engine() *javascript.Engine {
	e := &x.Evaluation
	if e.script == nil {
		e.script = &javascript.Engine{Work: x.Work(), MayWait: func() bool { return !e.lock.locked }}
	}
	return e.script
}

// checkInterrupt returns why the evaluation must end, nil if it may go on.
func checkInterrupt(x *Call) error {
	x.Evaluation.Ended = interrupted(x)
	return x.Evaluation.Ended
}

func interrupted(x *Call) error {
	e, now := &x.Evaluation, time.Now()
	switch {
	case !e.EndsBy.IsZero() && !now.Before(e.EndsBy):
		return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	case heldTooLong(x, now):
		return errHeldTooLong
	case now.Sub(e.looked) < pollInterval:
		return nil
	}
	first := e.looked.IsZero()
	e.looked = now
	LetOthersPoll()
	if first {
		return nil
	}
	if e.listed == nil {
		e.listed = &currentop.Operation{ID: x.Result.ID, Description: x.Operation()}
		x.Client.Cluster.Running.Add(e.listed)
	}
	switch {
	case x.Client.gone() || x.Client.left():
		return ErrHangUp
	case e.listed.Killed():
		return mongoerr.Errorf(mongoerr.Interrupted, "operation was interrupted")
	}
	return nil
}

// Evaluated ends the listing of the command, if it took so long that it was listed.
func (x *Call) Evaluated() {
	if op := x.Evaluation.listed; op != nil {
		x.Client.Cluster.Running.Remove(op)
		x.Evaluation.listed = nil
	}
}

// Operation describes the command itself.
func (x *Call) Operation() []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "type", "op")
	dst = wire.AppendString(dst, "host", x.Client.Process.Addr)
	dst = wire.AppendInt64(dst, "connectionId", x.Client.ID)
	dst = wire.AppendBool(dst, "active", true)
	dst = wire.AppendInt32(dst, "opid", x.Result.ID)
	dst = wire.AppendString(dst, "op", "command")
	dst = wire.AppendString(dst, "ns", cmp.Or(x.Command.Full, "admin.$cmd.aggregate"))
	dst = wire.AppendDocument(dst, "command", x.Command.Raw)
	return wire.EndDocument(dst, at)
}
