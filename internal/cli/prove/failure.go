package prove

// Failure is the kinds of faults that a cell injects.
type Failure struct {
	Name  string
	Title string
	// W, if not "", is the write concern of the cell in place of the settings' one.
	W string
	// faults are the kinds of faults in a plan.
	faults []FaultKind
	// before means that they are done to the messages between the clients and a router.
	before bool
}

// FaultKind is one kind of fault.
type FaultKind uint8

// The kinds of faults.
const (
	RequestLost      FaultKind = iota // the connection breaks before the request is executed
	ReplyLost                         // the connection breaks after it was executed
	SteppedDown                       // the primary steps down
	PrimaryKilled                     // the primary is killed, and restarted later
	Partitioned                       // the primary's messages are dropped, until it is healed later
	Outage                            // all servers are unreachable until the load ends
	CommandRefused                    // the server returns a command error at every attempt
	ServerOverloaded                  // the server returns an overload error once

	// Couchbase's.
	Rebalanced         // the document's vbucket moves to another node
	FailedOver         // the document's node is killed and failed over, and added back later
	BlackHoled         // nothing comes from or to the document's node for longer than an operation's timeout
	TemporaryFailure   // the server returns a temporary failure once
	DocumentLocked     // somebody else locks the document for a while
	SyncWriteAmbiguous // the server answers a durable write with "ambiguous" (a3)

	// RequestDelayed is MongoDB's: the connection breaks, and the request arrives, and is executed, after its operation has ended.
	RequestDelayed
)

// faultKinds is the number of kinds of faults.
const faultKinds = int(RequestDelayed) + 1

var faultNames = [faultKinds]string{
	"request-lost", "reply-lost", "step-down", "primary-killed", "partition", "outage", "command-error", "overload",
	"rebalance", "hard-failover", "black-hole", "temporary-failure", "lock", "a3",
	"delayed-request",
}

// String returns the name of the fault. The failure with only this fault has the same name.
func (k FaultKind) String() string { return faultNames[k] }

// MarshalText returns the name.
func (k FaultKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// breaksCluster reports whether the fault affects the whole cluster, or a document, for a while, and not one message only.
func (k FaultKind) breaksCluster() bool {
	switch k {
	case SteppedDown, PrimaryKilled, Partitioned, Rebalanced, FailedOver, BlackHoled, DocumentLocked:
		return true
	case RequestLost, ReplyLost, Outage, CommandRefused, ServerOverloaded, TemporaryFailure, SyncWriteAmbiguous, RequestDelayed:
	}
	return false
}

// sentAgain reports whether an operation with the fault is applied by its second message.
func (k FaultKind) sentAgain() bool { return k == RequestLost || k == ServerOverloaded }

// Mixed is the failure of all faults together.
const Mixed = "mixed"

// has reports whether the failure includes a kind of fault.
func (f Failure) has(kind FaultKind) bool {
	for _, k := range f.faults {
		if k == kind {
			return true
		}
	}
	return false
}
