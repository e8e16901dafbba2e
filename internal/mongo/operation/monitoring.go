package operation

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// watched is a command for which the listener got the event CommandStarted.
type watched struct {
	monitor   *event.CommandMonitor
	common    event.CommandFinishedEvent
	start     time.Time
	sensitive bool // the events have no command, no reply and no message of the server
}

// started calls the listener with CommandStarted. Without a listener it returns nil and costs nothing.
func (r *run) started(ctx context.Context, conn *cluster.Conn, message []byte, requestID int32) *watched {
	m := r.cfg.Monitor
	if m == nil {
		return nil
	}
	w := &watched{monitor: m, start: time.Now(), common: event.CommandFinishedEvent{
		CommandName: r.op.Name, DatabaseName: r.op.Database, RequestID: int64(requestID), ConnectionID: conn.Name(),
		ServerConnectionID: conn.Description.ServerConnectionID, ServiceID: conn.ServiceID(),
	}}
	command := shown(message)
	if w.sensitive = sensitive(r.op.Name, command); w.sensitive {
		command = emptyDocument()
	}
	if m.Started != nil {
		m.Started(ctx, &event.CommandStartedEvent{
			Command: command, CommandName: w.common.CommandName, DatabaseName: w.common.DatabaseName,
			RequestID: w.common.RequestID, ConnectionID: w.common.ConnectionID,
			ServerConnectionID: w.common.ServerConnectionID, ServiceID: w.common.ServiceID,
		})
	}
	return w
}

func (w *watched) finished(ctx context.Context, err error, reply *Reply) {
	w.common.Duration = time.Since(w.start)
	// A reply with "ok: 1" is a success, even with writeErrors.
	if err == nil || reply.OK {
		if w.monitor.Succeeded != nil {
			shown := slices.Clone(reply.Body)
			if w.sensitive {
				shown = emptyDocument()
			}
			w.monitor.Succeeded(ctx, &event.CommandSucceededEvent{CommandFinishedEvent: w.common, Reply: shown})
		}
		return
	}
	if w.sensitive {
		err = redacted(err)
	}
	if w.monitor.Failed != nil {
		w.monitor.Failed(ctx, &event.CommandFailedEvent{CommandFinishedEvent: w.common, Failure: err})
	}
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
