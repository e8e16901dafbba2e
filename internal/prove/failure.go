package prove

import "slices"

// Failure is the kinds of faults that a cell injects.
type Failure struct {
	Name  string
	Title string
	// W, if not "", is the write concern of the cell in place of the settings' one.
	W string
	// faults are the kinds of faults in a plan.
	faults []FaultKind
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
)

// faultKinds is the number of kinds of faults.
const faultKinds = int(ServerOverloaded) + 1

var faultNames = [faultKinds]string{
	"request-lost", "reply-lost", "step-down", "primary-killed", "partition", "outage", "command-error", "overload",
}

// String returns the name of the fault. The failure with only this fault has the same name.
func (k FaultKind) String() string { return faultNames[k] }

// MarshalText returns the name.
func (k FaultKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// breaksCluster reports whether the fault affects the whole cluster for a while, and not one message only.
func (k FaultKind) breaksCluster() bool {
	return k == SteppedDown || k == PrimaryKilled || k == Partitioned
}

// sentAgain reports whether an operation with the fault is applied by its second message.
func (k FaultKind) sentAgain() bool { return k == RequestLost || k == ServerOverloaded }

// Mixed is the failure of all faults together.
const Mixed = "mixed"

var failures = []Failure{
	{Name: "request-lost", Title: "request lost", faults: []FaultKind{RequestLost}},
	{Name: "reply-lost", Title: "reply lost", faults: []FaultKind{ReplyLost}},
	{Name: "step-down", Title: "step-down", faults: []FaultKind{SteppedDown}},
	{Name: "primary-killed", Title: "primary killed", faults: []FaultKind{PrimaryKilled}},
	{Name: "partition", Title: "partition", faults: []FaultKind{Partitioned}},
	{Name: "outage", Title: "persistent outage", faults: []FaultKind{Outage}},
	{Name: "command-error", Title: "command error", faults: []FaultKind{CommandRefused}},
	{Name: "overload", Title: "overload", faults: []FaultKind{ServerOverloaded}},
	{Name: Mixed, Title: "all mixed", faults: []FaultKind{
		RequestLost, ReplyLost, SteppedDown, PrimaryKilled, Partitioned, CommandRefused, ServerOverloaded, Outage,
	}},
}

// rollbacks are the failures in which acknowledged writes are lost and must stay lost.
var rollbacks = []Failure{
	{Name: "primary-killed-w1", Title: "primary killed, w:1", W: One, faults: []FaultKind{PrimaryKilled}},
	{Name: "partition-w1", Title: "partition, w:1", W: One, faults: []FaultKind{Partitioned}},
}

// Failures returns all failures except Rollbacks.
func Failures() []Failure { return slices.Clone(failures) }

// Rollbacks returns the failures of the cluster with write concern 1. The members roll back acknowledged writes there: a
// deployment that keeps them is not as expected.
func Rollbacks() []Failure { return slices.Clone(rollbacks) }

// FailuresNamed returns the failures with these names, or Failures if names is empty.
func FailuresNamed(names []string) ([]Failure, error) {
	if len(names) == 0 {
		return Failures(), nil
	}
	return named("failure", slices.Concat(failures, rollbacks), names, func(f Failure) string { return f.Name })
}

// has reports whether the failure includes a kind of fault.
func (f Failure) has(kind FaultKind) bool {
	for _, k := range f.faults {
		if k == kind {
			return true
		}
	}
	return false
}

// FailureNames returns the names of Failures and Rollbacks.
func FailureNames() []string {
	var names []string
	for _, f := range slices.Concat(failures, rollbacks) {
		names = append(names, f.Name)
	}
	return names
}
