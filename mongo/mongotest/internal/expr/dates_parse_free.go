package expr

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// timeOfDay is the time that may follow a date: hours, minutes, seconds, fraction and zone.
const timeOfDay = `(?:[T ]\s*(?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,](?P<f>\d+))?)?\s*(?P<z>[+-]\d\d:?(?:\d\d)?|[A-Za-z]+)?)?`

const monthNames = `(?P<b>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*`

// layouts are the ways to write a date that are understood without a format: the usual ones of those that the real server
// knows.
var layouts = []*regexp.Regexp{
	layout(`(?P<Y>\d{4})[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})`),
	layout(`(?P<Y>\d{4})-(?P<m>\d{2})`),
	layout(`(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<Y>\d{4})`),
	layout(`(?P<d>\d{1,2})[.-](?P<m>\d{1,2})[.-](?P<Y>\d{4})`),
	layout(`(?:[a-z]+,\s*)?(?P<d>\d{1,2})[ -]` + monthNames + `[ -](?P<Y>\d{4})`),
	layout(monthNames + ` (?P<d>\d{1,2}),? (?P<Y>\d{4})`),
	regexp.MustCompile(`^(?P<Y>\d{4})(?P<m>\d\d)(?P<d>\d\d)(?:T(?P<H>\d\d)(?P<M>\d\d)(?P<S>\d\d))?$`),
	regexp.MustCompile(`^(?P<G>\d{4})-?W(?P<V>\d\d)(?:-?(?P<u>[1-7]))?$`),
	regexp.MustCompile(`^@(?P<s>-?\d+)(?:\.(?P<f>\d+))?$`),
}

func layout(date string) *regexp.Regexp { return regexp.MustCompile(`(?i)^` + date + timeOfDay + `$`) }

func parseFree(s string) (*civil, error) {
	trimmed := strings.TrimSpace(s)
	if trimmed == "" {
		return nil, dateProblem(s, 0, "Empty string")
	}
	for _, layout := range layouts {
		if found := layout.FindStringSubmatch(trimmed); found != nil {
			return civilOf(s, layout.SubexpNames(), found)
		}
	}
	return nil, unknownDate(s)
}

// civilOf reads the groups of a layout, whose names are those of the specifiers of a format.
func civilOf(s string, names, found []string) (*civil, error) {
	c := &civil{dayOfYear: -1, free: true}
	p := &problems{text: s}
	for i, name := range names {
		part := found[i]
		if name == "" || part == "" {
			continue
		}
		switch name {
		case "b":
			c.month, c.hasMonth = strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(part))/3+1, true
		case "f":
			c.nano, _ = strconv.Atoi((part + "000000000")[:9])
		case "s":
			c.year, c.hasYear, c.month, c.hasMonth, c.day, c.hasDay = 1970, true, 1, true, 1, true
			seconds, _ := strconv.ParseInt(part, 10, 40)
			t := time.Unix(seconds, 0).UTC()
			*c = civil{year: t.Year(), month: int(t.Month()), day: t.Day(), hour: t.Hour(), minute: t.Minute(), second: t.Second()}
			c.hasYear, c.hasMonth, c.hasDay, c.dayOfYear, c.zone = true, true, true, -1, time.FixedZone("", 0)
		case "z":
			zone, ok := zoneOf(part)
			if !ok {
				p.add(strings.LastIndex(s, part), "passing a time zone identifier as part of the string is not allowed")
			}
			c.zone = zone
		default:
			*numbers[name[0]].field(c), _ = strconv.Atoi(part)
		}
	}
	c.hasDay = c.hasDay || c.hasMonth
	c.day = max(c.day, 0)
	if c.day == 0 && !has(found[1:], "00") && !has(found[1:], "0") {
		c.day = 1
	}
	return c, p.err()
}

// zoneOf reads an offset, a military letter or one of the abbreviations whose meaning is agreed.
func zoneOf(s string) (*time.Location, bool) {
	if seconds, ok := utcOffset(s); ok {
		return time.FixedZone("", seconds), true
	}
	upper := strings.ToUpper(s)
	if upper == "Z" || upper == "UTC" {
		return time.UTC, true
	}
	hours, ok := map[string]int{"GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}[upper]
	if !ok && len(upper) == 1 {
		hours, ok = militaryZone(upper[0])
	}
	return time.FixedZone("", hours*3600), ok
}

// militaryZone gives a letter's hours: A to M without J go east, N to Y west.
func militaryZone(c byte) (int, bool) {
	switch {
	case c >= 'A' && c < 'J':
		return int(c-'A') + 1, true
	case c > 'J' && c <= 'M':
		return int(c - 'A'), true
	case c >= 'N' && c <= 'Y':
		return -int(c-'N') - 1, true
	}
	return 0, false
}

func minutesOffset(s string) (*time.Location, bool) {
	n, err := strconv.Atoi(s)
	return time.FixedZone("", n*60), err == nil
}

// unknownDate is the error for a text that is no date.
func unknownDate(s string) error {
	p := &problems{text: s}
	word := strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
	relative := has([]string{"now", "today", "tomorrow", "yesterday", "noon", "midnight"}, strings.ToLower(s))
	_, zone := zoneOf(s)
	_, clock := time.Parse("15:04", s)
	switch {
	case relative, word && zone, clock == nil, len(s) == 4 && strings.Trim(s, "0123456789") == "":
		return fail(conversionFailure, "an incomplete date/time string has been found, with elements missing: \"%s\"", s)
	case word:
		p.add(0, "passing a time zone identifier as part of the string is not allowed")
	default:
		for i := range min(len(s), 100) {
			p.add(i, "Unexpected character")
		}
	}
	return p.err()
}
