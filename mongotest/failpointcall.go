package mongotest

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
)

// The fail points that there are.
const (
	// FailCommand acts before a command is executed, or on its reply.
	FailCommand = failpoint.Command // "failCommand"
	// FailWrite acts when a retryable write has written, and counts the documents that it wrote: it closes the connection. With an
	// error code, the document on which it acts and those after it are not written.
	FailWrite = failpoint.Write // "onPrimaryTransactionalWrite"
	// FailGetMore makes a getMore fail that has found its cursor, which is then gone.
	FailGetMore = failpoint.GetMore // "failGetMoreAfterCursorCheckout"
	// AlwaysTimeOut makes a command with a maxTimeMS fail with error 50, also a getMore of a cursor whose command had one.
	AlwaysTimeOut = failpoint.AlwaysTimeOut // "maxTimeAlwaysTimeOut"
	// NeverTimeOut makes the maxTimeMS of commands have no effect.
	NeverTimeOut = failpoint.NeverTimeOut // "maxTimeNeverTimeOut"
	// StopReplication keeps a secondary from fetching entries of the oplog as long as it is set.
	StopReplication = failpoint.StopReplication // "stopReplProducer"
)

// FailPoint is what the command configureFailPoint tells a member: the same engine does it, and either way replaces and ends
// what the other has set.
type FailPoint struct {
	// Name is FailCommand, also if it is empty, or another of the fail points that there are.
	Name string
	// Times is how often it acts, always if it is 0, after it has let Skip commands pass.
	Times, Skip int
	// Probability is that of acting where it would, above 0 and up to 1; 1 if it is 0.
	Probability float64

	// Commands are the commands that FailCommand concerns, by any of their names; of these, only those of clients that named
	// themselves AppName in their handshake, and only those on Namespace, where these are not empty.
	Commands           []string
	AppName, Namespace string
	// Block is waited before the command is executed or fails.
	Block time.Duration
	// CloseConnection closes the connection in place of an answer.
	CloseConnection bool
	// ErrorCode is answered, if it is not 0, in place of executing.
	ErrorCode int32
	// ErrorLabels are the labels of the error; if they are nil, those that the server would put on.
	ErrorLabels []string
	// WriteConcernError, if it is not nil, is put into the reply of a command that is executed all the same.
	WriteConcernError *CommandError
}

// SetFailPoint sets a fail point of a member, which has one of each name. A member that restarts has none.
func (rs *Deployment) SetFailPoint(member int, f FailPoint) error {
	m, err := rs.memberAt("SetFailPoint", member)
	if err != nil {
		return err
	}
	p, err := f.compile()
	if err != nil {
		return err
	}
	name := f.Name
	if name == "" {
		name = failpoint.Command
	}
	rs.cluster.SetFailPoint(m.Points, name, p)
	return nil
}

// ClearFailPoint ends a member's fail point of a name, if there is one.
func (rs *Deployment) ClearFailPoint(member int, name string) {
	m := orPanic(rs.memberAt("ClearFailPoint", member))
	rs.cluster.SetFailPoint(m.Points, name, nil)
}

func (f *FailPoint) compile() (*failpoint.Point, error) {
	switch {
	case f.Name != "" && !call.IsFailPoint(f.Name):
		return nil, fmt.Errorf("mongotest: the fail point %q is not supported", f.Name)
	case f.Times < 0 || f.Skip < 0 || f.Block < 0:
		return nil, fmt.Errorf("mongotest: Times %d, Skip %d and Block %v of a fail point must not be negative", f.Times, f.Skip, f.Block)
	case !(f.Probability >= 0 && f.Probability <= 1):
		return nil, fmt.Errorf("mongotest: the Probability %v of a fail point is not between 0 and 1", f.Probability)
	}
	p := &failpoint.Point{
		Times: -1, Skip: int64(f.Skip), Probability: f.Probability,
		Commands: make(map[string]bool), AppName: f.AppName, Namespace: f.Namespace,
		Code: f.ErrorCode, HasCode: f.ErrorCode != 0, Closes: f.CloseConnection, Block: f.Block, Labels: f.ErrorLabels,
	}
	if f.Times > 0 {
		p.Times = int64(f.Times)
	}
	for _, name := range f.Commands {
		if call.Specs[name] == nil {
			return nil, fmt.Errorf("mongotest: SetFailPoint: there is no command %q", name)
		}
		p.Commands[fields.NewestName(name)] = true
	}
	if e := f.WriteConcernError; e != nil {
		at, dst := wire.BeginDocument(nil)
		dst = wire.AppendInt32(dst, "code", e.Code)
		dst = wire.AppendString(dst, "codeName", e.name())
		p.WriteConcernError = wire.EndDocument(wire.AppendString(dst, "errmsg", e.Message), at)
	}
	return p, nil
}
