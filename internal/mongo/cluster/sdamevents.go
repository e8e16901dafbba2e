package cluster

import (
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/address"

	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// observed reports whether anybody gets the events of the topology: a listener or the log. Without anybody they are not
// made. The log comes first, so that who waits for an event finds its message.
func (c *Cluster) observed() bool {
	return c.cfg.ServerMonitor != nil || c.cfg.Log.Enabled(logging.Topology, logging.Debug)
}

// notify makes a call to the listeners after those of the earlier changes. It is called without the lock.
func (c *Cluster) notify(call func()) {
	c.mu.Lock()
	c.notices.add(call)
	c.mu.Unlock()
	c.notices.deliver()
}

// announceOpening publishes the first events of a topology.
func (c *Cluster) announceOpening(first *topology.Description) {
	defer c.listeners.begin().Add(-1)
	c.topologyOpening()
	c.topologyChanged(noTopology, first)
	for _, s := range first.Servers {
		c.serverOpening(s.Address)
	}
}

// announce publishes the events of a change of the topology in the order of SDAM Monitoring. It is called without the lock,
// for one change at a time.
func (c *Cluster) announce(old, next *topology.Description) {
	defer c.listeners.begin().Add(-1)
	if old.Equal(next) {
		return
	}
	for _, change := range topology.Changes(old, next, nil) {
		switch {
		case change.Old == nil:
			c.serverOpening(change.New.Address)
		case change.New == nil:
			c.serverClosed(change.Old.Address)
		case !change.Old.Equal(change.New):
			c.serverChanged(change.Old, change.New)
		}
	}
	c.topologyChanged(old, next)
}

// announceClosed publishes the last events of a topology.
func (c *Cluster) announceClosed(last *topology.Description) {
	for _, s := range last.Servers {
		c.serverClosed(s.Address)
	}
	c.topologyChanged(last, noTopology)
	c.logTopology("Stopped topology monitoring")
	if m := c.cfg.ServerMonitor; m != nil && m.TopologyClosed != nil {
		m.TopologyClosed(&event.TopologyClosedEvent{TopologyID: c.id})
	}
}

func (c *Cluster) topologyOpening() {
	c.logTopology("Starting topology monitoring")
	if m := c.cfg.ServerMonitor; m != nil && m.TopologyOpening != nil {
		m.TopologyOpening(&event.TopologyOpeningEvent{TopologyID: c.id})
	}
}

func (c *Cluster) topologyChanged(old, next *topology.Description) {
	if c.cfg.Log.Enabled(logging.Topology, logging.Debug) {
		c.logTopology("Topology description changed", "previousDescription", old.String(), "newDescription", next.String())
	}
	if m := c.cfg.ServerMonitor; m != nil && m.TopologyDescriptionChanged != nil {
		m.TopologyDescriptionChanged(&event.TopologyDescriptionChangedEvent{
			TopologyID: c.id, PreviousDescription: topologyDescription(old), NewDescription: topologyDescription(next),
		})
	}
}

func (c *Cluster) serverOpening(addr string) {
	c.logServer("Starting server monitoring", addr)
	if m := c.cfg.ServerMonitor; m != nil && m.ServerOpening != nil {
		m.ServerOpening(&event.ServerOpeningEvent{Address: address.Address(addr), TopologyID: c.id})
	}
}

func (c *Cluster) serverClosed(addr string) {
	c.logServer("Stopped server monitoring", addr)
	if m := c.cfg.ServerMonitor; m != nil && m.ServerClosed != nil {
		m.ServerClosed(&event.ServerClosedEvent{Address: address.Address(addr), TopologyID: c.id})
	}
}

func (c *Cluster) serverChanged(old, next *topology.Server) {
	if m := c.cfg.ServerMonitor; m != nil && m.ServerDescriptionChanged != nil {
		m.ServerDescriptionChanged(&event.ServerDescriptionChangedEvent{
			Address: address.Address(next.Address), TopologyID: c.id,
			PreviousDescription: serverDescription(old), NewDescription: serverDescription(next),
		})
	}
}

// logTopology logs a message with the fields that all messages about the topology have.
func (c *Cluster) logTopology(message string, fields ...any) {
	if c.cfg.Log.Enabled(logging.Topology, logging.Debug) {
		c.cfg.Log.Log(logging.Topology, logging.Debug, message, append(fields, "topologyId", c.id.Hex())...)
	}
}

// logNoServers logs that the last server has left the topology, which stays empty: only a server can name others (SDAM, "Other
// TopologyTypes"). It is called with the lock held.
func (c *Cluster) logNoServers(old, next *topology.Description) effects {
	if len(next.Servers) > 0 || len(old.Servers) == 0 || !c.cfg.Log.Enabled(logging.Topology, logging.Info) {
		return nil
	}
	c.notices.add(func() {
		c.cfg.Log.Log(logging.Topology, logging.Info, "Topology has no servers left", "previousDescription", old.String(), "topologyId", c.id.Hex())
	})
	return effects{c.notices.deliver}
}

// logServer is logTopology with the server's fields.
func (c *Cluster) logServer(message, addr string, fields ...any) {
	if c.cfg.Log.Enabled(logging.Topology, logging.Debug) {
		c.logTopology(message, logging.Endpoint(fields, addr)...)
	}
}
