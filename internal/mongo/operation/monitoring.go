package operation

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// watched is a command whose listener was told that it started.
type watched struct {
	monitor *event.CommandMonitor
	common  event.CommandFinishedEvent
	start   time.Time
}

// started tells the listener of a command. It returns nil, at no cost, where there is no listener.
func (r *run) started(ctx context.Context, conn *cluster.Conn, message []byte, requestID int32) *watched {
	m := r.cfg.Monitor
	if m == nil {
		return nil
	}
	w := &watched{monitor: m, start: time.Now(), common: event.CommandFinishedEvent{
		CommandName: r.op.Name, DatabaseName: r.op.Database, RequestID: int64(requestID), ConnectionID: conn.Name(),
		ServerConnectionID: conn.Description.ServerConnectionID,
	}}
	if m.Started != nil {
		m.Started(ctx, &event.CommandStartedEvent{
			Command: folded(message), CommandName: w.common.CommandName, DatabaseName: w.common.DatabaseName,
			RequestID: w.common.RequestID, ConnectionID: w.common.ConnectionID,
			ServerConnectionID: w.common.ServerConnectionID,
		})
	}
	return w
}

func (w *watched) finished(ctx context.Context, err error, reply *Reply) {
	w.common.Duration = time.Since(w.start)
	// A reply that is ok is a success even if it tells of failed statements.
	if err == nil || reply.OK {
		if w.monitor.Succeeded != nil {
			w.monitor.Succeeded(ctx, &event.CommandSucceededEvent{
				CommandFinishedEvent: w.common, Reply: append(bson.Raw(nil), reply.Body...),
			})
		}
		return
	}
	if w.monitor.Failed != nil {
		w.monitor.Failed(ctx, &event.CommandFailedEvent{CommandFinishedEvent: w.common, Failure: err})
	}
}

// folded returns a message's command as one document, its sequences as arrays, as the command monitoring specification
// wants it shown.
func folded(message []byte) bson.Raw {
	m, err := wire.ParseMsg(message)
	if err != nil {
		return nil // it was just built; the server would refuse it too
	}
	at, b := wire.BeginDocument(make([]byte, 0, len(message)))
	it := wire.Elements(m.Body)
	for it.Next() {
		b = wire.AppendElement(b, it.Element)
	}
	for _, s := range m.Sequences {
		array, rest := wire.BeginArray(b, string(s.Identifier))
		documents := s.Documents
		for i := 0; len(documents) > 0; i++ {
			n, err := wire.DocumentLength(documents)
			if err != nil {
				return nil
			}
			rest = wire.AppendDocument(rest, wire.ArrayKey(i), documents[:n])
			documents = documents[n:]
		}
		b = wire.EndDocument(rest, array)
	}
	return wire.EndDocument(b, at)
}
