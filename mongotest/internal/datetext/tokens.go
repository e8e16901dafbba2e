package datetext

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// dateTokens are all kinds of tokens; of two that are as long, the first is meant. Few need them, so they are not compiled at once.
var dateTokens = sync.OnceValue(func() []dateToken { return slices.Concat(timeTokens(), calendarTokens(), otherTokens()) })

// timeTokens are names of days and times.
func timeTokens() []dateToken {
	return []dateToken{
		token(`(?i:yesterday)`, func(s *dateScan, _ *tokenText) { s.moved, s.days = true, -1; s.midnight() }),
		token(`(?i:now)`, func(*dateScan, *tokenText) {}),
		token(`(?i:noon)`, func(s *dateScan, _ *tokenText) { s.midnight(); s.setTime(12, 0, 0, 0) }),
		token(`(?i:midnight|today)`, func(s *dateScan, _ *tokenText) { s.midnight() }),
		token(`(?i:tomorrow)`, func(s *dateScan, _ *tokenText) { s.moved, s.days = true, 1; s.midnight() }),
		token(`@-?[0-9]+(?:\.[0-9]{0,6})?`, readSeconds),
		token(`(?i:(?:first|last) day of)`, func(s *dateScan, t *tokenText) { s.moved, s.edge = true, t.word(); s.midnight() }),
		token(`(?i:back of |front of )<hour24>(?:(?:<space>)?<meridian>)?`, readAround),
		token(`(?:<ordinal>|<which>)<space><dayname><space>(?i:of)`, func(s *dateScan, t *tokenText) { s.unsupported = t.rest }),
		token(`<hour12>(?:<space>)?<meridian>|<hour12>[:.]<minutelz>(?:<space>)?<meridian>|<hour12>[:.]<minute>[:.]<secondlz>(?:<space>)?<meridian>`,
			readHalfDay),
		token(`<hour12>:<minutelz>:<secondlz>[:.][0-9]+<meridian>`, readHalfDay),
		token(`[tT]<hour24>|[tT]?<hour24>[:.]<minute>(?:[:.]<second>(?:<frac>)?)?`, func(s *dateScan, t *tokenText) { t.readTime(s) }),
		token(`[tT]?<hour24lz><minutelz>`, readColonless),
		token(`[tT]?<hour24lz><minutelz><secondlz>`,
			func(s *dateScan, t *tokenText) { s.setTime(t.number(2), t.number(2), t.number(2), 0) }),
	}
}

// calendarTokens are dates, with a time or without.
func calendarTokens() []dateToken {
	return []dateToken{
		token(`<month>/<day>`, dateOrder("md", 4)),
		token(`<month>/<day>/<year>`, dateOrder("mdy", 4)),
		token(`[+-]?<year4>-<monthlz>-<daylz>|<year4>/<month>/<day>/?|[+-][0-9]{5,19}-<monthlz>-<daylz>`, readSignedDate),
		token(`<year2>-<monthlz>-<daylz>`, dateOrder("ymd", 4)),
		token(`<year4>-<month>`, func(s *dateScan, t *tokenText) { s.setDate(t.year(4), t.number(2), 1) }),
		token(`<year>-<month>-<day>`, dateOrder("ymd", 4)),
		token(`<day><sep><monthtext><sep><year>`, dateOrder("dMy", 4)),
		token(`<day>[.\t-]<month>[.-]<year4>`, dateOrder("dmy", 4)),
		token(`<day>[.\t]<month>\.<year2>`, dateOrder("dmy", 2)),
		token(`<monthtext><sep><year4>`, func(s *dateScan, t *tokenText) { m := t.month(); s.setDate(t.year(4), m, 1) }),
		token(`<year4><sep><monthtext>`, func(s *dateScan, t *tokenText) { s.setDate(t.year(4), t.month(), 1) }),
		token(`<monthtext><sep><day>[,.stndrh\t ]+<year>|<monthtext><sep><day>(?:[,.stndrh\t ]+|\x00)`, dateOrder("Mdy", 4)),
		token(`<day><sep><monthtext>`, dateOrder("dM", 4)),
		token(`<year4><monthlz><daylz>`, dateOrder("ymd", 4)),
		token(`<year4><monthlz><daylz>T<hour24>:<minutelz>:<secondlz>|<year4><monthlz><daylz>[tT]<hour24><minutelz><secondlz>|`+
			`<year4>-<monthlz>-<daylz>T<hour24lz>:<minutelz>:<secondlz><frac>(?:<tzcor>)?|<year4>-<month>-<day>T<hour24>:<minute>:<second>|`+
			`<year4>:<monthlz>:<daylz> <hour24lz>:<minutelz>:<secondlz>`, readDateTime),
		token(`<year4>[.-]?<dayofyear>`, func(s *dateScan, t *tokenText) { s.setDate(t.year(4), 1, t.number(3)) }),
		token(`<year4>-?W<week>(?:-?[0-7])?`, readWeek),
		token(`<monthabbr>-<daylz>-<year>`, dateOrder("Mdy", 4)),
		token(`<year>-<monthabbr>-<daylz>`, dateOrder("yMd", 4)),
		token(`<day>/<monthabbr>/<year4>:<hour24lz>:<minutelz>:<secondlz><space><tzcor>`, readLogged),
	}
}

// otherTokens are years, zones and relative dates.
func otherTokens() []dateToken {
	return []dateToken{
		token(`<year4>`, func(s *dateScan, t *tokenText) { s.setYear(t.number(4)) }),
		token(`(?i:ago)`, func(s *dateScan, _ *tokenText) { s.relative = s.inverted() }),
		token(`<dayname>|(?i:weekdays?)`, readWeekday),
		token(`(?:<ordinal>|<which>)<space>(?:<unit>|(?i:week))`, readRelativeText),
		token(`<monthfull>|<monthabbr>`, func(s *dateScan, t *tokenText) { readMonth(s, t.month()) }),
		token(`<tzcor>|<tz>`, func(s *dateScan, t *tokenText) { t.readZone(s) }),
		token(`<monthtext><sep><day>[,.stndrh\t ]+(?:[tT]?<hour24>[:.]<minute>(?:[:.]<second>)?|<hour12>[:.]<minutelz>(?:<space>)?<meridian>|`+
			`<hour12>[:.]<minute>[:.]<secondlz>(?:<space>)?<meridian>|[tT]?<hour24>[:.]<minute>[:.]<secondlz>(?:<space>)?(?:<tzcor>|<tz>))`,
			readShort),
		token(`[+-]*[ \t]*[0-9]{1,13}(?:<space>)?(?:<unit>|(?i:week))`, readRelative),
	}
}

// dateOrder reads a date whose parts come in the order of letters: y, m, d, and M for a month's name.
func dateOrder(order string, yearDigits int) func(*dateScan, *tokenText) {
	return func(s *dateScan, t *tokenText) {
		year, month, day := sameYear, 0, 0
		for _, c := range order {
			switch c {
			case 'y':
				year = t.year(yearDigits)
			case 'm':
				month = t.number(2)
			case 'M':
				month = t.month()
			case 'd':
				day = t.number(2)
				t.skipSuffix()
			}
		}
		s.setDate(year, month, day)
	}
}

func readSignedDate(s *dateScan, t *tokenText) {
	sign := 1
	if t.has("+-") && strings.HasPrefix(s.text[s.at:], "-") {
		sign = -1
	}
	s.setDate(sign*t.number(19), t.number(2), t.number(2))
}

func readMonth(s *dateScan, month int) {
	if s.hasDate {
		s.error("Double date specification")
		return
	}
	s.hasDate, s.HasMonth, s.Month = true, true, month
}

// readSeconds reads seconds from the first of January 1970.
func readSeconds(s *dateScan, t *tokenText) {
	whole, _, _ := strings.Cut(t.rest[1:], ".")
	seconds, err := strconv.Atoi(whole)
	if err != nil {
		s.error("Number out of range")
		return
	}
	t.rest = t.rest[1+len(whole):]
	nano := t.fraction()
	if seconds < 0 || strings.HasPrefix(whole, "-") {
		nano = -nano
	}
	s.midnight()
	s.hasDate = false
	s.setDate(1970, 1, 1)
	s.hasDate = false
	s.moved, s.seconds, s.nanos = true, s.seconds+seconds, s.nanos+nano
	if s.anotherZone() {
		s.Zone = time.FixedZone("", 0)
	}
}

// readTime reads hours, and minutes, seconds and a fraction if there are.
func (t *tokenText) readTime(s *dateScan) bool {
	hour, minute, second, nano := t.number(2), 0, 0, 0
	if t.has(":.") {
		minute = t.number(2)
		if t.has(":.") {
			second = t.number(2)
			nano = t.fraction()
		}
	}
	return s.setTime(hour, minute, second, nano)
}

// readHalfDay reads a time with am or pm.
func readHalfDay(s *dateScan, t *tokenText) {
	if t.readTime(s) {
		s.Hour = t.meridian(s.Hour)
	}
}

// readAround reads a quarter of an hour to or past an hour.
func readAround(s *dateScan, t *tokenText) {
	which, _ := t.word(), t.word()
	s.midnight()
	s.setTime(t.number(2), 15, 0, 0)
	s.Hour = t.meridian(s.Hour)
	if which == "front" {
		s.Hour, s.Minute = s.Hour-1, 45
	}
}

func (t *tokenText) meridian(hour int) int {
	letters := meridian.FindString(t.rest)
	t.rest = t.rest[len(letters):]
	switch strings.ToLower(strings.Trim(letters, " \t\u00a0\u202f.mM\x00")) {
	case "a":
		return hour % 12
	case "p":
		return hour%12 + 12
	}
	return hour
}

var meridian = regexp.MustCompile(`^(?:` + dateParts["space"] + `)?` + dateParts["meridian"])

// readColonless reads four digits: a time, or a year if there is a time already.
func readColonless(s *dateScan, t *tokenText) {
	switch s.times {
	case 0:
		second, nano := s.Second, s.Nano
		s.setTime(t.number(2), t.number(2), second, nano)
	case 1:
		s.setYear(t.number(4))
		s.times++
	default:
		s.error("Double time specification")
	}
}

func readDateTime(s *dateScan, t *tokenText) {
	date := [3]int{t.number(4), t.number(2), t.number(2)}
	if !s.setTime(t.number(2), t.number(2), t.number(2), t.fraction()) {
		return
	}
	s.setDate(date[0], date[1], date[2])
	t.ownZone(s)
}

func readLogged(s *dateScan, t *tokenText) {
	day, month, year := t.number(2), t.month(), t.number(4)
	if s.setTime(t.number(2), t.number(2), t.number(2), 0) {
		s.setDate(year, month, day)
		t.ownZone(s)
	}
}

func readShort(s *dateScan, t *tokenText) {
	month, day := t.month(), t.number(2)
	s.setDate(sameYear, month, day)
	readHalfDay(s, t)
	t.ownZone(s)
}

// ownZone reads the zone of a time in the same token, which does not count as one.
func (t *tokenText) ownZone(s *dateScan) {
	if name := t.zoneName(); name != "" {
		s.setZone(name)
	}
}

func (t *tokenText) zoneName() string { return strings.Trim(t.rest, " \t()\x00") }

// readWeek reads a day, or the first, of a week of an ISO year.
func readWeek(s *dateScan, t *tokenText) {
	year, week := t.number(4), t.number(2)
	day, n := t.numberAnd(1)
	if n == 0 {
		day = 1
	}
	s.setDate(year, 1, 1)
	s.moved, s.days = true, ISODay(year, week, day)-1
}

// readZone reads an offset or a zone's abbreviation, if one is left.
func (t *tokenText) readZone(s *dateScan) {
	name := t.zoneName()
	if name == "" {
		return
	}
	if !s.anotherZone() {
		return
	}
	s.setZone(name)
}

func (s *dateScan) setZone(name string) {
	zone, ok := zoneOf(name)
	if !ok {
		s.error("passing a time zone identifier as part of the string is not allowed")
	}
	s.Zone = zone
}

// anotherZone notes that there is a zone, and reports whether it is the only one. The second is no more than a warning.
func (s *dateScan) anotherZone() bool {
	switch s.zones++; s.zones {
	case 1:
		return true
	case 2:
		s.warning("Double timezone specification")
	default:
		s.error("Double timezone specification")
	}
	return false
}
