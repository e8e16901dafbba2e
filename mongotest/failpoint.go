package mongotest

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

// The fail points that there are.
const (
	// FailCommand acts before a command is executed, or on its reply.
	FailCommand = "failCommand"
	// FailWrite acts when a retryable write has written, and counts the documents that it wrote: it closes the connection. With an
	// error code, the document on which it acts and those after it are not written.
	FailWrite = "onPrimaryTransactionalWrite"
	// FailGetMore makes a getMore fail that has found its cursor, which is then gone.
	FailGetMore = "failGetMoreAfterCursorCheckout"
	// AlwaysTimeOut makes a command with a maxTimeMS fail with error 50, also a getMore of a cursor whose command had one.
	AlwaysTimeOut = "maxTimeAlwaysTimeOut"
	// NeverTimeOut makes the maxTimeMS of commands have no effect.
	NeverTimeOut = "maxTimeNeverTimeOut"
	// StopReplication keeps a secondary from fetching entries of the oplog as long as it is set.
	StopReplication = "stopReplProducer"
)

// pointAction is what a fail point does to a command that is executed all the same, or to its reply.
type pointAction struct {
	writeConcernError []byte
	labels            []string
}

// failPoints are those of a server. The set's mutex guards them; whether there are any is read without it, so that a command that looks at no
// data waits for none that does.
type failPoints struct {
	byName map[string]*failpoint.Point
	exist  atomic.Bool
	member *replica.Member // whose they are, nil for a mongos'
}

func (f *failPoints) clear() {
	f.byName = make(map[string]*failpoint.Point)
	f.exist.Store(false)
}

// setLocked makes a fail point act, or none of its name if it is nil.
func (f *failPoints) setLocked(name string, p *failpoint.Point) {
	if p == nil {
		delete(f.byName, name)
	} else {
		f.byName[name] = p
	}
	f.exist.Store(len(f.byName) > 0)
	if f.member != nil && name == StopReplication {
		f.member.FetchesNone = p != nil
		f.member.Set.WakeLocked()
	}
}

// failPoint does what the member's fail point says about the current command.
func (x *call) failPoint() (pointAction, error) {
	rs, points := x.client.cluster, x.client.points
	if !points.exist.Load() {
		return pointAction{}, nil
	}
	rs.set.Lock()
	p := points.byName[FailCommand]
	if p == nil || !x.concernedBy(p) || !p.Take() {
		rs.set.Unlock()
		return pointAction{}, nil
	}
	rs.set.Unlock()
	if !testserver.Sleep(x.client.done, p.Block) {
		return pointAction{}, errHangUp
	}
	action := pointAction{p.WriteConcernError, p.Labels}
	switch {
	case p.Closes:
		return action, errHangUp
	case p.HasCode:
		return action, mongoerr.Errorf(p.Code, "Failing command via 'failCommand' failpoint")
	}
	return action, nil
}

// concernedBy reports whether a fail point is about the current command.
func (x *call) concernedBy(p *failpoint.Point) bool {
	switch {
	case x.client.direct || x.command.name == "configureFailPoint" || !p.Commands[fields.NewestName(x.command.name)]:
		return false
	case p.AppName != "" && p.AppName != x.appName(), p.Thread != "" && p.Thread != fmt.Sprintf("conn%d", x.client.id):
		return false
	}
	coll := x.command.first
	if x.command.name == "getMore" {
		coll = x.arg("collection")
	}
	return p.Namespace == "" || coll.Type == bson.TypeString && p.Namespace == x.command.db+"."+string(coll.Text())
}

// appName returns the application's name. From 4.4.7 on a fail point reads it from the first hello, before the command runs.
func (x *call) appName() string {
	if fields.NewestName(x.command.name) == "hello" && x.client.set.Version.Has(version.Of(4, 4, 7)) {
		if client := x.arg("client"); client.IsDocument() {
			name := query.Lookup(query.Lookup(client.Data, "application").Data, "name")
			return string(name.Text())
		}
	}
	return x.client.appName
}

// failWriteLocked does what the fail point for writes says about the documents that a retryable write has written since it took the mutex.
func (x *call) failWriteLocked() error {
	m, h := x.client.member, &x.evaluation.lock
	since := h.from
	h.from = m.Data.Log.Last()
	p := m.points.byName[FailWrite]
	if p == nil || !x.command.hasTxn {
		return nil
	}
	for at := since + 1; at <= m.Data.Log.Last(); at++ {
		if m.Data.Log.At(at).Session == nil || !p.Take() {
			continue
		}
		h.cut = h.cut || !p.Stays
		if p.HasCode {
			m.RollbackLocked(at - 1)
			h.from = at - 1
			return mongoerr.Errorf(p.Code, "Failing write for %s:%d due to failpoint. The write must not be reflected.",
				sessionName(x.command.lsid), x.command.txn)
		}
	}
	return nil
}

// pointLocked returns the fail point of a name that the server has, or the member behind a mongos; nil if there is none.
func (x *call) pointLocked(name string) *failpoint.Point {
	p := x.client.points.byName[name]
	if p == nil && x.client.member != nil {
		p = x.client.member.points.byName[name]
	}
	return p
}

func isFailPoint(name string) bool {
	switch name {
	case FailCommand, FailWrite, FailGetMore, AlwaysTimeOut, NeverTimeOut, StopReplication:
		return true
	}
	return false
}
