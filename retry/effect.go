package retry

// Effect says whether sending the same thing twice does harm. An operation has one, and each of its attempts can have a
// better one: an increment with a transaction number is idempotent on a server that recognises repetitions, and not
// idempotent on a server that does not.
type Effect uint8

// The effects. The zero value is the careful one.
const (
	EffectNotIdempotent Effect = iota // sending it twice may apply it twice
	EffectIdempotent                  // it may be sent twice
	EffectReadOnly                    // it changes nothing
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
