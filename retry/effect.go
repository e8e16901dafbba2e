package retry

// Effect is what sending the same attempt twice would do. It belongs to the attempt, not to the operation: an
// increment with a transaction number is idempotent on a server that deduplicates and not on one that does not.
type Effect uint8

// The effects. The zero value is the careful one.
const (
	NotIdempotent Effect = iota // a second sending may apply it a second time
	Idempotent                  // may be sent twice
	ReadOnly                    // changes nothing
)

// String returns the effect in words.
func (e Effect) String() string {
	switch e {
	case NotIdempotent:
		return "not idempotent"
	case Idempotent:
		return "idempotent"
	case ReadOnly:
		return "read only"
	}
	return "unknown effect"
}
