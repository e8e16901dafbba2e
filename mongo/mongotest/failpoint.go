package mongotest

import (
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/command/configureFailPoint/ (a test command, which mongod has behind
// enableTestCommands)

// The fail points that there are.
const (
	// FailCommand acts before a command is executed, or on its reply.
	FailCommand = "failCommand"
	// FailWrite acts when a retryable write or a transaction's commit has written: it closes the connection, and with an
	// error code the writes are undone.
	FailWrite = "onPrimaryTransactionalWrite"
	// FailGetMore makes a getMore fail that has found its cursor, which is then gone.
	FailGetMore = "failGetMoreAfterCursorCheckout"
)

// pointAction is what a fail point does to a command that is executed all the same, or to its reply.
type pointAction struct {
	writeConcernError []byte
	labels            []string
}

func cmdConfigureFailPoint(x *exec) error {
	if x.command.db != "admin" {
		return mongoerr.Errorf(mongoerr.Unauthorized, "configureFailPoint may only be run against the admin database.")
	}
	name := string(x.command.first.Text())
	if !isFailPoint(name) {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the fail point '%s' is not supported", name)
	}
	p := failpoint.New()
	off := true
	for i := range x.command.args {
		e := &x.command.args[i]
		var err error
		switch string(e.Key) {
		case "mode":
			off, err = p.Mode(e)
		case "data":
			err = p.Data(e)
		default:
			err = fields.Unknown(x.command.name, string(e.Key))
		}
		if err != nil {
			return err
		}
	}
	x.conn.set.mu.Lock()
	defer x.conn.set.mu.Unlock()
	if off {
		p = nil
	}
	x.conn.server.points.set(name, p)
	return nil
}

// failPoints are those of a server. The set's mutex guards them; whether there are any is read without it, so that a command that looks at no
// data waits for none that does.
type failPoints struct {
	byName map[string]*failpoint.Point
	exist  atomic.Bool
}

func (f *failPoints) clear() {
	f.byName = make(map[string]*failpoint.Point)
	f.exist.Store(false)
}

// set makes a fail point act, or none of its name if it is nil.
func (f *failPoints) set(name string, p *failpoint.Point) {
	if p == nil {
		delete(f.byName, name)
	} else {
		f.byName[name] = p
	}
	f.exist.Store(len(f.byName) > 0)
}

// failPoint does what the member's fail point says about the command in hand.
func (x *exec) failPoint() (pointAction, error) {
	if x.command.spec != nil && x.command.spec.greeting {
		x.noteClient() // the point may be about the application that says hello
	}
	rs, points := x.conn.set, &x.conn.server.points
	if !points.exist.Load() {
		return pointAction{}, nil
	}
	rs.mu.Lock()
	p := points.byName[FailCommand]
	if p == nil || !x.concernedBy(p) || !p.Take() {
		rs.mu.Unlock()
		return pointAction{}, nil
	}
	rs.mu.Unlock()
	if sleep(x.conn.done, p.Block) != nil {
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

// concernedBy reports whether a fail point is about the command in hand.
func (x *exec) concernedBy(p *failpoint.Point) bool {
	switch {
	case x.conn.direct || x.command.name == "configureFailPoint" || !p.Commands[fields.NewestName(x.command.name)]:
		return false
	case p.AppName != "" && p.AppName != x.appName():
		return false
	}
	coll := x.command.first
	if x.command.name == "getMore" {
		coll = x.arg("collection")
	}
	return p.Namespace == "" || coll.Type == bson.TypeString && p.Namespace == x.command.db+"."+string(coll.Text())
}

// appName returns the application's name. From 4.4.7 on a fail point reads it from the first hello, before the command runs.
func (x *exec) appName() string {
	if fields.NewestName(x.command.name) == "hello" && x.conn.set.config.version.Has(version.Of(4, 4, 7)) {
		if client := x.arg("client"); client.IsDocument() {
			name := query.Lookup(query.Lookup(client.Data, "application").Data, "name")
			return string(name.Text())
		}
	}
	return x.conn.appName
}

// failWriteLocked does what the fail point for writes says about the entries since an index of the oplog.
func (x *exec) failWriteLocked(since int64) error {
	m := x.conn.member
	p := m.points.byName[FailWrite]
	if p == nil || !x.command.hasTxn || m.data.Log.Last() == since || !p.Take() {
		return nil
	}
	if p.HasCode {
		m.takeBackLocked(since)
	}
	return errHangUp
}

// failGetMoreLocked does what the fail point for getMore says about a cursor that was found.
func (x *exec) failGetMoreLocked(c *cursor) error {
	p := x.conn.server.points.byName[FailGetMore]
	if p == nil {
		p = x.conn.member.points.byName[FailGetMore] // of the member behind a mongos
	}
	if p == nil || !p.Take() {
		return nil
	}
	delete(x.conn.member.cursors, c.id)
	code := mongoerr.OperationFailed
	if p.HasCode {
		code = p.Code
	}
	return mongoerr.Errorf(code, "Failing getMore via 'failGetMoreAfterCursorCheckout' failpoint")
}
