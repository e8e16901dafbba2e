package inspect

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// snapshot returns the topology description that the client selects servers by: that of its last event, with the round trip
// times and the dates of the last writes from the checks since then. It is nil before the first event.
func (w *Watcher) snapshot() *topology.Description {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.description.Kind == "" {
		return nil
	}
	d := &topology.Description{
		Type: topologyKind(w.description.Kind), SetName: w.description.SetName, CompatibilityError: w.description.CompatibilityErr,
	}
	for i := range w.description.Servers {
		d.Servers = append(d.Servers, w.serverLocked(&w.description.Servers[i]))
	}
	return d
}

var errNotMember = errors.New("the server does not belong to this deployment, or is not part of it yet")

func (w *Watcher) serverLocked(e *event.ServerDescription) *topology.Server {
	s := &topology.Server{
		Address: string(e.Addr), Type: serverKind(e.Kind), Tags: e.Tags, SetName: e.SetName, Hosts: e.Hosts, Passives: e.Passives,
		Arbiters: e.Arbiters, LastWriteDate: e.LastWriteTime, MaxWireVersion: e.MaxWireVersion, MinWireVersion: e.MinWireVersion,
		SessionTimeoutMinutes: e.SessionTimeoutMinutes,
	}
	c := w.checked[s.Address]
	switch {
	case c == nil:
		return s
	case !s.Known():
		if s.Error = c.lastError; s.Error == nil && serverKind(c.reply.Kind) == topology.Unknown {
			s.Error = errNotMember
		}
		return s
	}
	s.RTT, s.HasRTT, s.LastUpdateTime = c.sample.RTT, c.sample.HasRTT, c.updated
	if c.reply.LastWriteTime.After(s.LastWriteDate) {
		s.LastWriteDate = c.reply.LastWriteTime
	}
	return s
}

// serverKind returns the server type of a name of the specification.
func serverKind(name string) topology.ServerType {
	for k := topology.Unknown; k <= topology.LoadBalancer; k++ {
		if k.String() == name {
			return k
		}
	}
	return topology.Unknown
}

// topologyKind returns the topology type of a name of the specification.
func topologyKind(name string) topology.Type {
	for k := topology.UnknownTopology; k <= topology.LoadBalanced; k++ {
		if k.String() == name {
			return k
		}
	}
	return topology.UnknownTopology
}
