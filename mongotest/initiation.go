package mongotest

import (
	"context"
)

// Uninitiated makes servers that wait for replSetInitiate, as `mongod --replSet` does. Until then their hello names no set
// and they neither read nor write. The configuration must name all of them by their addresses.
func Uninitiated() Option { return deploymentOption(func(c *config) { c.uninitiated = true }) }

// Processes is how a server makes the servers of other processes members of its set. The set lives in this process; the
// others hand the connections of their clients on to it.
type Processes struct {
	// IsSelf reports whether an address of a configuration, "host:port", leads to this process.
	IsSelf func(address string) bool
	// Join makes other processes stand for members; what it returns is the reason why one of them does not. It is called once
	// for each attempt to initiate the set, and the members are there when the command has been answered.
	Join func(ctx context.Context, members []JoiningMember) error
}

// JoiningMember is a member whose clients come to another process.
type JoiningMember struct {
	// Member is its index.
	Member int
	// Address is where clients find it, "host:port".
	Address string
	// Served is the TCP address in this process to which their connections are to be handed on.
	Served string
}

// WithProcesses lets replSetInitiate name servers of other processes. It needs [Uninitiated], one member, and [Listen].
func WithProcesses(p Processes) Option { return deploymentOption(func(c *config) { c.processes = &p }) }

// WaitState waits until the state of a member is another one than known, and returns it: "STARTUP" before replSetInitiate,
// "PRIMARY", "SECONDARY", "ARBITER", "REMOVED", or "DOWN" once it is killed or was told to shut down. It returns ctx's error if ctx ends first.
func (rs *Deployment) WaitState(ctx context.Context, member int, known string) (string, error) {
	m, err := rs.memberAt("WaitState", member)
	if err != nil {
		return "", err
	}
	state, err := m.AwaitState(known, ctx.Done())
	if err != nil {
		return "", context.Cause(ctx)
	}
	return state, nil
}
