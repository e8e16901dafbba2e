package datetext

import (
	"strings"
	"time"
)

// relative is what a text adds to its date: "+1 day", "next month", "monday".
type relative struct {
	moved                  bool
	years, months, days    int
	hours, minutes         int
	seconds, nanos         int
	edge                   string // "first" or "last" day of the month
	hasWeekday, wholeWeeks bool
	weekday                int
	today                  bool // the weekday may be the date itself
}

// inverted is "ago".
func (r relative) inverted() relative {
	r.years, r.months, r.days = -r.years, -r.months, -r.days
	r.hours, r.minutes, r.seconds = -r.hours, -r.minutes, -r.seconds
	if r.hasWeekday {
		r.weekday = -r.weekday
		if r.weekday == 0 {
			r.weekday = -7
		}
	}
	return r
}

// relativeUnits say what one of a unit adds.
var relativeUnits = map[string]func(r *relative, amount int){
	"ms":          func(r *relative, n int) { r.nanos += n * 1e6 },
	"msec":        func(r *relative, n int) { r.nanos += n * 1e6 },
	"millisecond": func(r *relative, n int) { r.nanos += n * 1e6 },
	"µs":          func(r *relative, n int) { r.nanos += n * 1e3 },
	"µsec":        func(r *relative, n int) { r.nanos += n * 1e3 },
	"usec":        func(r *relative, n int) { r.nanos += n * 1e3 },
	"microsecond": func(r *relative, n int) { r.nanos += n * 1e3 },
	"sec":         func(r *relative, n int) { r.seconds += n },
	"second":      func(r *relative, n int) { r.seconds += n },
	"min":         func(r *relative, n int) { r.minutes += n },
	"minute":      func(r *relative, n int) { r.minutes += n },
	"hour":        func(r *relative, n int) { r.hours += n },
	"day":         func(r *relative, n int) { r.days += n },
	"week":        func(r *relative, n int) { r.days += 7 * n },
	"fortnight":   func(r *relative, n int) { r.days += 14 * n },
	"forthnight":  func(r *relative, n int) { r.days += 14 * n },
	"month":       func(r *relative, n int) { r.months += n },
	"year":        func(r *relative, n int) { r.years += n },
}

var relativeTexts = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eight": 8, "eighth": 8, "ninth": 9,
	"tenth": 10, "eleventh": 11, "twelfth": 12, "next": 1, "last": -1, "previous": -1, "this": 0,
}

// readRelative reads a number and a unit.
func readRelative(s *dateScan, t *tokenText) {
	signs := t.rest[:strings.IndexFunc(t.rest, func(r rune) bool { return r >= '0' && r <= '9' })]
	amount := t.number(13)
	if strings.Count(signs, "-")%2 == 1 {
		amount = -amount
	}
	s.add(amount, t.word(), true)
}

// readRelativeText reads which of a unit is meant.
func readRelativeText(s *dateScan, t *tokenText) {
	which, unit := t.word(), t.word()
	if _, ok := weekdayNumber(unit); ok {
		s.midnight()
	}
	s.add(relativeTexts[which], unit, which == "this")
	if unit == "week" {
		s.wholeWeeks = true
		if !s.hasWeekday {
			s.hasWeekday, s.weekday = true, 1
		}
	}
}

func (s *dateScan) add(amount int, unit string, today bool) {
	s.moved = true
	if add, ok := relativeUnits[unit]; ok {
		add(&s.relative, amount)
		return
	}
	if day, ok := weekdayNumber(unit); ok {
		if amount > 0 {
			amount--
		}
		s.days += 7 * amount
		s.hasWeekday, s.weekday, s.today, s.wholeWeeks = true, day, today, false
		return
	}
	if add, ok := relativeUnits[strings.TrimSuffix(unit, "s")]; ok {
		add(&s.relative, amount)
		return
	}
	s.unsupported = unit
}

func readWeekday(s *dateScan, t *tokenText) {
	s.moved = true
	s.midnight()
	name := t.word()
	if s.weekday, s.hasWeekday = weekdayNumber(name); !s.hasWeekday {
		s.unsupported = name
	}
	s.today = true
}

func weekdayNumber(name string) (int, bool) {
	at := strings.Index("sunmontuewedthufrisat", (name + "   ")[:3])
	return at / 3, at >= 0 && at%3 == 0 && name != "second" && name != "month" && !strings.HasPrefix(name, "weekday")
}

// From returns the moment that is meant from a date on.
func (r *relative) From(t time.Time) time.Time {
	if !r.moved {
		return t
	}
	zone := t.Location()
	year, month, day := r.atEdge(t.Date())
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	year, month, day = date.AddDate(0, 0, r.toWeekday(int(date.Weekday()))).Date()
	year, month, day = r.atEdge(year+r.years, month+time.Month(r.months), day+r.days)
	return LocalTime(year, month, day, t.Hour()+r.hours, t.Minute()+r.minutes, t.Second()+r.seconds, t.Nanosecond()+r.nanos, zone)
}

// atEdge returns the first or the last day of the month, if that is meant.
func (r *relative) atEdge(year int, month time.Month, day int) (int, time.Month, int) {
	switch r.edge {
	case "first":
		return year, month, 1
	case "last":
		return year, month + 1, 0
	}
	return year, month, day
}

// toWeekday returns how many days it is to the weekday that is meant.
func (r *relative) toWeekday(current int) int {
	switch {
	case !r.hasWeekday:
		return 0
	case r.wholeWeeks && r.weekday == 0 && current != 0: // a week begins with its Monday
		return 7 - current
	case r.wholeWeeks && r.weekday != 0 && current == 0:
		return r.weekday - 7
	case r.wholeWeeks:
		return r.weekday - current
	}
	days := r.weekday - current
	if r.weekday < 0 {
		return -(7 - (-r.weekday - current))
	}
	if days < 0 || days == 0 && !r.today && r.days >= 0 {
		days += 7
	}
	return days
}
