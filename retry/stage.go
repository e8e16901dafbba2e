package retry

// Stage is how far an attempt had come when it failed.
type Stage uint8

// The stages. The zero value is the careful one: it is safe for a failure whose stage was forgotten.
const (
	// StageInFlight: bytes may have reached the server, and no complete answer came. The operation may have been applied.
	StageInFlight Stage = iota
	// StageBeforeSending: nothing was sent.
	StageBeforeSending
	// StageAnswered: the server answered.
	StageAnswered
)

// String returns the stage in words.
func (s Stage) String() string {
	switch s {
	case StageInFlight:
		return "in flight"
	case StageBeforeSending:
		return "before sending"
	case StageAnswered:
		return "answered"
	}
	return "unknown stage"
}
