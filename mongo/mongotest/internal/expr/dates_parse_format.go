package expr

import (
	"regexp"
	"strings"
	"time"
)

// formatParser reads a text by a format of %-specifiers.
type formatParser struct {
	problems
	civil
	at int
}

// parseFormat stops at the first specifier that the text does not satisfy, but not at a character that differs.
func parseFormat(s, format string) (*civil, error) {
	p := &formatParser{problems: problems{text: s}, civil: civil{dayOfYear: -1}}
	i := 0
	for ; i < len(format) && p.at < len(s); i++ {
		if format[i] != '%' || format[i+1] == '%' {
			if p.text[p.at] != format[i] {
				p.add(p.at, "Format literal not found")
			}
			p.at++
			if format[i] == '%' {
				i++
			}
			continue
		}
		i++
		if what, ok := p.specifier(format[i]); !ok {
			p.refuse(format[i], what)
			return nil, p.err()
		}
	}
	if p.at < len(s) {
		p.add(p.at, "Trailing data")
	} else if i < len(format) {
		p.add(p.at, "Not enough data available to satisfy format")
	}
	return &p.civil, p.err()
}

// refuse notes what could not be found; the real server adds a general remark for some specifiers.
func (p *formatParser) refuse(c byte, what string) {
	if !strings.ContainsRune("GVubB", rune(c)) {
		p.add(p.at, "Unexpected data found.")
	}
	if what != "" {
		p.add(p.at, what)
	}
}

// digits reads a number of up to n digits.
func (p *formatParser) digits(n int) (value int, ok bool) {
	from := p.at
	for p.at < len(p.text) && p.at < from+n && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		value = value*10 + int(p.text[p.at]-'0')
		p.at++
	}
	return value, p.at > from
}

// numbers are the specifiers of a number: how many digits, what is missing without, where it goes.
var numbers = map[byte]struct {
	digits int
	absent string
	field  func(*civil) *int
}{
	'Y': {4, "A four digit year could not be found", func(c *civil) *int { c.hasYear = true; return &c.year }},
	'm': {2, "", func(c *civil) *int { c.hasMonth = true; return &c.month }},
	'd': {2, "A two digit day could not be found", func(c *civil) *int { c.hasDay = true; return &c.day }},
	'H': {2, "A two digit hour could not be found", func(c *civil) *int { return &c.hour }},
	'M': {2, "A two digit minute could not be found", func(c *civil) *int { return &c.minute }},
	'S': {2, "A two digit second could not be found", func(c *civil) *int { return &c.second }},
	'j': {3, "A three digit day-of-year could not be found", func(c *civil) *int { return &c.dayOfYear }},
	'G': {4, "A four digit ISO year could not be found", func(c *civil) *int { return &c.isoYear }},
	'V': {2, "A two digit ISO week could not be found", func(c *civil) *int { return &c.week }},
	'u': {1, "A single digit day of week could not be found", func(c *civil) *int { return &c.wday }},
}

// specifier reads one specifier; it returns what could not be found.
func (p *formatParser) specifier(c byte) (what string, ok bool) {
	switch c {
	case 'L':
		return p.fraction()
	case 'b', 'B':
		return p.monthName()
	case 'z', 'Z':
		return p.offset(c)
	}
	n := numbers[c]
	from := p.at
	value, ok := p.digits(n.digits)
	if !ok {
		return n.absent, false
	}
	*n.field(&p.civil) = value
	switch {
	case c == 'j' && !p.hasYear:
		p.add(from, "A 'day of year' can only come after a year has been found")
	case c == 'V' && (value < 1 || value > 53):
		p.add(from, "ISO Week must be between 1 and 53")
	case c == 'u' && (value < 1 || value > 7):
		p.add(from, "Day of week must be between 1 and 7")
	}
	return "", true
}

func (p *formatParser) fraction() (what string, ok bool) {
	from := p.at
	value, ok := p.digits(3)
	if !ok {
		return "A three digit millisecond could not be found", false
	}
	for range 9 - (p.at - from) {
		value *= 10
	}
	p.nano = value
	return "", true
}

func (p *formatParser) monthName() (what string, ok bool) {
	rest := strings.ToLower(p.text[p.at:])
	for m := time.December; m >= time.January; m-- {
		full := strings.ToLower(m.String())
		for _, name := range []string{full, full[:3]} {
			if strings.HasPrefix(rest, name) {
				p.month, p.hasMonth = int(m), true
				p.at += len(name)
				return "", true
			}
		}
	}
	return "A textual month could not be found", false
}

func (p *formatParser) offset(c byte) (what string, ok bool) {
	rest := p.text[p.at:]
	if c == 'Z' {
		n := strings.IndexAny(rest+" ", " ")
		if p.zone, ok = minutesOffset(rest[:n]); !ok {
			p.add(p.at, "Invalid timezone offset in minutes")
			return "", true
		}
		p.at += n
		return "", true
	}
	found := zoneText.FindStringSubmatch(rest)
	if p.zone, ok = zoneOf(found[1]); !ok {
		p.add(p.at, "passing a time zone identifier as part of the string is not allowed")
	}
	p.at += len(found[0])
	return "", true
}

// zoneText is a zone as the text for %z has it.
var zoneText = regexp.MustCompile(`^[ \t(]*((?:GMT)?[+-][0-9:]*|[A-Za-z0-9/_+-]*)\)?`)
