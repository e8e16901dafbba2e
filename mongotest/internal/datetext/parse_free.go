package datetext

import (
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// ParseFree reads a date that is written in any of the usual ways.
func ParseFree(text string) (*Civil, error) {
	if text == "" {
		var empty problems
		empty.add(0, "Empty string")
		return nil, empty.err()
	}
	const space = " \t\n\v\f\r"
	trimmed := strings.TrimLeft(text[:len(text)-1], space) + text[len(text)-1:]
	trimmed = trimmed[:1] + strings.TrimRight(trimmed[1:], space)
	s := scanDate(trimmed)
	all := problems{text: text, found: append(s.errors.found, s.warnings.found...)}
	if all.found == nil && s.unsupported != "" {
		return nil, mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the unit %s in the text of a date is not supported", s.unsupported)
	}
	return &s.Civil, all.err()
}

// zoneOf reads an offset, which makes a zone without a name, a military letter or an abbreviation.
func zoneOf(name string) (*time.Location, bool) {
	if offset := strings.TrimPrefix(name, "GMT"); offset != "" && (offset[0] == '+' || offset[0] == '-') {
		seconds, ok := offsetSeconds(offset)
		return time.FixedZone("", seconds), ok
	}
	name = strings.ToUpper(name)
	seconds, ok := abbreviatedZones[name]
	if len(name) == 1 {
		seconds, ok = militaryZone(name[0])
	}
	return time.FixedZone(name, seconds), ok
}

// offsetSeconds reads an offset's sign, hours, minutes and seconds, with colons between or without.
func offsetSeconds(s string) (seconds int, ok bool) {
	digits := s[1:]
	n := leading(digits)
	colon := func(at int) bool { return digits[at] == ':' }
	switch length := len(digits); {
	case length == 1 || length == 2:
		seconds = n * 3600
	case (length == 3 || length == 4) && colon(1):
		seconds = n*3600 + leading(digits[2:])*60
	case length >= 3 && length <= 5 && colon(2):
		seconds = n*3600 + leading(digits[3:])*60
	case length == 3 || length == 4:
		seconds = n/100*3600 + n%100*60
	case length == 6:
		seconds = n/10_000*3600 + n/100%100*60 + n%100
	case length == 8 && colon(2) && colon(5):
		seconds = n*3600 + leading(digits[3:])*60 + leading(digits[6:])
	default:
		return 0, false
	}
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// leading is the number of the digits that a text begins with, 0 if it begins with none.
func leading(s string) (n int) {
	for i := 0; i < len(s) && isDigit(s[i]); i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// militaryZone gives a letter's seconds: A to M without J go east, N to Y west.
func militaryZone(c byte) (int, bool) {
	switch {
	case c >= 'A' && c < 'J':
		return (int(c-'A') + 1) * 3600, true
	case c > 'J' && c <= 'M':
		return int(c-'A') * 3600, true
	case c >= 'N' && c <= 'Y':
		return -(int(c-'N') + 1) * 3600, true
	}
	return 0, c == 'Z'
}
