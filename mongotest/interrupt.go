package mongotest

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

// evaluation is what a command's evaluation has taken so far.
type evaluation struct {
	work   *query.Work          // nil before the connection's first evaluation
	endsBy time.Time            // zero if it may take as long as it wants
	looked time.Time            // when it last looked, zero before the first time
	listed *currentop.Operation // nil as long as it was short
	ended  error                // why it may not go on
	lock   lockState            // what it does with the set's mutex
	script *javascript.Engine   // nil before the command's first script
}

func (e *evaluation) reset() {
	*e = evaluation{work: e.work}
	if e.work != nil {
		e.work.Restart()
	}
}

// work returns what the evaluation of the command asks whether it may go on.
func (x *call) work() *query.Work {
	if x.evaluation.work == nil {
		x.evaluation.work = query.NewWork(x.checkInterrupt)
	}
	return x.evaluation.work
}

// engine returns the engine that runs the command's scripts.
func (x *call) engine() *javascript.Engine {
	e := &x.evaluation
	if e.script == nil {
		e.script = &javascript.Engine{Work: x.work(), MayWait: func() bool { return !e.lock.locked }}
	}
	return e.script
}

// checkInterrupt returns why the evaluation must end, nil if it may go on.
func (x *call) checkInterrupt() error {
	x.evaluation.ended = x.interrupted()
	return x.evaluation.ended
}

func (x *call) interrupted() error {
	e, now := &x.evaluation, time.Now()
	switch {
	case !e.endsBy.IsZero() && !now.Before(e.endsBy):
		return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	case x.heldTooLong(now):
		return errHeldTooLong
	case now.Sub(e.looked) < pollInterval:
		return nil
	}
	first := e.looked.IsZero()
	e.looked = now
	letOthersPoll()
	if first {
		return nil
	}
	if e.listed == nil {
		e.listed = &currentop.Operation{ID: x.result.id, Description: x.operation()}
		x.client.cluster.running.Add(e.listed)
	}
	switch {
	case x.client.gone() || x.client.left():
		return errHangUp
	case e.listed.Killed():
		return mongoerr.Errorf(mongoerr.Interrupted, "operation was interrupted")
	}
	return nil
}

// evaluated ends the listing of the command, if it took so long that it was listed.
func (x *call) evaluated() {
	if op := x.evaluation.listed; op != nil {
		x.client.cluster.running.Remove(op)
		x.evaluation.listed = nil
	}
}

// operation describes the command itself.
func (x *call) operation() []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "type", "op")
	dst = wire.AppendString(dst, "host", x.client.process.Addr)
	dst = wire.AppendInt64(dst, "connectionId", x.client.id)
	dst = wire.AppendBool(dst, "active", true)
	dst = wire.AppendInt32(dst, "opid", x.result.id)
	dst = wire.AppendString(dst, "op", "command")
	dst = wire.AppendString(dst, "ns", cmp.Or(x.command.full, "admin.$cmd.aggregate"))
	dst = wire.AppendDocument(dst, "command", x.command.raw)
	return wire.EndDocument(dst, at)
}
