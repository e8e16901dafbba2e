package retry

// Effect is what sending the same attempt twice would do. It belongs to the attempt, not to the operation: an
// increment with a transaction number is idempotent on a server that deduplicates and not on one that does not.
type Effect uint8

// The effects. The zero value is the careful one.
const (
	EffectNotIdempotent Effect = iota // a second sending may apply it a second time
	EffectIdempotent                  // may be sent twice
	EffectReadOnly                    // changes nothing
)

// String returns the effect in words.
func (e Effect) String() string {
	switch e {
	case EffectNotIdempotent:
		return "not idempotent"
	case EffectIdempotent:
		return "idempotent"
	case EffectReadOnly:
		return "read only"
	}
	return "unknown effect"
}
