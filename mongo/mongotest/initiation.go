package mongotest

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// initiation is how far the servers are on the way to being a replica set.
type initiation uint8

const (
	uninitiated initiation = iota
	initiating             // replSetInitiate is being executed
	initiated
)

// Uninitiated makes servers that wait for replSetInitiate, as `mongod --replSet` does. Until then their hello names no set
// and they neither read nor write. The configuration must name all of them by their addresses.
func Uninitiated() Option { return func(c *config) { c.uninitiated = true } }

// Processes is how a server makes the servers of other processes members of its set. The set lives in this process; the
// others hand the connections of their clients on to it.
type Processes struct {
	// IsSelf tells whether an address of a configuration, "host:port", leads to this process.
	IsSelf func(address string) bool
	// Join makes other processes stand for members; what it returns is the reason why one of them does not. It is called once
	// for each attempt to initiate the set, and the members are there when the command has been answered.
	Join func(ctx context.Context, members []Joining) error
}

// Joining is a member whose clients come to another process.
type Joining struct {
	// Member is its index.
	Member int
	// Address is where clients find it, "host:port".
	Address string
	// Served is the TCP address in this process to which their connections are to be handed on.
	Served string
}

// WithProcesses lets replSetInitiate name servers of other processes. It needs [Uninitiated], one member, and [Listen].
func WithProcesses(p Processes) Option { return func(c *config) { c.processes = &p } }

// The states of a member, by the names of replSetGetStatus.
const (
	stateStartup   = "STARTUP"
	statePrimary   = "PRIMARY"
	stateSecondary = "SECONDARY"
	stateDown      = "DOWN"
)

// WaitState waits until the state of a member is another one than known, and returns it: "STARTUP" before replSetInitiate,
// "PRIMARY", "SECONDARY", or "DOWN" once it is killed or was told to shut down. It returns ctx's error if ctx ends first.
func (rs *ReplicaSet) WaitState(ctx context.Context, member int, known string) (string, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m := rs.members[member]
	w := newWaiter(func() bool { return m.stateNameLocked() != known })
	if err := rs.awaitLocked(w, ctx.Done(), -1); err != nil {
		return "", context.Cause(ctx)
	}
	return m.stateNameLocked(), nil
}

func (m *member) stateNameLocked() string {
	switch {
	case !m.up:
		return stateDown
	case m.set.initiation != initiated:
		return stateStartup
	case m.role == primary:
		return statePrimary
	}
	return stateSecondary
}

// appendUninitiated writes what a member says of itself that has no configuration.
func appendUninitiated(dst []byte, writable string) []byte {
	dst = wire.AppendBool(dst, writable, false)
	dst = wire.AppendBool(dst, "secondary", false)
	dst = wire.AppendString(dst, "info", "Does not have a valid replica set config")
	return wire.AppendBool(dst, "isreplicaset", true)
}

// configuredLocked refuses a command that needs a replica set's configuration while there is none.
func (x *exec) configuredLocked(text string) error {
	if x.set.initiation == initiated {
		return nil
	}
	return failf(codeNotYetInitialized, "%s", text)
}
