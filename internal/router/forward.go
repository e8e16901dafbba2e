package router

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// forwarded is a client's command on its way to a member, and the reply on its way back. The command goes on as it came, but for what the
// client's layers must append.
type forwarded struct {
	client  *client
	command *command
	began   time.Time
	op      operation.Operation
	traced  operation.Traced // of op, if no tracer keeps it

	ownSession bool                             // the session and the number of the write are the router's
	obeys      bool                             // the read preference goes with the command as it came
	searches   bool                             // it goes to the member of a cursor
	awaitLimit time.Duration                    // how long a getMore may wait at its member; 0: as long as it asks
	entered    bool                             // it counts among those that wait
	enter      func() error                     // waits, made once
	admit      func(context.Context, int) error // admitReply, made once
	kept       reservation                      // of the reply
	pin        operation.Pin

	reply   *[]byte // the whole message, header included, unless it is large
	large   []byte  // the memory of a large reply
	body    []byte  // of a large reply
	session session // of a transaction, if its mongos matters
	moved   bool    // its end, to another mongos
	cursor  int64
	stream  bool // the cursor is that of a change stream

	namespace string // of the cursor, if the client sends old messages
}

// forwards recycles the state of commands. Nothing of it is used after their replies were sent.
var forwards = sync.Pool{New: func() any {
	f := new(forwarded)
	f.enter, f.admit = f.waits, f.admitReply
	return f
}}

func newForwarded(c *client, q *command) *forwarded {
	f := forwards.Get().(*forwarded)
	f.client, f.command, f.reply, f.began = c, q, takeBuffer(), time.Now()
	return f
}

func (f *forwarded) recycle() {
	f.pin.Release()
	putBuffer(f.reply)
	largebuffer.Put(f.large)
	f.kept.release()
	*f = forwarded{enter: f.enter, admit: f.admit}
	forwards.Put(f)
}

// unacknowledged reports whether the client expects no result.
func (f *forwarded) unacknowledged() bool { return f.command.Unanswered() || f.command.unacknowledged }

// limit returns the time that the operation has, 0 for any. The maxTimeMS of a getMore is how long the server waits for documents.
func (f *forwarded) limit() time.Duration {
	if f.command.Name == "getMore" {
		return 0
	}
	return f.command.maxTime
}

// AppendTo implements [operation.Command].
func (f *forwarded) AppendTo(dst []byte, attempt operation.Attempt) ([]byte, error) {
	standalone := attempt.Server.Type == topology.Standalone
	dst = f.grown(dst)
	it := wire.Elements(f.command.Body)
	if it.Next() { // the name of the command, whatever it is: another element must not become it
		dst = wire.AppendElement(dst, it.Element)
	}
	for it.Next() {
		switch string(it.Key) {
		case "$db", "$clusterTime":
			continue
		case "$readPreference":
			if standalone || !f.obeys {
				continue
			}
		case "lsid", "txnNumber":
			if f.ownSession {
				continue
			}
		case "writeConcern":
			if f.command.Unanswered() {
				continue
			}
		case "maxTimeMS":
			if f.awaitLimit > 0 {
				continue
			}
			if f.limit() > 0 && (attempt.Number > 0 || f.entered || f.moved) {
				dst = wire.AppendInt64(dst, "maxTimeMS", f.remaining())
				continue
			}
		}
		dst = wire.AppendElement(dst, it.Element)
	}
	if f.awaitLimit > 0 {
		dst = f.appendAwait(dst)
	}
	return dst, it.Err
}

// roomToAppend is the size in bytes of what the router adds to a large message at most, nearly always.
const roomToAppend = 4 << 10

// grown returns dst with room for the whole message, if that is large: to grow with it would take several times its memory.
func (f *forwarded) grown(dst []byte) []byte {
	if f.size() <= mediumMessage {
		return dst
	}
	return slices.Grow(largebuffer.Grow(dst, f.size()+roomToAppend), f.size()+roomToAppend)
}

// remaining returns the milliseconds of maxTimeMS that remain, at least 1.
func (f *forwarded) remaining() int64 {
	return max(1, (f.limit() - time.Since(f.began)).Milliseconds())
}

// AppendSequences implements [operation.Sequencer].
func (f *forwarded) AppendSequences(dst []byte) []byte {
	for _, s := range f.command.Sequences {
		dst = wire.AppendSequence(dst, string(s.Identifier), s.Documents)
	}
	return dst
}

// errInReply is the error of a write whose reply has it.
var errInReply = errors.New("the reply has the error of a write")

// Accept implements [operation.Command].
func (f *forwarded) Accept(reply *operation.Reply) error {
	cursor, _ := reply.ReadCursor() // the client is told what is wrong with it
	f.cursor, f.stream = cursor.ID, cursor.ResumeToken != nil && isStreamToken(cursor.ResumeToken)
	failed := reply.WriteErrors != nil || reply.WriteConcernError != nil
	if f.cursor != 0 && f.command.Header.OpCode != wire.OpMsg {
		f.namespace = string(cursor.Namespace)
	}
	if f.large != nil && f.command.old == nil && !failed { // another attempt may follow a failed one, and use that memory
		f.body = reply.Body
	} else {
		f.replace(reply.Body)
	}
	if failed {
		return errInReply
	}
	return nil
}

// replace replaces the document of the reply, which may be a large one.
func (f *forwarded) replace(document []byte) {
	f.body = nil
	*f.reply = f.command.AppendReply((*f.reply)[:0], f.client.router.ids.Add(1), document)
}

// isStreamToken reports whether a resume token is that of a change stream. That of a find with $_requestResumeToken has a $recordId.
func isStreamToken(token []byte) bool {
	data := field(token, "_data")
	return data.Type != 0
}

// sendReply sends what Accept took to the client.
func (f *forwarded) sendReply() error {
	f.noteCursor()
	if f.command.silent() {
		return nil
	}
	if f.body == nil {
		return f.client.write(*f.reply)
	}
	head := f.command.AppendReply((*f.reply)[:0], f.client.router.ids.Add(1), nil)
	wire.SetMessageLength(head, len(head)+len(f.body))
	*f.reply = head
	if err := f.client.write(head); err != nil {
		return err
	}
	return f.client.write(f.body)
}

// noteCursor remembers the member of a cursor that is open, and forgets one that has ended.
func (f *forwarded) noteCursor() {
	f.noteTransaction()
	cursors := &f.client.router.cursors
	switch {
	case f.command.Name == "getMore" && f.cursor == 0:
		f.client.departure.closed(f.command.cursor)
		cursors.drop(f.command.cursor)
	case f.cursor != 0 && f.pin.Server() != nil:
		f.client.departure.opened(f.cursor)
		cursors.put(f.cursor, f.place(f.pin.Server().Address()), f.began)
		if f.namespace != "" {
			cursors.openedOld(f.cursor, f.namespace, f.documents(), f.began)
		}
	case f.command.Name == "getMore":
		cursors.used(f.cursor, f.documents(), f.began)
	}
}

// place describes the cursor of the reply, which a member has.
func (f *forwarded) place(address string) place {
	p := place{address: address, stream: f.stream, awaits: f.stream || opensAwaiting(f.command)}
	if a := f.client.account; a != nil && a.user == nil {
		p.owner = a.id
	}
	return p
}

// documents returns how many documents the reply to an old message has.
func (f *forwarded) documents() int32 {
	if f.command.old == nil {
		return 0
	}
	r, _ := wire.ParseReplies(*f.reply)
	return r.Count
}

// waits is called when the operation begins to wait for a member.
func (f *forwarded) waits() error {
	if f.entered {
		return nil
	}
	if err := f.client.places().enter(f.size()); err != nil {
		return err
	}
	f.entered = true
	f.client.watch()
	return nil
}

// size is that of the client's message, which stays in memory while the operation waits: most of it is in its document sequences.
func (f *forwarded) size() int { return int(f.command.Header.Length) }

func (f *forwarded) stopWaiting() {
	if f.entered {
		f.client.places().leave(f.size())
	}
	f.client.endWatch()
}
