package mongotest

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/store"
)

// exec is the execution of one message. A connection has one and uses it again and again.
type exec struct {
	*conn
	waiter    waiter
	requestID int32
	replyID   int32
	flags     wire.MsgFlags
	sequences []wire.Sequence
	command

	out        []byte // the reply
	body       int    // where in out its document begins
	entries    []*noted
	journaled  bool   // the entries are in the journal
	target     string // the namespace, where the command's first value does not tell it
	term       int64  // of the member when it wrote, read or refused
	applied    int64  // index up to which the write concern waits
	writeError *mongoerr.Error
	within     *transaction // in which the command runs, nil if in none
	conflict   error        // why the transaction must be given up
	blocker    *transaction // the one that keeps the command from writing
	refused    bool         // a statement failed
	watches    bool         // the cursor in hand is that of a change stream
	onView     bool         // what the command looked for is a view
	wholeOK    bool         // the reply says ok with an integer, as that of a distinct on a view
	language   query.Hooks  // what compiles expressions where there is no let
	vars       variables
	match      query.Matching  // of the document that was found last
	seen       int64           // index of the log up to which reads see
	readAt     store.Timestamp // of what a majority read saw, 0 for another
	shown      shown
	streaming  bool // the reply is one of a stream of hellos
	scripted   bool // the error is a fault's or a fail point's: the member's state does not bear it out
	state      bool // the reply shall carry the member's topologyVersion
}

func (x *exec) reset() {
	x.out = x.out[:0]
	if cap(x.out) > keep {
		x.out = nil
	}
	x.begin()
	x.streaming = false
	x.afterApply = nil
	if x.mongos != nil {
		x.member = nil
	}
}

// begin forgets what an execution of the command has left.
func (x *exec) begin() {
	x.entries, x.journaled = x.entries[:0], false
	x.target, x.term = "", 0
	x.applied = -1
	x.writeError = nil
	x.within, x.conflict, x.blocker, x.refused, x.seen, x.readAt = nil, nil, nil, false, math.MaxInt64, 0
	x.vars, x.match, x.onView = variables{}, query.Matching{}, false
	x.state, x.watches, x.wholeOK = false, false, false
}

// at returns the index of the member that executes the command, -1 if a mongos does or has not yet chosen one.
func (x *exec) at() int {
	if x.member == nil {
		return -1
	}
	return x.member.index
}

// front returns the index of the mongos that the command was sent to, -1 if it was sent to a member.
func (x *exec) front() int {
	if x.mongos == nil {
		return -1
	}
	return x.mongos.index
}

// message executes an OP_MSG and answers it.
func (x *exec) message(h wire.Header, b []byte) error {
	m, err := wire.ParseMsg(b)
	if err != nil {
		return err
	}
	x.reset()
	x.requestID, x.flags, x.sequences = h.RequestID, m.Flags, m.Sequences
	if x.out == nil {
		x.out = make([]byte, 0, 1024)
	}
	x.replyID = x.set.replies.Add(1)
	at, out := wire.BeginMsg(x.out, x.replyID, h.RequestID, 0)
	x.out = out
	parseErr := x.parse(m.Body)
	if x.name == "" {
		return wire.ErrMalformed
	}
	x.received()
	reply, err := x.serve(parseErr)
	if err != nil {
		return err
	}
	x.out = wire.EndMessage(x.out, at)
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
	x.requestID, x.flags, x.sequences = h.RequestID, 0, nil
	parseErr := x.parse(q.Document)
	x.db = string(db)
	if x.name == "" {
		return wire.ErrMalformed
	}
	x.received()
	if x.spec == nil || !x.spec.greeting {
		parseErr = mongoerr.Errorf(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an "+
			"upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", x.name)
	}
	reply, err := x.serve(parseErr)
	if err != nil {
		return err
	}
	x.out = wire.AppendReply(nil, x.set.replies.Add(1), h.RequestID, x.out)
	return x.send(reply)
}

// serve has the command executed, by way of the middleware that concerns it, and the reply's document written; the Reply
// is nil if there is no middleware. It returns an error if nothing is to be answered.
func (x *exec) serve(parseErr error) (*Reply, error) {
	if list := x.set.concerning(x.name); list != nil {
		return x.through(list, parseErr)
	}
	return nil, x.answer(parseErr)
}

// through is serve by way of middleware.
func (x *exec) through(list []Middleware, parseErr error) (*Reply, error) {
	at, executed := len(x.out), false
	var failed error
	request := x.request()
	reply := around(list, func(r *Request) *Reply {
		x.afterApply, executed = r.afterApply, true
		if failed = x.answer(parseErr); failed != nil {
			return nil
		}
		return &Reply{Body: bson.Raw(x.out[x.body:])}
	})(&request)
	switch {
	case failed != nil:
		return nil, failed
	case reply == nil:
		return nil, errHangUp
	case !executed && reply.Lost && !reply.given():
		x.journalLost()
		return nil, reply.ended()
	case x.flags&wire.MoreToCome == 0:
		reply = reply.orError(x.name)
	}
	return reply, x.replace(reply, at, executed)
}

// replace puts what middleware says in the place of the reply that was written at an index of out, if any.
func (x *exec) replace(reply *Reply, at int, executed bool) error {
	if reply.Error != nil {
		x.out = x.out[:at]
		return x.answer(reply.Error.answered())
	}
	if executed && len(reply.Body) == len(x.out)-at && (len(reply.Body) == 0 || &reply.Body[0] == &x.out[at]) {
		return nil
	}
	x.out = append(x.out[:at], slices.Clone(reply.Body)...)
	x.record(0)
	return nil
}

// request describes the message to middleware.
func (x *exec) request() Request {
	r := Request{
		Member: x.at(), Mongos: x.front(), ConnID: x.id, RequestID: x.requestID, Command: x.name, Database: x.db,
		Body: wire.Fold(x.raw, x.sequences), Application: x.spec == nil || !x.spec.service, TxnNumber: -1,
		done: x.done,
	}
	if x.lsid != nil {
		r.LSID = bson.Raw(x.lsid)
	}
	if x.hasTxn {
		r.TxnNumber = x.txn
	}
	return r
}

// answer executes the command and writes the reply's document, or the error's.
func (x *exec) answer(err error) error {
	var point pointAction
	if err == nil {
		point, err = x.failPoint()
	}
	x.body, x.out = wire.BeginDocument(x.out)
	x.scripted = err != nil
	if err == nil {
		err = x.execute(point)
	}
	if errors.Is(err, errHangUp) {
		x.record(0)
		return err
	}
	if err != nil {
		x.out = x.out[:x.body+4]
		x.writeFailure(mongoerr.From(err), point)
	}
	x.finish()
	x.out = wire.EndDocument(x.out, x.body)
	return nil
}

// perform runs the command, then waits for its write concern.
func (x *exec) perform() error {
	x.applyDefaults()
	began := time.Now()
	err := x.spec.run(x)
	x.use(began)
	if err != nil || x.refused {
		x.abandon()
	}
	if err != nil {
		return err
	}
	if x.gone() {
		return errHangUp
	}
	switch {
	case x.spec.write && x.applied >= 0:
		return x.awaitWriteConcern()
	case x.readConcern == linearizableConcern:
		return x.confirm()
	}
	return nil
}

// execute performs the command, by way of a member if this is a mongos, and says in the reply what became of it.
func (x *exec) execute(point pointAction) error {
	perform := x.perform
	if x.mongos != nil && x.spec.place == atShard {
		perform = x.route
	}
	if err := perform(); err != nil {
		return err
	}
	if point.writeConcernError != nil {
		x.out = wire.AppendDocument(x.out, "writeConcernError", point.writeConcernError)
	} else if x.writeError != nil {
		x.appendWriteConcernError()
	}
	if x.wholeOK {
		x.out = wire.AppendInt32(x.out, "ok", 1)
	} else {
		x.out = wire.AppendDouble(x.out, "ok", 1)
	}
	x.appendLabels(point)
	return nil
}

// send hands the reply to the connection, unless middleware says otherwise or the client wants none.
func (x *exec) send(reply *Reply) error {
	out, err := x.wrap(x.out)
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
	if x.flags&wire.MoreToCome != 0 {
		out = nil
	}
	if len(out) > 0 {
		if err := x.write(out); err != nil {
			return err
		}
	}
	if reply != nil && reply.Lost {
		return ended
	}
	x.markAnswered(len(out) > 0)
	if x.streaming && ended == nil {
		return x.stream()
	}
	return ended
}

// journalLost records a request that a fault kept from being executed.
func (x *exec) journalLost() {
	if x.spec == nil || x.spec.service {
		return
	}
	x.noteStatements()
	for _, e := range x.entries {
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
	if x.spec == nil || x.spec.service {
		return
	}
	if !x.journaled && len(x.entries) == 0 {
		x.noteStatements()
	}
	if x.term == 0 && x.member != nil { // it neither wrote nor looked at data
		x.set.mu.Lock()
		x.term = x.member.term
		x.set.mu.Unlock()
	}
	if x.journaled && code != 0 {
		x.set.journal.mark(x.entries, func(e *noted) { e.ErrorCode = code })
	}
	if !x.journaled {
		for _, e := range x.entries {
			e.ErrorCode = max(e.ErrorCode, code)
		}
		x.addEntries()
	}
}

// addEntries puts the entries into the journal.
func (x *exec) addEntries() {
	for _, e := range x.entries {
		e.Term = x.term
	}
	x.set.journal.add(x.entries)
	x.journaled = true
}

// note begins a journal entry for one statement. It is called without the set's mutex, because JournalKey may take long.
func (x *exec) note(stmt int32, raw []byte) *noted {
	e := x.set.journal.allocate()
	e.Time = time.Now()
	e.Member, e.ConnID, e.RequestID = x.at(), x.id, x.requestID
	e.Command, e.Namespace = x.name, x.ns()
	e.StatementID, e.TxnNumber = stmt, -1
	if x.lsid != nil {
		e.LSID = sessionName(x.lsid)
	}
	if x.hasTxn {
		e.TxnNumber = x.txn
	}
	if raw != nil {
		e.Statement = bson.Raw(raw)
	}
	switch {
	case x.set.config.journalKey != nil:
		e.Key = x.set.config.journalKey(x.name, raw)
	case x.comment.Type == bson.TypeString:
		e.Key = string(x.comment.Text())
	}
	x.entries = append(x.entries, e)
	return e
}

func (x *exec) markAnswered(answered bool) {
	if answered && len(x.entries) > 0 {
		x.set.journal.mark(x.entries, func(e *noted) { e.Answered = true })
	}
}

func (x *exec) markLost() {
	x.set.journal.mark(x.entries, func(e *noted) { e.ReplyLost = true })
}

// statements returns the parts of the command that the journal records one by one.
func (x *exec) statements() []rawStatement {
	field := x.spec.statements
	if field == "" {
		return []rawStatement{{max(x.stmtID, 0), nil}}
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
