package couchbase

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestExpiriesAsServersTakeThem(t *testing.T) {
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		now := uint32(time.Now().Unix())
		for _, c := range []struct {
			name   string
			expiry time.Duration
			want   uint32
			bad    bool
		}{
			{"0 means never", 0, 0, false},
			{"less than a second is a second, because 0 means never", time.Nanosecond, 1, false},
			{"just below a second", time.Second - 1, 1, false},
			{"seconds are counted whole", 1900 * time.Millisecond, 1, false},
			{"below 30 days it is relative", 30*day - time.Second, 30*86400 - 1, false},
			{"just below 30 days", 30*day - 1, 30*86400 - 1, false},
			{"30 days are the time of their end", 30 * day, now + 30*86400, false},
			{"a year", 365 * day, now + 365*86400, false},
			{"after the year 2106", 107 * 365 * day, 0, true},
			{"the longest duration", 1<<63 - 1, 0, true},
			{"a negative one", -1, 0, true},
		} {
			got, err := encodeExpiry("Expiry", c.expiry)
			if got != c.want || (err != nil) != c.bad || err != nil && !errors.Is(err, ErrInvalidArgument) {
				t.Errorf("%s: %d %v", c.name, got, err)
			}
		}
	})
}

func TestLockTimesAsServersTakeThem(t *testing.T) {
	for _, c := range []struct {
		name string
		time time.Duration
		want uint32
		bad  bool
	}{
		{"0 means the server's default", 0, 0, false},
		{"less than a second is a second, because 0 means the default", time.Nanosecond, 1, false},
		{"seconds are counted whole", 2900 * time.Millisecond, 2, false},
		{"30 s are the most", 30 * time.Second, 30, false},
		{"more would mean the server's default, which is shorter", time.Hour, 30, false},
		{"a negative one", -1, 0, true},
	} {
		got, err := encodeLockTime(c.time)
		if got != c.want || (err != nil) != c.bad || err != nil && !errors.Is(err, ErrInvalidArgument) {
			t.Errorf("%s: %d %v", c.name, got, err)
		}
	}
}
