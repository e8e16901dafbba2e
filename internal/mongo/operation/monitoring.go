package operation

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// watched is a command whose start was told to the listener and to the log, if there are any.
type watched struct {
	run       *run
	conn      *cluster.Conn
	common    event.CommandFinishedEvent
	start     time.Time
	sensitive bool // the events have no command, no reply and no message of the server
}

// started publishes the event CommandStarted. If nobody listens, it returns nil and costs nothing.
func (r *run) started(ctx context.Context, conn *cluster.Conn, message []byte, requestID int32) *watched {
	m := r.cfg.Monitor
	if m == nil && !r.cfg.Log.Enabled(logging.Command, logging.Debug) {
		return nil
	}
	w := &watched{run: r, conn: conn, start: time.Now(), common: event.CommandFinishedEvent{
		CommandName: r.op.Name, DatabaseName: r.op.Database, RequestID: int64(requestID), ConnectionID: conn.Name(),
		ServerConnectionID: conn.Description.ServerConnectionID, ServiceID: conn.ServiceID(),
	}}
	command := shown(message)
	if w.sensitive = sensitive(r.op.Name, command); w.sensitive {
		command = emptyDocument()
	}
	if m != nil && m.Started != nil {
		defer r.cfg.Cluster.Listening().Add(-1)
		m.Started(ctx, &event.CommandStartedEvent{
			Command: command, CommandName: w.common.CommandName, DatabaseName: w.common.DatabaseName,
			RequestID: w.common.RequestID, ConnectionID: w.common.ConnectionID,
			ServerConnectionID: w.common.ServerConnectionID, ServiceID: w.common.ServiceID,
		})
	}
	if r.cfg.Log.Enabled(logging.Command, logging.Debug) {
		w.log("Command started", "command", r.cfg.Log.Document(command))
	}
	return w
}

// finished publishes the event CommandSucceeded or CommandFailed.
func (w *watched) finished(ctx context.Context, err error, reply *Reply) {
	w.common.Duration = time.Since(w.start)
	// A reply with "ok: 1" is a success, even with writeErrors.
	if err == nil || reply.OK {
		w.succeeded(ctx, reply)
		return
	}
	if w.sensitive {
		err = redacted(err)
	}
	if m := w.run.cfg.Monitor; m != nil && m.Failed != nil {
		defer w.run.cfg.Cluster.Listening().Add(-1)
		m.Failed(ctx, &event.CommandFailedEvent{CommandFinishedEvent: w.common, Failure: err})
	}
	if w.run.cfg.Log.Enabled(logging.Command, logging.Debug) {
		w.log("Command failed", "durationMS", logging.Milliseconds(w.common.Duration), "failure", err.Error())
	}
}

func (w *watched) succeeded(ctx context.Context, reply *Reply) {
	body := reply.Body
	switch {
	case w.sensitive:
		body = emptyDocument()
	case w.run.op.unacknowledged():
		body = unacknowledgedReply()
	}
	if m := w.run.cfg.Monitor; m != nil && m.Succeeded != nil {
		defer w.run.cfg.Cluster.Listening().Add(-1)
		m.Succeeded(ctx, &event.CommandSucceededEvent{CommandFinishedEvent: w.common, Reply: slices.Clone(body)})
	}
	if log := w.run.cfg.Log; log.Enabled(logging.Command, logging.Debug) {
		w.log("Command succeeded", "durationMS", logging.Milliseconds(w.common.Duration), "reply", log.Document(body))
	}
}

// unacknowledgedReply returns the reply that the events of an unacknowledged write show (Command Logging and Monitoring).
func unacknowledgedReply() bson.Raw {
	at, doc := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendInt32(doc, "ok", 1), at)
}

// log writes a message with the fields that all messages about a command have.
func (w *watched) log(message string, fields ...any) {
	fields = append(fields, "commandName", w.common.CommandName, "databaseName", w.common.DatabaseName, "requestId", w.common.RequestID,
		"operationId", w.run.logID(), "driverConnectionId", w.conn.ID())
	if id := w.common.ServerConnectionID; id != nil {
		fields = append(fields, "serverConnectionId", *id)
	}
	if id := w.common.ServiceID; id != nil {
		fields = append(fields, "serviceId", id.Hex())
	}
	w.run.cfg.Log.Log(logging.Command, logging.Debug, message, logging.Endpoint(fields, w.conn.Description.Address)...)
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
