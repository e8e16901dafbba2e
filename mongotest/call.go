package mongotest

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/changes"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// call is a command that is being executed.
type call struct {
	client  *client // who sent it
	command command // what it is
	result  result  // what came of it so far

	evaluation evaluation // of its filters, expressions and pipelines
}

// memberIndex returns the index of the member that executes the command, -1 if a mongos does or has not yet chosen one.
func (x *call) memberIndex() int {
	if x.client.member == nil {
		return -1
	}
	return x.client.member.Index
}

// mongosIndex returns the index of the mongos that the command was sent to, -1 if it was sent to a member.
func (x *call) mongosIndex() int {
	if x.client.router == nil {
		return -1
	}
	return x.client.router.index
}

// answer executes the command and writes the reply's document, or the error's.
func (x *call) answer(err error) error {
	var point pointAction
	if err == nil {
		point, err = x.failPoint()
	}
	x.result.body, x.result.out = wire.BeginDocument(x.result.out)
	x.result.scripted = err != nil
	if err == nil {
		err = x.execute(point)
		x.evaluated()
		if errors.Is(x.evaluation.ended, errHangUp) {
			err = errHangUp
		}
	}
	if errors.Is(err, errHangUp) {
		x.record(0)
		return err
	}
	if err != nil {
		x.result.out = x.result.out[:x.result.body+4]
		x.writeFailure(mongoerr.From(err), point)
	}
	x.finish()
	x.result.out = wire.EndDocument(x.result.out, x.result.body)
	return nil
}

// perform runs the command, then waits for its write concern.
func (x *call) perform() error {
	x.applyDefaults()
	if err := x.timePoints(); err != nil {
		return err
	}
	began := time.Now()
	if x.command.maxTime > 0 && x.command.name != "getMore" { // there it is the time to wait
		x.evaluation.endsBy = began.Add(x.command.maxTime)
	}
	err := x.command.spec.run(x)
	x.use(began)
	if err != nil || x.result.refused {
		x.abandon()
	}
	if err != nil {
		return err
	}
	if x.client.gone() {
		return errHangUp
	}
	switch {
	case x.command.spec.write && x.result.applied >= 0:
		return x.awaitWriteConcern()
	case x.command.readConcern == linearizableConcern:
		return x.confirm()
	}
	return nil
}

// execute performs the command, by way of a member if this is a mongos, and says in the reply what became of it.
func (x *call) execute(point pointAction) error {
	perform := x.perform
	if x.client.router != nil && x.command.spec.place == atShard {
		perform = x.route
	}
	if err := perform(); err != nil {
		return err
	}
	if point.writeConcernError != nil {
		x.result.out = wire.AppendDocument(x.result.out, "writeConcernError", point.writeConcernError)
	} else if x.result.writeError != nil {
		x.appendWriteConcernError()
	}
	if x.result.wholeOK {
		x.result.out = wire.AppendInt32(x.result.out, "ok", 1)
	} else {
		x.result.out = wire.AppendDouble(x.result.out, "ok", 1)
	}
	x.appendLabels(point)
	return nil
}

// noteStatements begins an entry for each statement of the command.
func (x *call) noteStatements() {
	for _, s := range x.statements() {
		x.note(s.id, s.raw)
	}
}

// record puts the entries into the journal, if they are not there, and notes the command's error in them. A command on
// data that has none gets one.
func (x *call) record(code int32) {
	if x.command.spec == nil || x.command.spec.service {
		return
	}
	if !x.result.journaled && len(x.result.entries) == 0 {
		x.noteStatements()
	}
	if x.result.term == 0 && x.client.member != nil { // it neither wrote nor looked at data
		x.client.set.Lock()
		x.result.term = x.client.member.Term
		x.client.set.Unlock()
	}
	if x.result.journaled && code != 0 {
		x.client.cluster.journal.Mark(x.result.entries, func(e *journal.Entry) { e.ErrorCode = cmp.Or(e.ErrorCode, code) })
	}
	if !x.result.journaled {
		for _, e := range x.result.entries {
			e.ErrorCode = cmp.Or(e.ErrorCode, code)
		}
		x.addEntries()
	}
}

// addEntries puts the entries into the journal.
func (x *call) addEntries() {
	for _, e := range x.result.entries {
		e.Term = x.result.term
	}
	x.client.cluster.journal.Add(x.result.entries)
	x.result.journaled = true
}

// note begins a journal entry for one statement. It is called without the set's mutex, because JournalKey may take long.
func (x *call) note(stmt int32, raw []byte) *journal.Entry {
	e := x.client.cluster.journal.Allocate()
	e.Time = time.Now()
	e.Member, e.ConnID, e.RequestID = x.memberIndex(), x.client.id, x.command.requestID
	e.Command, e.Namespace = x.command.name, x.ns()
	e.StatementID, e.TxnNumber = stmt, -1
	if x.command.lsid != nil {
		e.LSID = sessionName(x.command.lsid)
	}
	if x.command.hasTxn {
		e.TxnNumber = x.command.txn
	}
	if raw != nil {
		e.Statement = bson.Raw(raw)
	}
	switch {
	case x.client.cluster.journalKey != nil:
		e.Key = x.client.cluster.journalKey(x.command.name, raw)
	case x.command.comment.Type == bson.TypeString:
		e.Key = string(x.command.comment.Text())
	}
	x.result.entries = append(x.result.entries, e)
	return e
}

// statements returns the parts of the command that the journal records one by one.
func (x *call) statements() []rawStatement {
	field := x.command.spec.statements
	if field == "" {
		return []rawStatement{{max(x.command.stmtID, 0), nil}}
	}
	docs, err := x.documents(field)
	if err != nil || len(docs) == 0 {
		return []rawStatement{{}}
	}
	list := make([]rawStatement, len(docs))
	for i, d := range docs {
		list[i] = rawStatement{x.statementID(i), slices.Clone(d)}
	}
	return list
}

type rawStatement struct {
	id  int32
	raw []byte
}

// watching reports whether the command reads a change stream.
func (x *call) watching() bool {
	if x.command.name != "aggregate" {
		return x.result.watches
	}
	stages := query.Lookup(x.command.raw, "pipeline")
	return stages.IsArray() && !query.Lookup(query.Lookup(stages.Data, "0").Data, changes.Stage).Missing()
}
