package prove

import (
	"context"
	"time"
)

// Deployment makes the sites of a matrix.
type Deployment interface {
	Backend() *Backend
	// unavailable returns the reason why the cell cannot run on this deployment, or "".
	unavailable(s Strategy, f Failure) string
	// without returns the faults of a failure that cannot be injected in this deployment.
	without(f Failure) []FaultKind
	open(c *cell) (site, error)
	describe() string
}

// site is the deployment of one cell.
type site interface {
	// connect returns a new client, for one writer.
	connect() (session, error)
	// intercept asks decide about every message of an operation, until the returned function is called.
	intercept(decide func(message) treatment) (remove func())
	// strike injects a fault of the cluster. repair, which may be nil, repairs it.
	strike(f *planned, document string) (repair func() error, err error)
	// awaitWritable waits until the whole cluster accepts writes.
	awaitWritable(ctx context.Context) error
	// blackout makes all servers unreachable.
	blackout()
	// restore heals the cluster and waits until no command runs.
	restore(ctx context.Context) error
	// read returns the documents with these names, by a new client. Those that do not exist are left out.
	read(ctx context.Context, names []string) ([]tally, error)
	// journal returns the servers' journal. It reports false if there is none.
	journal() ([]entry, bool)
	// delay returns the longest time that the network, and a machine that is not busy, add to a number of attempts.
	delay(attempts int) time.Duration
	close() error
}

// messageID identifies a message on the server.
type messageID struct {
	conn    int64
	request int32
}

// message is a message of an operation that has come to a server.
type message struct {
	part
	id messageID
}

// treatment says what happens to a message. The zero treatment does nothing.
type treatment struct {
	before func()
	// late, if not nil, closes the connection, and the message is executed when the channel is closed.
	late <-chan struct{}
	// loseRequest closes the connection before the message is executed.
	loseRequest bool
	// refuse, if not nil, is the fault whose error is returned. The message is not executed.
	refuse *planned
	// afterApply runs when a primary has applied the message, before its write concern is satisfied.
	afterApply func()
	// after runs when the message was executed, before the reply is sent.
	after func()
	// loseReply closes the connection in place of the reply.
	loseReply bool
	// answer, if not nil, is the fault whose error is returned in place of the reply.
	answer *planned
}

// entry is a message in the servers' journal.
type entry struct {
	id messageID
	// place is the message's place in MongoDB's journal.
	place int64
	// key is the name of the operation that the message applies, or "".
	key     string
	applied bool
	lost    bool // it was applied, and that was lost with its node, or rolled back
	// requestLost and replyLost mean that a fault lost the message or its reply.
	requestLost, replyLost bool
	// troubled means that the message was not answered, or with an error.
	troubled bool
	failed   bool   // it was answered with an error
	changed  bool   // that error is one of a change of the member's state
	failure  string // that error, in words
	server   int    // the member or the node
	at       time.Time
	repeated bool // it was answered from the server's record of the operation: nothing was changed
}

// tally is a document of the experiment.
type tally struct {
	name    string
	counter int64
	ops     map[string]int64 // how often each operation was applied
}
