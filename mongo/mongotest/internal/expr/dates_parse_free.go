package expr

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// parseFree reads a date that is written in any of the usual ways.
func parseFree(text string) (*civil, error) {
	if text == "" {
		return nil, dateProblem(text, 0, "Empty string")
	}
	const space = " \t\n\v\f\r"
	trimmed := strings.TrimLeft(text[:len(text)-1], space) + text[len(text)-1:]
	trimmed = trimmed[:1] + strings.TrimRight(trimmed[1:], space)
	s := scanDate(trimmed)
	all := problems{text: text, found: append(s.errors.found, s.warnings.found...)}
	if all.found == nil && s.unsupported != "" {
		return nil, fail(query.NotImplemented, "mongotest: the unit %s in the text of a date is not supported", s.unsupported)
	}
	return &s.civil, all.err()
}

// zoneOf reads an offset, which makes a zone without a name, a military letter or an abbreviation.
func zoneOf(name string) (*time.Location, bool) {
	if offset := strings.TrimPrefix(name, "GMT"); offset != "" && (offset[0] == '+' || offset[0] == '-') {
		return time.FixedZone("", offsetDigits(offset)), len(offset) > 1 && isDigit(offset[1])
	}
	name = strings.ToUpper(name)
	seconds, ok := abbreviatedZones[name]
	if len(name) == 1 {
		seconds, ok = militaryZone(name[0])
	}
	return time.FixedZone(name, seconds), ok
}

// offsetDigits reads a sign, hours, minutes and seconds.
func offsetDigits(s string) (seconds int) {
	digits := s[1:]
	if n := strings.IndexByte(digits+":", ':'); n == 1 || n == 3 {
		digits = "0" + digits
	}
	t := &tokenText{digits}
	seconds = t.number(2)*3600 + t.number(2)*60 + t.number(2)
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds
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

func minutesOffset(s string) (*time.Location, bool) {
	n, err := strconv.Atoi(s)
	return time.FixedZone("", n*60), err == nil && !isDigit(s[0])
}
