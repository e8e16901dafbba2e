package explore

import (
	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Message is one message of a program, known by its command, its target (the namespace), and its place among the messages of a run with
// the same two, from 1.
type Message = explore.Message

// Failure is one kind of failure that can happen to a message. The predefined ones are values: copy one to change its Weight or what it
// Concerns, or write one of your own.
type Failure = mongofault.Failure

// Strike is a failure that is about to happen to a message. Its methods may be called from any goroutine.
type Strike = mongofault.Strike

// The failures of the network.
var (
	RequestLost = mongofault.RequestLost // the connection breaks before the server gets the request
	ReplyLost   = mongofault.ReplyLost   // the connection breaks after the server executed it
	HalfReply   = mongofault.HalfReply   // the connection breaks in the middle of the reply
	LateRequest = mongofault.LateRequest // the connection breaks; the request is executed at the first check
	Silence     = mongofault.Silence     // the server executes it, and nothing comes back until the connection is closed
	PoolCleared = mongofault.PoolCleared // all connections to the server break after it executed this
)

// The failures of members. Those that need a primary and another member do not happen to a standalone.
var (
	StepDownBefore = mongofault.StepDownBefore // the primary steps down before it executes this
	StepDownAfter  = mongofault.StepDownAfter  // the primary steps down after it executed this
	KilledBefore   = mongofault.KilledBefore   // the server is killed before it executes this
	KilledDuring   = mongofault.KilledDuring   // the primary is killed when it alone has the write
	KilledAfter    = mongofault.KilledAfter    // the server is killed after it executed this; the reply is lost
	Partitioned    = mongofault.Partitioned    // the member is cut off from its clients and from the others
)

// The failures of what a server keeps for a client, and of its load.
var (
	CursorLost     = mongofault.CursorLost     // the server has lost the cursor: error 43
	SessionExpired = mongofault.SessionExpired // the server ends the session, and its transaction is aborted
	Overload       = mongofault.Overload       // error 462, which asks the client to try again later
)

// Refused returns the failure that the server refuses the message with an error code, with the labels that its version gives.
func Refused(code mongotest.Code) Failure { return mongofault.Refused(code) }

// WriteConcernFailed returns the failure that the server executes a write, and then reports an error of its write concern.
func WriteConcernFailed(code mongotest.Code) Failure { return mongofault.WriteConcernFailed(code) }

// All returns every failure, which is what is explored without [Failures]: those above, each error code after which the specifications
// of retryable reads and writes try again, one that is not retried (2, BadValue), a write conflict (112) within transactions, and the
// write concern errors 64 and 91.
func All() []Failure { return mongofault.All() }
