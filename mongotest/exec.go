package mongotest

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// exec is the execution of one message. A connection has one and uses it again and again.
type exec struct {
	call.Call
	conn *conn // over which it came
}

// reset makes room for another message.
func (x *exec) reset() {
	if cap(x.Result.Out) > call.MaxRetained {
		x.Result.Out = nil
	}
	x.Command = x.Command.Next()
	x.Result = x.Result.Again(0)
	x.Evaluation.Reset()
	if x.conn.mongos != nil {
		x.conn.Member = nil
	}
}

// message executes an OP_MSG and answers it.
func (x *exec) message(h wire.Header, b []byte) error {
	m, err := wire.ParseMsg(b)
	if err != nil {
		return err
	}
	x.reset()
	x.Command.RequestID, x.Command.Flags, x.Command.Sequences = h.RequestID, m.Flags, m.Sequences
	if x.Result.Out == nil {
		x.Result.Out = make([]byte, 0, 1024)
	}
	x.Result.ID = x.conn.deployment.cluster.Replies.Add(1)
	at, out := wire.BeginMsg(x.Result.Out, x.Result.ID, h.RequestID, 0)
	x.Result.Out = out
	parseErr := x.Parse(m.Body)
	if x.Command.Name == "" {
		return wire.ErrMalformed
	}
	x.received()
	reply, err := x.dispatch(parseErr)
	if err != nil {
		return err
	}
	x.Result.Out = wire.EndMessage(x.Result.Out, at)
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
	x.Command.RequestID, x.Command.Flags, x.Command.Sequences = h.RequestID, 0, nil
	parseErr := x.Parse(q.Document)
	x.Command.DB = string(db)
	if x.Command.Name == "" {
		return wire.ErrMalformed
	}
	x.received()
	if x.Command.Spec == nil || !x.Command.Spec.Greeting {
		parseErr = mongoerr.Errorf(mongoerr.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an "+
			"upgrade. For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", x.Command.Name)
	}
	reply, err := x.dispatch(parseErr)
	if err != nil {
		return err
	}
	x.Result.Out = wire.AppendReply(nil, x.conn.deployment.cluster.Replies.Add(1), h.RequestID, x.Result.Out)
	return x.send(reply)
}

// dispatch has the command executed, by way of the middleware that concerns it, and the reply's document written; the Reply
// is nil if there is no middleware. It returns an error if nothing is to be answered.
func (x *exec) dispatch(parseErr error) (*Reply, error) {
	if list := x.conn.deployment.concerning(x.Command.Name); list != nil {
		return x.withMiddleware(list, parseErr)
	}
	return nil, x.executeCommand(parseErr)
}

// withMiddleware is dispatch by way of middleware.
func (x *exec) withMiddleware(list []Middleware, parseErr error) (*Reply, error) {
	at, executed := len(x.Result.Out), false
	var failed error
	request := x.request()
	reply := testserver.Around(list, func(r *Request) *Reply {
		x.Command.AfterApply, executed = r.afterApply, true
		if failed = x.executeCommand(parseErr); failed != nil {
			return nil
		}
		return &Reply{Body: bson.Raw(x.Result.Out[x.Result.Body:])}
	})(&request)
	switch {
	case failed != nil:
		return nil, failed
	case reply == nil:
		return nil, call.ErrHangUp
	case !executed && reply.Lost && !reply.given():
		x.journalLost()
		return nil, reply.ended()
	case x.Command.Flags&wire.MoreToCome == 0:
		reply = reply.orError(x.Command.Name)
	}
	return reply, x.replace(reply, at, executed)
}

// replace replaces the reply that was written at an index of out, if any, by what middleware says.
func (x *exec) replace(reply *Reply, at int, executed bool) error {
	if reply.Error != nil {
		x.Result.Out = x.Result.Out[:at]
		return x.Execute(reply.Error.answered())
	}
	if executed && len(reply.Body) == len(x.Result.Out)-at && (len(reply.Body) == 0 || &reply.Body[0] == &x.Result.Out[at]) {
		return nil
	}
	x.Result.Out = append(x.Result.Out[:at], slices.Clone(reply.Body)...)
	x.Record(0)
	return nil
}

// request describes the message to middleware.
func (x *exec) request() Request {
	r := Request{
		Member: x.MemberIndex(), Mongos: x.MongosIndex(), ConnID: x.conn.ID, RequestID: x.Command.RequestID, Command: x.Command.Name, Database: x.Command.DB,
		Body: wire.Fold(x.Command.Raw, x.Command.Sequences), Application: x.Command.Spec == nil || !x.Command.Spec.Service, TxnNumber: -1,
		done: x.conn.Done, client: x.conn.nc,
	}
	if x.Command.LSID != nil {
		r.LSID = bson.Raw(x.Command.LSID)
	}
	if x.Command.HasTxn {
		r.TxnNumber = x.Command.Txn
	}
	return r
}

// send delivers the reply, and the others if it is the first of a stream.
func (x *exec) send(reply *Reply) error {
	switch err := x.deliver(reply); {
	case err != nil || !x.Result.Streaming:
		return err
	case x.Command.Name == "getMore":
		return x.streamBatches()
	}
	return streamHellos(x)
}

// deliver hands the reply to the connection, unless middleware says otherwise or the client wants none.
func (x *exec) deliver(reply *Reply) error {
	out, err := x.wrap(x.Result.Out)
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
	if x.Command.Flags&wire.MoreToCome != 0 {
		out = nil
	}
	if len(out) > 0 {
		x.conn.Counts.Out.Add(int64(len(x.Result.Out)))
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

// executeCommand executes the command and writes the reply's document, or the error's.
func (x *exec) executeCommand(parseErr error) error {
	if parseErr == nil && x.Command.Spec.Greeting {
		noteClient(x) // a fail point may be about the application that says hello
	}
	return x.Execute(parseErr)
}

// journalLost records a request that a fault kept from being executed.
func (x *exec) journalLost() {
	if x.Command.Spec == nil || x.Command.Spec.Service {
		return
	}
	x.NoteStatements()
	for _, e := range x.Result.Entries {
		e.RequestLost = true
	}
	x.Record(0)
}

func (x *exec) markAnswered(answered bool) {
	if answered && len(x.Result.Entries) > 0 {
		x.conn.deployment.cluster.Journal.Mark(x.Result.Entries, func(e *journal.Entry) { e.Answered = true })
	}
}

func (x *exec) markLost() {
	x.conn.deployment.cluster.Journal.Mark(x.Result.Entries, func(e *journal.Entry) { e.ReplyLost = true })
}
