package retry

// Idempotency says whether sending the same thing twice does harm. An operation has one, and each of its attempts can have a
// better one: an increment with a transaction number is idempotent on a server that recognises repetitions, and not
// idempotent on a server that does not.
type Idempotency uint8

// The idempotencies. The zero value is the careful one.
const (
	NotIdempotent Idempotency = iota // sending it twice may apply it twice
	Idempotent                       // it may be sent twice
	ReadOnly                         // it changes nothing
)

// String returns the idempotency in words.
func (e Idempotency) String() string {
	switch e {
	case NotIdempotent:
		return "not idempotent"
	case Idempotent:
		return "idempotent"
	case ReadOnly:
		return "read only"
	}
	return "unknown idempotency"
}
