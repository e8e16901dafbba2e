package unified

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// observed is an event as a client published it.
type observed struct {
	kind  string // "command", "cmap" or "sdam"
	name  string // as files call it
	event any
}

// recorder keeps the events of one client.
type recorder struct {
	observe   []string // names of events; the others are not kept
	ignore    []string // commands whose events are not kept
	sensitive bool     // events of sensitive commands are kept

	mu       sync.Mutex
	stopped  bool
	events   []observed
	logs     []logged
	changed  chan struct{} // closed at the next event
	topology event.TopologyDescription
	out      int            // connections checked out
	ready    map[string]int // established connections by server
}

func newRecorder(observe, ignore []string, sensitive bool) *recorder {
	return &recorder{
		observe: observe, ignore: append(ignore, "configureFailPoint"), sensitive: sensitive,
		changed: make(chan struct{}), ready: make(map[string]int),
	}
}

func (r *recorder) keep(kind, name string, e any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keepLocked(kind, name, e)
}

func (r *recorder) keepLocked(kind, name string, e any) {
	if !r.stopped && slices.Contains(r.observe, name) {
		r.events = append(r.events, observed{kind, name, e})
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// stop ends the record: what follows belongs to the end of the test.
func (r *recorder) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// forget drops the events recorded so far.
func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

func (r *recorder) of(kind string) []observed {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []observed
	for _, e := range r.events {
		if e.kind == kind {
			events = append(events, e)
		}
	}
	return events
}

// await waits until ready, which is called with the record locked, is true.
func (r *recorder) await(ctx context.Context, ready func() bool) error {
	for {
		r.mu.Lock()
		done, changed := ready(), r.changed
		r.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// attach adds the listeners to a client's options: that of server events only if somebody reads them, because a client may not
// have them.
func (r *recorder) attach(opts *options.ClientOptions, serverEvents bool) {
	opts.SetMonitor(&event.CommandMonitor{
		Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if r.wants(e.CommandName, len(e.Command)) {
				started := *e
				started.Command = slices.Clone(e.Command)
				r.keep("command", "commandStartedEvent", &started)
			}
		},
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) {
			if r.wants(e.CommandName, len(e.Reply)) {
				succeeded := *e
				succeeded.Reply = slices.Clone(e.Reply)
				r.keep("command", "commandSucceededEvent", &succeeded)
			}
		},
		Failed: func(_ context.Context, e *event.CommandFailedEvent) {
			if r.wants(e.CommandName, -1) {
				r.keep("command", "commandFailedEvent", e)
			}
		},
	})
	opts.SetPoolMonitor(&event.PoolMonitor{Event: r.pool})
	if serverEvents {
		opts.SetServerMonitor(r.serverMonitor())
	}
}

// sensitiveCommands are those whose content the client must not publish.
var sensitiveCommands = []string{
	"authenticate", "saslStart", "saslContinue", "getnonce", "createUser", "updateUser", "copydbgetnonce", "copydbsaslstart", "copydb",
}

// wants reports whether a command's event is kept. A hello is sensitive if its content, of so many bytes, was taken out.
func (r *recorder) wants(command string, size int) bool {
	const empty = 5
	hello := command == "hello" || command == "isMaster" || command == "ismaster"
	sensitive := slices.Contains(sensitiveCommands, command) || hello && size >= 0 && size <= empty
	return !slices.Contains(r.ignore, command) && (r.sensitive || !sensitive)
}

var poolEvents = map[string]string{
	event.ConnectionPoolCreated: "poolCreatedEvent", event.ConnectionPoolReady: "poolReadyEvent",
	event.ConnectionPoolCleared: "poolClearedEvent", event.ConnectionPoolClosed: "poolClosedEvent",
	event.ConnectionCreated: "connectionCreatedEvent", event.ConnectionReady: "connectionReadyEvent",
	event.ConnectionClosed: "connectionClosedEvent", event.ConnectionCheckOutStarted: "connectionCheckOutStartedEvent",
	event.ConnectionCheckOutFailed: "connectionCheckOutFailedEvent", event.ConnectionCheckedOut: "connectionCheckedOutEvent",
	event.ConnectionCheckedIn: "connectionCheckedInEvent",
}

func (r *recorder) pool(e *event.PoolEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Type {
	case event.ConnectionCheckedOut:
		r.out++
	case event.ConnectionCheckedIn:
		r.out--
	case event.ConnectionReady:
		r.ready[e.Address]++
	}
	r.keepLocked("cmap", poolEvents[e.Type], e)
}

func (r *recorder) serverMonitor() *event.ServerMonitor {
	return &event.ServerMonitor{
		ServerDescriptionChanged: func(e *event.ServerDescriptionChangedEvent) {
			r.keep("sdam", "serverDescriptionChangedEvent", e)
		},
		ServerHeartbeatStarted:   func(e *event.ServerHeartbeatStartedEvent) { r.keep("sdam", "serverHeartbeatStartedEvent", e) },
		ServerHeartbeatSucceeded: func(e *event.ServerHeartbeatSucceededEvent) { r.keep("sdam", "serverHeartbeatSucceededEvent", e) },
		ServerHeartbeatFailed:    func(e *event.ServerHeartbeatFailedEvent) { r.keep("sdam", "serverHeartbeatFailedEvent", e) },
		TopologyOpening:          func(e *event.TopologyOpeningEvent) { r.keep("sdam", "topologyOpeningEvent", e) },
		TopologyClosed:           func(e *event.TopologyClosedEvent) { r.keep("sdam", "topologyClosedEvent", e) },
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.topology = e.NewDescription
			r.keepLocked("sdam", "topologyDescriptionChangedEvent", e)
		},
	}
}
