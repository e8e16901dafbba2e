package operation

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/telemetry"
)

// attempted is an attempt of which somebody was told: the application's tracer, its command monitor, the log.
type attempted struct {
	run     *run
	ctx     context.Context //nolint:containedctx // the one that a tracer made
	told    telemetry.Attempt
	result  telemetry.Result
	message []byte
	body    []byte // of the reply; nil if there is none

	command, reply func() []byte // made once
}

// attempts recycles those of which nobody keeps anything.
var attempts = sync.Pool{New: func() any { return newAttempted() }}

func newAttempted() *attempted {
	a := new(attempted)
	a.command, a.reply = a.commandShown, a.replyShown
	return a
}

// recycle is called when all who were told have returned.
func (a *attempted) recycle() {
	*a = attempted{command: a.command, reply: a.reply}
	attempts.Put(a)
}

// told tells that a message is about to be sent. If nobody listens, it returns nil and costs nothing.
func (r *run) told(ctx context.Context, conn *cluster.Conn, message []byte, requestID int32) *attempted {
	if r.attempts == nil {
		return nil
	}
	var a *attempted
	if r.attempts.Passive {
		a = attempts.Get().(*attempted)
	} else {
		a = newAttempted()
	}
	a.run, a.told = r, telemetry.Attempt{
		Number: r.number, Name: r.op.Name, Namespace: r.op.Database, Collection: r.op.Collection, Began: time.Now(),
		Connection: connectionOf(conn), RequestID: int64(requestID), OperationID: r.logID(),
		Session: r.session.uuid(), TransactionNumber: r.sentNumber(),
	}
	if r.op.Traced != nil {
		a.told.Operation = &r.op.Traced.told
	}
	a.describe(message)
	a.ctx = began(r.Runner, r.attempts.AttemptBegan, ctx, &a.told)
	return a
}

// connectionOf returns a connection as tracers see it.
func connectionOf(conn *cluster.Conn) telemetry.Connection {
	c := telemetry.Connection{
		Address: conn.Description.Address, ID: conn.ID(), Name: conn.Name(), ServerID: conn.Description.ServerConnectionID,
	}
	if id := conn.ServiceID(); id != nil {
		c.Service = id.Hex()
	}
	return c
}

// describe adds what the message says.
func (a *attempted) describe(message []byte) {
	t := &a.told
	m, _ := wire.ParseMsg(message) // it was just built
	if t.Sensitive = sensitive(t.Name, m.Body); t.Sensitive && a.run.op.Traced != nil {
		a.run.op.Traced.sensitive = true
	}
	t.Batch = statements(&m)
	a.describeFirst(m.Body)
	a.message, t.Command = message, a.command
}

func (a *attempted) commandShown() []byte {
	if a.told.Sensitive {
		return emptyDocument()
	}
	return shown(a.message)
}

// describeFirst adds what the first element of the command says.
func (a *attempted) describeFirst(command []byte) {
	t, first := &a.told, wire.Elements(command)
	switch {
	case !first.Next():
	case t.Name == "getMore":
		t.Cursor, _ = first.Int64()
	case t.Name == "killCursors":
		t.Cursor = firstCursor(command)
	case a.run.op.Kind == Generic && first.Type == bson.TypeString:
		t.Collection = string(first.Text())
	}
	t.Collection = about(t.Namespace, t.Collection)
}

// statements returns the number of documents or statements in a message that has them as a sequence.
func statements(m *wire.Msg) int {
	n := 0
	for _, s := range m.Sequences {
		if string(s.Identifier) == "nsInfo" { // the collections of a bulkWrite
			continue
		}
		count, _ := s.Count() // the message was just built
		n += count
	}
	return n
}

// shown returns a copy of a message's command as one document, with document sequences as arrays, as Command Logging
// and Monitoring requires.
func shown(message []byte) bson.Raw {
	m, err := wire.ParseMsg(message)
	if err != nil {
		return nil // impossible for a message that was just built
	}
	if len(m.Sequences) == 0 {
		return slices.Clone(bson.Raw(m.Body))
	}
	return wire.Fold(m.Body, m.Sequences)
}

// firstCursor returns the first id in the command killCursors.
func firstCursor(command []byte) int64 {
	for it := wire.Elements(command); it.Next(); {
		if string(it.Key) == "cursors" {
			if list := wire.Elements(it.Array()); list.Next() {
				id, _ := list.Int64()
				return id
			}
		}
	}
	return 0
}

// ended tells how the attempt ended.
func (a *attempted) ended(err error) {
	tell := a.run.attempts.AttemptEnded
	if tell == nil {
		return
	}
	reply, result := &a.run.reply, &a.result
	*result = telemetry.Result{Took: time.Since(a.told.Began), Err: err, Rows: -1}
	if a.body = a.replyBody(); a.body != nil {
		result.Reply = a.reply
	}
	switch {
	case reply.OK: // a success, even with writeErrors
		result.Err = nil
		result.Cursor, result.Rows = a.run.cursorID(), a.run.rows
	case err != nil:
		result.Code = reply.Code
		if a.told.Sensitive {
			result.Err = redacted(err)
		}
	}
	defer a.run.cfg.Cluster.Listening().Add(-1)
	tell(a.ctx, &a.told, result)
	if a.run.attempts.Passive {
		a.recycle()
	}
}

// countRows counts the documents in the reply, for who is told of them.
func (r *run) countRows() {
	r.rows = -1
	counts := r.op.Traced.countsRows() || r.attempts != nil && r.attempts.AttemptEnded != nil
	if !counts || !r.reply.OK || r.op.Name == "bulkWrite" { // whose cursor has what became of each write
		return
	}
	if c, err := r.reply.ReadCursor(); err == nil {
		r.rows = elements(c.Batch)
		r.op.Traced.addRows(r.rows)
	}
}

// cursorID returns the id of the cursor in the reply, 0 if there is none.
func (r *run) cursorID() int64 {
	c, _ := r.reply.ReadCursor()
	return c.ID
}

// elements returns the number of elements of an array.
func elements(array []byte) int {
	n := 0
	for it := wire.Elements(array); it.Next(); {
		n++
	}
	return n
}

// replyBody returns the reply, nil if there is none.
func (a *attempted) replyBody() []byte {
	if a.run.op.unacknowledged() {
		return unacknowledgedReply()
	}
	return a.run.reply.Body
}

func (a *attempted) replyShown() []byte {
	if a.told.Sensitive {
		return emptyDocument()
	}
	return slices.Clone(a.body)
}

// unacknowledgedReply returns the reply that the events of an unacknowledged write show (Command Logging and Monitoring).
func unacknowledgedReply() bson.Raw {
	at, doc := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendInt32(doc, "ok", 1), at)
}
