package store

import "fmt"

// Timestamp is a BSON timestamp: seconds in the high half, a counter in the low.
type Timestamp uint64

// Seconds returns the seconds since 1970.
func (t Timestamp) Seconds() uint32 { return uint32(t >> 32) }

// Increment returns the number of the operation within its second.
func (t Timestamp) Increment() uint32 { return uint32(t) }

// Text returns the timestamp as errors have it.
func (t Timestamp) Text() string {
	return fmt.Sprintf("{ ts: Timestamp(%d, %d) }", t.Seconds(), t.Increment())
}
