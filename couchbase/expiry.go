package couchbase

import (
	"math"
	"time"
)

// relativeExpiry is the shortest duration that a server does not take as one: longer numbers are times since 1970.
const relativeExpiry = 30 * 24 * time.Hour

// encodeExpiry returns an expiry as servers take it: seconds for durations below 30 days, the time of the end for others, 0 for none.
func encodeExpiry(field string, d time.Duration) (uint32, error) {
	switch {
	case d < 0:
		return 0, invalid("%s is %v; it must not be negative", field, d)
	case d == 0:
		return 0, nil
	case d < time.Second:
		return 1, nil // 0 would mean that the document never expires
	case d < relativeExpiry:
		return uint32(d / time.Second), nil
	}
	end := time.Now().Add(d).Unix()
	if end < 0 || end > math.MaxUint32 {
		return 0, invalid("%s is %v, which ends after the year 2106; servers store no later time", field, d)
	}
	return uint32(end), nil
}

// encodeLockTime returns a lock's time in seconds, as servers take it.
func encodeLockTime(d time.Duration) (uint32, error) {
	const most = 30 * time.Second
	switch {
	case d < 0:
		return 0, invalid("lockTime is %v; it must not be negative", d)
	case d > 0 && d < time.Second:
		return 1, nil // 0 would mean the server's default
	}
	return uint32(min(d, most) / time.Second), nil
}
