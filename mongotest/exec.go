package mongotest

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// exec is the execution of one message. A connection has one and uses it again and again.
type exec struct {
	call
	conn *conn // over which it came
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
	x.result.id = x.conn.deployment.cluster.replies.Add(1)
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
	x.result.out = wire.AppendReply(nil, x.conn.deployment.cluster.replies.Add(1), h.RequestID, x.result.out)
	return x.send(reply)
}

// serve has the command executed, by way of the middleware that concerns it, and the reply's document written; the Reply
// is nil if there is no middleware. It returns an error if nothing is to be answered.
func (x *exec) serve(parseErr error) (*Reply, error) {
	if list := x.conn.deployment.concerning(x.command.name); list != nil {
		return x.withMiddleware(list, parseErr)
	}
	return nil, x.respond(parseErr)
}

// withMiddleware is serve by way of middleware.
func (x *exec) withMiddleware(list []Middleware, parseErr error) (*Reply, error) {
	at, executed := len(x.result.out), false
	var failed error
	request := x.request()
	reply := testserver.Around(list, func(r *Request) *Reply {
		x.command.afterApply, executed = r.afterApply, true
		if failed = x.respond(parseErr); failed != nil {
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

// respond executes the command and writes the reply's document, or the error's.
func (x *exec) respond(parseErr error) error {
	if parseErr == nil && x.command.spec.greeting {
		x.noteClient() // a fail point may be about the application that says hello
	}
	return x.answer(parseErr)
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

func (x *exec) markAnswered(answered bool) {
	if answered && len(x.result.entries) > 0 {
		x.conn.deployment.cluster.journal.Mark(x.result.entries, func(e *journal.Entry) { e.Answered = true })
	}
}

func (x *exec) markLost() {
	x.conn.deployment.cluster.journal.Mark(x.result.entries, func(e *journal.Entry) { e.ReplyLost = true })
}
