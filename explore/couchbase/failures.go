package explore

import (
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/couchbasefault"
)

// Message is one message of a program, known by its command, its target (the bucket and the key), and its place among the messages of a
// run with the same two, from 1.
type Message = explore.Message

// Failure is one kind of failure that can happen to a message. The predefined ones are values: copy one to change its Weight or what it
// Concerns, or write one of your own.
type Failure = couchbasefault.Failure

// Strike is a failure that is about to happen to a message. Its methods may be called from any goroutine.
type Strike = couchbasefault.Strike

// The failures of the network.
var (
	RequestLost = couchbasefault.RequestLost // the connection breaks before the node gets the request
	ReplyLost   = couchbasefault.ReplyLost   // the connection breaks after the node executed it
	HalfReply   = couchbasefault.HalfReply   // the connection breaks in the middle of the reply
	LateRequest = couchbasefault.LateRequest // the connection breaks; the request is executed at the first check
	Silence     = couchbasefault.Silence     // the node executes it, and nothing comes back until the connection is closed
)

// The failures of nodes. They last for an outage: a minute, or a second over TCP. Isolated, FailedOverBefore, FailedOverAfter and WriteLost
// need several nodes; a failover also needs a replica.
var (
	KilledBefore     = couchbasefault.KilledBefore     // the node is killed before it executes this
	KilledAfter      = couchbasefault.KilledAfter      // the node is killed after it executed this; the reply is lost
	Paused           = couchbasefault.Paused           // the node's process stops, and executes this when it continues
	BlackHole        = couchbasefault.BlackHole        // the node executes this, and is cut off from its clients without an error
	Isolated         = couchbasefault.Isolated         // the node is cut off from the other nodes before it executes this write
	FailedOverBefore = couchbasefault.FailedOverBefore // the node is failed over before it executes this, and added back later
	FailedOverAfter  = couchbasefault.FailedOverAfter  // the node is failed over after it executed this, and the replicas have it
	MovedBefore      = couchbasefault.MovedBefore      // a rebalance moves the document to a new node before this is executed
	MovedAfter       = couchbasefault.MovedAfter       // a rebalance moves the document to a new node after this was executed
)

// WriteLost is a write that the node executes, answers, and loses: it is failed over before a replica has the write. It happens only to
// writes without durability, and only if [Failures] names it, because a program that writes without durability accepts it.
var WriteLost = couchbasefault.WriteLost

// The failures of durable writes, those of [Refused] apart.
var (
	AmbiguousBefore = couchbasefault.AmbiguousBefore // status 0xa3, the outcome is unknown; it was not executed
	AmbiguousAfter  = couchbasefault.AmbiguousAfter  // status 0xa3, the outcome is unknown; it was executed
)

// Refused returns the failure that the node refuses the message with a status. It concerns the messages that a node can answer so: 0xa1, for
// example, only durable writes.
func Refused(status couchbasetest.Status) Failure { return couchbasefault.Refused(status) }

// All returns every failure, which is what is explored without [Failures]: those above but WriteLost, and the refusals with the statuses
// 0x86 (temporary failure), 0x85 (busy), 0x82 (out of memory), 0x09 (locked), 0x07 (not my vbucket), 0x88 (unknown collection), 0xa2 and 0xa4
// (another durable write is in progress, or is committed again), 0xa1 (durability is impossible), 0x24 (no access), and 0xff42, which no
// client knows.
func All() []Failure { return couchbasefault.All() }
