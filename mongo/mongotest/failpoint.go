package mongotest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/configureFailPoint/ (a test command, which mongod has behind
// enableTestCommands)

// The fail points that there are.
const (
	// FailCommand acts before a command is executed, or on its reply.
	FailCommand = "failCommand"
	// FailWrite acts when a retryable write or a transaction's commit has written: it closes the connection, and with an
	// error code what was written is undone.
	FailWrite = "onPrimaryTransactionalWrite"
	// FailGetMore makes a getMore fail that has found its cursor, which is then gone.
	FailGetMore = "failGetMoreAfterCursorCheckout"
)

// failPoint is one of a member's fail points.
type failPoint struct {
	times       int64   // how often it still acts; -1 for always
	skip        int64   // how many commands it lets pass first
	probability float64 // of acting where it would; 0 means 1

	commands          map[string]bool
	appName           string
	namespace         string
	code              Code
	hasCode           bool
	closes            bool
	block             time.Duration
	labels            []string // nil if not given
	writeConcernError []byte
}

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
	p := &failPoint{times: -1, commands: make(map[string]bool)}
	off := true
	for i := range x.command.args {
		e := &x.command.args[i]
		var err error
		switch string(e.Key) {
		case "mode":
			off, err = p.mode(e)
		case "data":
			err = p.data(e)
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
		delete(x.conn.server.points, name)
	} else {
		x.conn.server.points[name] = p
	}
	return nil
}

// mode reads "off", "alwaysOn" or {times, skip, activationProbability}, and reports whether it was off.
func (p *failPoint) mode(e *wire.Element) (bool, error) {
	switch string(e.Text()) {
	case "off":
		return true, nil
	case "alwaysOn":
		return false, nil
	}
	doc := e.Document()
	if doc == nil {
		return false, mongoerr.Errorf(mongoerr.BadValue, "the mode of a fail point must be 'off', 'alwaysOn' or a document")
	}
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) == "activationProbability" {
			if err := p.activation(&it.Element); err != nil {
				return false, err
			}
			continue
		}
		n, ok := it.Int64()
		if !ok || n < 0 {
			return false, mongoerr.Errorf(mongoerr.BadValue, "the mode's '%s' must be a number that is not negative", it.Key)
		}
		switch string(it.Key) {
		case "times":
			p.times = n
		case "skip":
			p.skip = n
		default:
			return false, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the mode '%s' of a fail point is not supported", it.Key)
		}
	}
	return p.times == 0, it.Err
}

func (p *failPoint) activation(e *wire.Element) error {
	v := query.Of(*e)
	if v.Type != bson.TypeDouble {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "activationProbability must be a double")
	}
	p.probability = math.Float64frombits(binary.LittleEndian.Uint64(v.Data))
	if !(p.probability >= 0 && p.probability <= 1) {
		return mongoerr.Errorf(mongoerr.BadValue, "activationProbability must be between 0.0 and 1.0; found %v", p.probability)
	}
	if p.probability == 0 {
		p.times = 0
	}
	return nil
}

func (p *failPoint) data(e *wire.Element) error {
	doc := e.Document()
	if doc == nil {
		return fields.WrongType("configureFailPoint", "data", e.Type, "object")
	}
	if err := query.CheckDocument(doc); err != nil {
		return err
	}
	it := wire.Elements(append([]byte(nil), doc...))
	for it.Next() {
		if err := p.datum(&it.Element); err != nil {
			return err
		}
	}
	return it.Err
}

func (p *failPoint) datum(e *wire.Element) error {
	n, _ := e.Int64()
	switch string(e.Key) {
	case "failCommands":
		for _, name := range query.Elements(e.Value) {
			p.commands[fields.NewestName(string(name.Text()))] = true
		}
	case "errorCode", "failBeforeCommitExceptionCode":
		p.code, p.hasCode = Code(n), true
	case "closeConnection":
		p.closes = e.True()
	case "blockConnection":
		if !e.True() {
			p.block = -1
		}
	case "blockTimeMS":
		if p.block >= 0 {
			p.block = time.Duration(n) * time.Millisecond
		}
	case "errorLabels":
		p.labels = []string{}
		for _, label := range query.Elements(e.Value) {
			p.labels = append(p.labels, string(label.Text()))
		}
	case "writeConcernError":
		p.writeConcernError = e.Document()
	case "appName":
		p.appName = string(e.Text())
	case "namespace":
		p.namespace = string(e.Text())
	case "failInternalCommands", "failLocalClients":
	default:
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the datum '%s' of failCommand is not supported", e.Key)
	}
	return nil
}

// failPoint does what the member's fail point says about the command in hand.
func (x *exec) failPoint() (pointAction, error) {
	rs := x.conn.set
	rs.mu.Lock()
	p := x.conn.server.points[FailCommand]
	if p == nil || !p.concerns(x) || !p.take() {
		rs.mu.Unlock()
		return pointAction{}, nil
	}
	rs.mu.Unlock()
	if sleep(x.conn.done, p.block) != nil {
		return pointAction{}, errHangUp
	}
	action := pointAction{p.writeConcernError, p.labels}
	switch {
	case p.closes:
		return action, errHangUp
	case p.hasCode:
		return action, mongoerr.Errorf(p.code, "Failing command via 'failCommand' failpoint")
	}
	return action, nil
}

func (p *failPoint) concerns(x *exec) bool {
	switch {
	case x.conn.direct || x.command.name == "configureFailPoint" || !p.commands[fields.NewestName(x.command.name)]:
		return false
	case p.appName != "" && p.appName != x.conn.appName:
		return false
	}
	coll := x.command.first
	if x.command.name == "getMore" {
		coll = x.arg("collection")
	}
	return p.namespace == "" || coll.Type == bson.TypeString && p.namespace == x.command.db+"."+string(coll.Text())
}

// take counts a command down and reports whether the fail point acts on it. It is called with the set's mutex held.
func (p *failPoint) take() bool {
	switch {
	case p.skip > 0:
		p.skip--
		return false
	case p.times == 0, p.probability > 0 && rand.Float64() >= p.probability:
		return false
	case p.times > 0:
		p.times--
	}
	return true
}

// failWriteLocked does what the fail point for writes says about what has been written since an index of the oplog.
func (x *exec) failWriteLocked(since int64) error {
	m := x.conn.member
	p := m.points[FailWrite]
	if p == nil || !x.command.hasTxn || m.data.Log.Last() == since || !p.take() {
		return nil
	}
	if p.hasCode {
		m.takeBackLocked(since)
	}
	return errHangUp
}

// failGetMoreLocked does what the fail point for getMore says about a cursor that was found.
func (x *exec) failGetMoreLocked(c *cursor) error {
	p := x.conn.server.points[FailGetMore]
	if p == nil {
		p = x.conn.member.points[FailGetMore] // of the member behind a mongos
	}
	if p == nil || !p.take() {
		return nil
	}
	delete(x.conn.member.cursors, c.id)
	code := Code(96) // OperationFailed
	if p.hasCode {
		code = p.code
	}
	return mongoerr.Errorf(code, "Failing getMore via 'failGetMoreAfterCursorCheckout' failpoint")
}
