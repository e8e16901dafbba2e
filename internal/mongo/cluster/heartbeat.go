package cluster

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// heartbeat is a check of a server as its events show it. A nil heartbeat publishes nothing.
type heartbeat struct {
	server  *Server
	driver  int64  // the number of the monitor's connection
	id      *int64 // the server's number of the connection, nil if it is not known yet
	awaited bool
}

// beginHeartbeat publishes the event ServerHeartbeatStarted. If nobody listens, it returns nil.
func (m *monitor) beginHeartbeat() *heartbeat {
	if !m.server.cluster.observed() {
		return nil
	}
	h := &heartbeat{server: m.server, driver: m.connections, awaited: m.awaits()}
	if m.conn == nil {
		h.driver++ // the check begins with a new connection
	} else {
		h.id = m.conn.Description.ServerConnectionID
	}
	e := &event.ServerHeartbeatStartedEvent{ConnectionID: h.connection(), Awaited: h.awaited}
	begun := *h
	h.publish(func(listener *event.ServerMonitor) {
		begun.log("Server heartbeat started")
		if listener != nil && listener.ServerHeartbeatStarted != nil {
			listener.ServerHeartbeatStarted(e)
		}
	})
	return h
}

// succeeded publishes the event ServerHeartbeatSucceeded.
func (h *heartbeat) succeeded(took time.Duration, d *topology.Server, reply bson.Raw) {
	if h == nil {
		return
	}
	e := &event.ServerHeartbeatSucceededEvent{
		Duration: took, Reply: serverDescription(d), ConnectionID: h.connection(), Awaited: h.awaited,
	}
	h.id = d.ServerConnectionID
	text := h.text(reply)
	h.publish(func(listener *event.ServerMonitor) {
		h.log("Server heartbeat succeeded", "durationMS", logging.Milliseconds(took), "reply", text)
		if listener != nil && listener.ServerHeartbeatSucceeded != nil {
			listener.ServerHeartbeatSucceeded(e)
		}
	})
}

// failed publishes the event ServerHeartbeatFailed.
func (h *heartbeat) failed(took time.Duration, err error) {
	if h == nil {
		return
	}
	e := &event.ServerHeartbeatFailedEvent{Duration: took, Failure: err, ConnectionID: h.connection(), Awaited: h.awaited}
	h.publish(func(listener *event.ServerMonitor) {
		h.log("Server heartbeat failed", "durationMS", logging.Milliseconds(took), "failure", err.Error())
		if listener != nil && listener.ServerHeartbeatFailed != nil {
			listener.ServerHeartbeatFailed(e)
		}
	})
}

// publish calls the listener after those of the earlier changes.
func (h *heartbeat) publish(call func(*event.ServerMonitor)) {
	c := h.server.cluster
	c.notify(func() {
		defer c.listeners.begin().Add(-1)
		call(c.cfg.ServerMonitor)
	})
}

func (h *heartbeat) log(message string, fields ...any) {
	if !h.server.cluster.cfg.Log.Enabled(logging.Topology, logging.Debug) {
		return
	}
	fields = append(fields, "awaited", h.awaited, "driverConnectionId", h.driver)
	if h.id != nil {
		fields = append(fields, "serverConnectionId", *h.id)
	}
	h.server.cluster.logServer(message, h.server.address, fields...)
}

// text returns a reply for the log. Its bytes are valid only now.
func (h *heartbeat) text(reply bson.Raw) string {
	if log := h.server.cluster.cfg.Log; log.Enabled(logging.Topology, logging.Debug) {
		return log.Document(reply)
	}
	return ""
}

// connection returns the name of the monitor's connection.
func (h *heartbeat) connection() string { return fmt.Sprintf("%s[-%d]", h.server.address, h.driver) }
