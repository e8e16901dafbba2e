package prove

// Failure is the kinds of faults that a cell injects.
type Failure struct {
	Name  string
	Title string
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

// Mixed is the failure of all faults together.
const Mixed = "mixed"

var failures = []Failure{
	{"request-lost", "request lost", []FaultKind{RequestLost}},
	{"reply-lost", "reply lost", []FaultKind{ReplyLost}},
	{"step-down", "step-down", []FaultKind{SteppedDown}},
	{"primary-killed", "primary killed", []FaultKind{PrimaryKilled}},
	{"partition", "partition", []FaultKind{Partitioned}},
	{"outage", "persistent outage", []FaultKind{Outage}},
	{"command-error", "command error", []FaultKind{CommandRefused}},
	{"overload", "overload", []FaultKind{ServerOverloaded}},
	{Mixed, "all mixed", []FaultKind{
		RequestLost, ReplyLost, SteppedDown, PrimaryKilled, Partitioned, CommandRefused, ServerOverloaded, Outage,
	}},
}

// Failures returns all failures.
func Failures() []Failure { return append([]Failure(nil), failures...) }

// FailuresNamed returns the failures with these names, or all if names is empty.
func FailuresNamed(names []string) ([]Failure, error) {
	return named("failure", Failures(), names, func(f Failure) string { return f.Name })
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

// FailureNames returns the names of all failures.
func FailureNames() []string {
	var names []string
	for _, f := range failures {
		names = append(names, f.Name)
	}
	return names
}
