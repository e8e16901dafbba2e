package retry

// Stage is how far an attempt came before it failed.
type Stage uint8

// The stages. The zero value claims nothing: it is the safe one for a failure whose stage was forgotten.
const (
	// InFlight: bytes may have reached the server and no whole answer came, so the effect is unknown.
	InFlight Stage = iota
	// Dispatch: nothing was sent.
	Dispatch
	// Responded: the server answered.
	Responded
)

// String returns the stage in words.
func (s Stage) String() string {
	switch s {
	case InFlight:
		return "in flight"
	case Dispatch:
		return "before sending"
	case Responded:
		return "answered"
	}
	return "unknown stage"
}
