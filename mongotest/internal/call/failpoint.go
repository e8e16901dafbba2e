package call

import (
	"fmt"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/command/configureFailPoint/ (a test command, which mongod has behind
// enableTestCommands)

// PointAction is what a fail point does to a command that is executed all the same, or to its reply.
type PointAction struct {
	writeConcernError []byte
	labels            []string
}

// FailPoints are those of a server. The set's mutex guards them; whether there are any is read without it, so that a command that looks at no
// data waits for none that does.
type FailPoints struct {
	byName map[string]*failpoint.Point
	exist  atomic.Bool
	Member *replica.Member // whose they are, nil for a mongos'
}

// Clear ends all fail points.
func (f *FailPoints) Clear() {
	f.byName = make(map[string]*failpoint.Point)
	f.exist.Store(false)
}

// SetFailPoint makes a fail point of a server act, or none of its name if it is nil.
func (rs *Cluster) SetFailPoint(f *FailPoints, name string, p *failpoint.Point) {
	rs.Set.Lock()
	defer rs.Set.Unlock()
	if p == nil {
		delete(f.byName, name)
	} else {
		f.byName[name] = p
	}
	f.exist.Store(len(f.byName) > 0)
	if f.Member != nil && name == failpoint.StopReplication {
		f.Member.FetchesNone = p != nil
		f.Member.Set.WakeLocked()
	}
}

// FailPoint does what the member's fail point says about the current command.
func (x *Call) FailPoint() (PointAction, error) {
	if !x.Client.Points.exist.Load() {
		return PointAction{}, nil
	}
	p := WithLock(x, commandPoint)
	if p == nil {
		return PointAction{}, nil
	}
	if !testserver.Sleep(x.Client.Done, p.Block) {
		return PointAction{}, ErrHangUp
	}
	action := PointAction{p.WriteConcernError, p.Labels}
	switch {
	case p.Closes:
		return action, ErrHangUp
	case p.HasCode:
		return action, mongoerr.Errorf(p.Code, "Failing command via 'failCommand' failpoint")
	}
	return action, nil
}

// commandPoint returns the fail point for commands if it acts on this one, nil if not.
func commandPoint(x Locked) *failpoint.Point {
	p := x.Client.Points.byName[failpoint.Command]
	if p == nil || !concernedBy(x.Call, p) || !p.Take() {
		return nil
	}
	return p
}

// concernedBy reports whether a fail point is about the current command.
func concernedBy(x *Call, p *failpoint.Point) bool {
	switch {
	case x.Client.Direct || x.Command.Name == "configureFailPoint" || !p.Commands[fields.NewestName(x.Command.Name)]:
		return false
	case p.AppName != "" && p.AppName != appName(x), p.Thread != "" && p.Thread != fmt.Sprintf("conn%d", x.Client.ID):
		return false
	}
	coll := x.Command.First
	if x.Command.Name == "getMore" {
		coll = x.Arg("collection")
	}
	return p.Namespace == "" || coll.Type == bson.TypeString && p.Namespace == x.Command.DB+"."+string(coll.Text())
}

// appName returns the application's name. From 4.4.7 on a fail point reads it from the first hello, before the command runs.
func appName(x *Call) string {
	if fields.NewestName(x.Command.Name) == "hello" && x.Client.Set.Version.Has(version.Of(4, 4, 7)) {
		if client := x.Arg("client"); client.IsDocument() {
			name := query.Lookup(query.Lookup(client.Data, "application").Data, "name")
			return string(name.Text())
		}
	}
	return x.Client.AppName
}

// failWrite does what the fail point for writes says about the documents that a retryable write has written since it took the mutex.
func failWrite(x Locked) error {
	m, h := x.Client.Member, &x.Evaluation.lock
	since := h.logEnd
	h.logEnd = m.Data.Log.Last()
	p := m.Points.byName[failpoint.Write]
	if p == nil || !x.Command.HasTxn {
		return nil
	}
	for at := since + 1; at <= m.Data.Log.Last(); at++ {
		if m.Data.Log.At(at).Session == nil || !p.Take() {
			continue
		}
		h.cut = h.cut || !p.Stays
		if p.HasCode {
			m.RollbackLocked(at - 1)
			h.logEnd = at - 1
			return mongoerr.Errorf(p.Code, "Failing write for %s:%d due to failpoint. The write must not be reflected.",
				sessionName(x.Command.LSID), x.Command.Txn)
		}
	}
	return nil
}

// Point returns the fail point of a name that the server has, or the member behind a mongos; nil if there is none.
func (x Locked) Point(name string) *failpoint.Point {
	p := x.Client.Points.byName[name]
	if p == nil && x.Client.Member != nil {
		p = x.Client.Member.Points.byName[name]
	}
	return p
}

// IsFailPoint reports whether there is a fail point of a name.
func IsFailPoint(name string) bool {
	switch name {
	case failpoint.Command, failpoint.Write, failpoint.GetMore, failpoint.AlwaysTimeOut, failpoint.NeverTimeOut, failpoint.StopReplication:
		return true
	}
	return false
}
