package datetext

import (
	"time"
)

// ISODay returns the day, counted from the first of January, of a day in a week of an ISO year.
func ISODay(year, week, day int) int {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is always in the first week
	return 4 - ISODayOfWeek(fourth) + (week-1)*7 + day
}

// ISODayOfWeek returns 1 for a Monday to 7 for a Sunday.
func ISODayOfWeek(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// DaysIn returns how many days a month has.
func DaysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// LocalTime is time.Date, but definite where the clock is changed: a time that it jumps over is read with the offset
// before the jump, one that it shows twice is the second.
func LocalTime(year int, month time.Month, day, hour, minute, second, nano int, zone *time.Location) time.Time {
	wall := time.Date(year, month, day, hour, minute, second, nano, time.UTC)
	before := WithOffsetOf(wall, wall.Add(-24*time.Hour).In(zone))
	after := WithOffsetOf(wall, wall.Add(24*time.Hour).In(zone))
	if Shows(after, wall) {
		return after
	}
	return before
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Shows reports whether a moment is shown as a date and time of day in its zone; those are in UTC.
func Shows(t, wall time.Time) bool {
	_, offset := t.Zone()
	return t.Unix()+int64(offset) == wall.Unix()
}

// WithOffsetOf returns the moment at which a clock with the offset of other shows wall.
func WithOffsetOf(wall, other time.Time) time.Time {
	_, offset := other.Zone()
	return wall.Add(-time.Duration(offset) * time.Second).In(other.Location())
}
