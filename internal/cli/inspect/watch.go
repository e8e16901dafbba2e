package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/mongo"
)

// Watcher is a client and what its monitors have reported. Its methods are safe for concurrent use.
type Watcher struct {
	client  *mongo.Client
	options *options.ClientOptions
	router  atomic.Pointer[Router] // nil if there is none

	mu          sync.Mutex
	description event.TopologyDescription
	checked     map[string]*checked
	pools       map[string]*pool
	changed     chan struct{} // has an element if something has changed since it was last read
}

// checked is what the checks of one server have found.
type checked struct {
	sample    topology.Server // its round trip time
	reply     event.ServerDescription
	updated   time.Time
	lastError error
}

// Open starts a client for a connection string. It returns an error only for options that are wrong, before any network use but the look-up of
// a mongodb+srv name. No server is waited for longer than timeout.
func Open(uri, appName string, timeout time.Duration) (*Watcher, error) {
	return open(options.Client().ApplyURI(uri), appName, timeout)
}

// open starts a client with the options o. The watcher keeps o as the user gave it.
func open(o *options.ClientOptions, appName string, timeout time.Duration) (*Watcher, error) {
	w := &Watcher{options: o, checked: make(map[string]*checked), pools: make(map[string]*pool), changed: make(chan struct{}, 1)}
	own := options.Client().SetAppName(appName).SetServerMonitor(w.serverMonitor()).SetPoolMonitor(&event.PoolMonitor{Event: w.poolEvent})
	own.SetServerSelectionTimeout(timeout).SetConnectTimeout(min(timeout, connectTimeout(o)))
	client, err := mongo.Connect(o, own)
	w.client = client
	return w, err
}

const defaultConnectTimeout = 10 * time.Second

// connectTimeout returns the option, or the client's default; a limit of 0 is none.
func connectTimeout(o *options.ClientOptions) time.Duration {
	if o.ConnectTimeout == nil || *o.ConnectTimeout <= 0 {
		return defaultConnectTimeout
	}
	return *o.ConnectTimeout
}

// Client returns the client. It ends with the watcher.
func (w *Watcher) Client() *mongo.Client { return w.client }

// Err returns an *UnreachableError if no server answers now, and the client's error if it refuses to use the servers.
func (w *Watcher) Err() error { return w.usable(w.snapshot()) }

// Close ends the client, also when ctx has ended.
func (w *Watcher) Close(ctx context.Context) { _ = w.client.Disconnect(context.WithoutCancel(ctx)) }

func (w *Watcher) serverMonitor() *event.ServerMonitor {
	return &event.ServerMonitor{
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			defer w.lock()()
			w.description = e.NewDescription
		},
		ServerHeartbeatSucceeded: func(e *event.ServerHeartbeatSucceededEvent) {
			defer w.lock()()
			w.succeeded(e)
		},
		ServerHeartbeatFailed: func(e *event.ServerHeartbeatFailedEvent) {
			defer w.lock()()
			c := w.checkedLocked(addressOf(e.ConnectionID))
			c.lastError = e.Failure
			c.sample = topology.Server{} // the next sample is the first one again
		},
	}
}

// lock locks the watcher. The returned function unlocks it and announces a change.
func (w *Watcher) lock() (unlock func()) {
	w.mu.Lock()
	return func() {
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// addressOf returns the address in the name of a monitor's connection, "host:port[-1]".
func addressOf(connection string) string {
	if at := strings.LastIndex(connection, "[-"); at >= 0 {
		return connection[:at]
	}
	return connection
}

func (w *Watcher) checkedLocked(address string) *checked {
	c := w.checked[address]
	if c == nil {
		c = new(checked)
		w.checked[address] = c
	}
	return c
}

// succeeded notes a check. Only one that did not wait for a change is a sample of the round trip time.
func (w *Watcher) succeeded(e *event.ServerHeartbeatSucceededEvent) {
	c := w.checkedLocked(string(e.Reply.Addr))
	c.reply, c.updated, c.lastError = e.Reply, time.Now(), nil
	if !e.Awaited {
		c.sample.RTT, c.sample.HasRTT = topology.NextRTT(&c.sample, e.Duration), true
	}
}

// Changed receives an element when something may have changed since the last one.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Ready waits until each server was checked, and knows then whether the mongos are routers. If none of them answers, it returns an *UnreachableError at once, or when ctx ends.
func (w *Watcher) Ready(ctx context.Context) error {
	for {
		d := w.snapshot()
		if d != nil && !d.Discovering() {
			w.lookForRouter(ctx, d)
			return w.usable(d)
		}
		select {
		case <-w.changed:
		case <-ctx.Done():
			return w.Err()
		}
	}
}

// usable returns an error if d has no server that answers, or if the client refuses to use it.
func (w *Watcher) usable(d *topology.Description) error {
	switch {
	case d == nil:
		return errNotBegun
	case d.CompatibilityError != nil:
		return d.CompatibilityError
	case anyKnown(d):
		return nil
	}
	return w.unreachable(d)
}

var errNotBegun = errors.New("the client was interrupted before it had checked a server")

func anyKnown(d *topology.Description) bool {
	for _, s := range d.Servers {
		if s.Known() {
			return true
		}
	}
	return false
}

// UnreachableError says that no server of a deployment answers.
type UnreachableError struct {
	Servers []string // an address with its error each
	foreign bool     // they answer, but do not belong to the set of the connection string
}

// Error has a line for each server.
func (e *UnreachableError) Error() string {
	head := "no server answers"
	if e.foreign {
		head = "no server belongs to the set of the connection string"
	}
	return head + ":\n  " + strings.Join(e.Servers, "\n  ")
}

// unreachable returns the error of a deployment without a server that answers. The client removes a server that does not belong to
// the set of the connection string.
func (w *Watcher) unreachable(d *topology.Description) error {
	e := new(UnreachableError)
	for _, s := range d.Servers {
		why := "it did not answer in time"
		if s.Error != nil && !errors.Is(s.Error, context.DeadlineExceeded) {
			why = oneLine(s.Error)
		}
		e.Servers = append(e.Servers, s.Address+": "+why)
	}
	if len(d.Servers) == 0 {
		e.Servers, e.foreign = w.removed(d), true
	}
	return e
}

// removed says of each server that answered why it is not in d.
func (w *Watcher) removed(d *topology.Description) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, address := range slices.Sorted(maps.Keys(w.checked)) {
		set := "no replica set"
		if name := w.checked[address].reply.SetName; name != "" {
			set = fmt.Sprintf("the replica set %q", name)
		}
		all = append(all, fmt.Sprintf("%s: it belongs to %s; the connection string asks for %q", address, set, d.SetName))
	}
	return all
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
