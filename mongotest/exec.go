package mongotest

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// exec is the execution of one message. A connection has one and uses it again and again.
type exec struct {
	conn    *conn   // over which it came
	command command // that it is
	result  result  // what came of it so far

	evaluation evaluation // of its filters, expressions and pipelines
}

// reset makes room for another message.
func (x *exec) reset() {
	if cap(x.result.out) > maxRetained {
		x.result.out = nil
	}
	x.command = x.command.next()
	x.result = x.result.again(0)
	x.evaluation.reset()
	if x.conn.mongos != nil {
		x.conn.member = nil
	}
}

// memberIndex returns the index of the member that executes the command, -1 if a mongos does or has not yet chosen one.
func (x *exec) memberIndex() int {
	if x.conn.member == nil {
		return -1
	}
	return x.conn.member.Index
}

// mongosIndex returns the index of the mongos that the command was sent to, -1 if it was sent to a member.
func (x *exec) mongosIndex() int {
	if x.conn.mongos == nil {
		return -1
	}
	return x.conn.mongos.index
}

// message executes an OP_MSG and answers it.
func (x *exec) message(h wire.Header, b []byte) error {
	m, err := wire.ParseMsg(b)
	if err != nil {
		return err
	}
	x.reset()
	x.command.requestID, x.command.flags, x.command.sequences = h.RequestID, m.Flags, m.Sequences
	if x.result.out == nil {
		x.result.out = make([]byte, 0, 1024)
	}
	x.result.id = x.conn.deployment.replies.Add(1)
	at, out := wire.BeginMsg(x.result.out, x.result.id, h.RequestID, 0)
	x.result.out = out
	parseErr := x.parse(m.Body)
	if x.command.name == "" {
		return wire.ErrMalformed
	}
	x.received()
	reply, err := x.serve(parseErr)
	if err != nil {
		return err
	}
	x.result.out = wire.EndMessage(x.result.out, at)
	return x.send(reply)
}

// query executes an OP_QUERY, which may only be a hello, and answers with an OP_REPLY.
func (x *exec) query(h wire.Header, b []byte) error {
	q, err := wire.ParseQuery(b)
	if err != nil {
		return err
	}
	db, ok := bytes.CutSuffix(q.Collection, []byte(".$cmd"))
	if !ok {
		return x.refuseLegacy(h, "OP_QUERY")
	}
	x.reset()
	x.command.requestID, x.command.flags, x.command.sequences = h.RequestID, 0, nil
	parseErr := x.parse(q.Document)
	x.command.db = string(db)
	if x.command.name == "" {
		return wire.ErrMalformed
	}
	x.received()
	if x.command.spec == nil || !x.command.spec.greeting {
		parseErr = mongoerr.Errorf(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an "+
			"upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", x.command.name)
	}
	reply, err := x.serve(parseErr)
	if err != nil {
		return err
	}
	x.result.out = wire.AppendReply(nil, x.conn.deployment.replies.Add(1), h.RequestID, x.result.out)
	return x.send(reply)
}

// serve has the command executed, by way of the middleware that concerns it, and the reply's document written; the Reply
// is nil if there is no middleware. It returns an error if nothing is to be answered.
func (x *exec) serve(parseErr error) (*Reply, error) {
	if list := x.conn.deployment.concerning(x.command.name); list != nil {
		return x.withMiddleware(list, parseErr)
	}
	return nil, x.answer(parseErr)
}

// withMiddleware is serve by way of middleware.
func (x *exec) withMiddleware(list []Middleware, parseErr error) (*Reply, error) {
	at, executed := len(x.result.out), false
	var failed error
	request := x.request()
	reply := testserver.Around(list, func(r *Request) *Reply {
		x.command.afterApply, executed = r.afterApply, true
		if failed = x.answer(parseErr); failed != nil {
			return nil
		}
		return &Reply{Body: bson.Raw(x.result.out[x.result.body:])}
	})(&request)
	switch {
	case failed != nil:
		return nil, failed
	case reply == nil:
		return nil, errHangUp
	case !executed && reply.Lost && !reply.given():
		x.journalLost()
		return nil, reply.ended()
	case x.command.flags&wire.MoreToCome == 0:
		reply = reply.orError(x.command.name)
	}
	return reply, x.replace(reply, at, executed)
}

// replace replaces the reply that was written at an index of out, if any, by what middleware says.
func (x *exec) replace(reply *Reply, at int, executed bool) error {
	if reply.Error != nil {
		x.result.out = x.result.out[:at]
		return x.answer(reply.Error.answered())
	}
	if executed && len(reply.Body) == len(x.result.out)-at && (len(reply.Body) == 0 || &reply.Body[0] == &x.result.out[at]) {
		return nil
	}
	x.result.out = append(x.result.out[:at], slices.Clone(reply.Body)...)
	x.record(0)
	return nil
}

// request describes the message to middleware.
func (x *exec) request() Request {
	r := Request{
		Member: x.memberIndex(), Mongos: x.mongosIndex(), ConnID: x.conn.id, RequestID: x.command.requestID, Command: x.command.name, Database: x.command.db,
		Body: wire.Fold(x.command.raw, x.command.sequences), Application: x.command.spec == nil || !x.command.spec.service, TxnNumber: -1,
		done: x.conn.done, client: x.conn.nc,
	}
	if x.command.lsid != nil {
		r.LSID = bson.Raw(x.command.lsid)
	}
	if x.command.hasTxn {
		r.TxnNumber = x.command.txn
	}
	return r
}

// answer executes the command and writes the reply's document, or the error's.
func (x *exec) answer(err error) error {
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
func (x *exec) perform() error {
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
	if x.conn.gone() {
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
func (x *exec) execute(point pointAction) error {
	perform := x.perform
	if x.conn.mongos != nil && x.command.spec.place == atShard {
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

// send delivers the reply, and the others if it is the first of a stream.
func (x *exec) send(reply *Reply) error {
	switch err := x.deliver(reply); {
	case err != nil || !x.result.streaming:
		return err
	case x.command.name == "getMore":
		return x.streamBatches()
	}
	return x.stream()
}

// deliver hands the reply to the connection, unless middleware says otherwise or the client wants none.
func (x *exec) deliver(reply *Reply) error {
	out, err := x.wrap(x.result.out)
	if err != nil {
		return err
	}
	var ended error
	if reply != nil {
		out, ended = reply.on(out), reply.ended()
		if reply.Lost {
			x.markLost()
		}
	}
	x.transcribeReply(reply)
	if x.command.flags&wire.MoreToCome != 0 {
		out = nil
	}
	if len(out) > 0 {
		if err := x.conn.write(out); err != nil {
			return err
		}
	}
	if reply != nil && reply.Lost {
		return ended
	}
	x.markAnswered(len(out) > 0)
	return ended
}

// journalLost records a request that a fault kept from being executed.
func (x *exec) journalLost() {
	if x.command.spec == nil || x.command.spec.service {
		return
	}
	x.noteStatements()
	for _, e := range x.result.entries {
		e.RequestLost = true
	}
	x.record(0)
}

// noteStatements begins an entry for each statement of the command.
func (x *exec) noteStatements() {
	for _, s := range x.statements() {
		x.note(s.id, s.raw)
	}
}

// record puts the entries into the journal, if they are not there, and notes the command's error in them. A command on
// data that has none gets one.
func (x *exec) record(code Code) {
	if x.command.spec == nil || x.command.spec.service {
		return
	}
	if !x.result.journaled && len(x.result.entries) == 0 {
		x.noteStatements()
	}
	if x.result.term == 0 && x.conn.member != nil { // it neither wrote nor looked at data
		x.conn.set.Lock()
		x.result.term = x.conn.member.Term
		x.conn.set.Unlock()
	}
	if x.result.journaled && code != 0 {
		x.conn.deployment.journal.mark(x.result.entries, func(e *noted) { e.ErrorCode = cmp.Or(e.ErrorCode, code) })
	}
	if !x.result.journaled {
		for _, e := range x.result.entries {
			e.ErrorCode = cmp.Or(e.ErrorCode, code)
		}
		x.addEntries()
	}
}

// addEntries puts the entries into the journal.
func (x *exec) addEntries() {
	for _, e := range x.result.entries {
		e.Term = x.result.term
	}
	x.conn.deployment.journal.add(x.result.entries)
	x.result.journaled = true
}

// note begins a journal entry for one statement. It is called without the set's mutex, because JournalKey may take long.
func (x *exec) note(stmt int32, raw []byte) *noted {
	e := x.conn.deployment.journal.allocate()
	e.Time = time.Now()
	e.Member, e.ConnID, e.RequestID = x.memberIndex(), x.conn.id, x.command.requestID
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
	case x.conn.deployment.config.journalKey != nil:
		e.Key = x.conn.deployment.config.journalKey(x.command.name, raw)
	case x.command.comment.Type == bson.TypeString:
		e.Key = string(x.command.comment.Text())
	}
	x.result.entries = append(x.result.entries, e)
	return e
}

func (x *exec) markAnswered(answered bool) {
	if answered && len(x.result.entries) > 0 {
		x.conn.deployment.journal.mark(x.result.entries, func(e *noted) { e.Answered = true })
	}
}

func (x *exec) markLost() {
	x.conn.deployment.journal.mark(x.result.entries, func(e *noted) { e.ReplyLost = true })
}

// statements returns the parts of the command that the journal records one by one.
func (x *exec) statements() []rawStatement {
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
