package prove

// Failure is what is done to the messages of a cell.
type Failure struct {
	Name  string
	Title string
	// faults are what a plan may choose from.
	faults []FaultKind
}

// FaultKind is one thing that can happen to a message.
type FaultKind uint8

// The kinds of faults.
const (
	RequestLost      FaultKind = iota // the connection breaks before the request is executed
	ReplyLost                         // the connection breaks after it was executed
	SteppedDown                       // the primary steps down
	PrimaryKilled                     // the primary's process dies; it is restarted later
	Partitioned                       // the primary is cut off, silently; healed later
	Outage                            // everything is unreachable until the load ends
	CommandRefused                    // the server answers with an error that no retry can help
	ServerOverloaded                  // the server answers that it is overloaded, once
)

// faultKinds is how many there are.
const faultKinds = int(ServerOverloaded) + 1

var faultNames = [faultKinds]string{
	"request-lost", "reply-lost", "step-down", "primary-killed", "partition", "outage", "command-error", "overload",
}

// String returns the fault's name, which is also that of the failure consisting of it.
func (k FaultKind) String() string { return faultNames[k] }

// MarshalText writes the name.
func (k FaultKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// breaksCluster reports whether the fault concerns more than one message, for a while.
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

// Failures returns all failures in the order of the design.
func Failures() []Failure { return append([]Failure(nil), failures...) }

// FailuresNamed returns the failures with these names, all if there are none.
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
