package datetext

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// formatParser reads a text by a format of %-specifiers, as timelib does: it notes each mistake and goes on.
type formatParser struct {
	problems
	Civil
	at                    int
	iso                   bool // there is a part of a date of ISO 8601
	hasISOYear, hasOfTime bool
}

// ParseFormat reads a text by a format with specifiers such as %Y.
func ParseFormat(s, format string) (*Civil, error) {
	p := &formatParser{problems: problems{text: s}, Civil: Civil{DayOfYear: -1}}
	i := 0
	for ; i < len(format) && p.at < len(s); i++ {
		if format[i] == '%' {
			if i++; format[i] != '%' {
				p.specifier(format[i])
				continue
			}
		}
		if p.text[p.at] != format[i] {
			p.add(p.at, "Format literal not found")
		}
		p.at++
	}
	if p.at < len(s) {
		p.add(p.at, "Trailing data")
	} else if i < len(format) {
		p.add(p.at, "Not enough data available to satisfy format")
	}
	p.checkWhole()
	return &p.Civil, p.err()
}

// checkWhole notes the mistakes of the date and the time as wholes.
func (p *formatParser) checkWhole() {
	if p.iso && p.HasYear {
		p.mixed()
	}
	if p.hasISOYear && (p.HasYear || p.HasMonth || p.HasDay) {
		p.mixed()
	}
	if p.iso && !p.hasISOYear {
		p.add(p.at, "The parsed date was invalid")
	}
	if p.hasOfTime && !p.validTime() {
		p.add(p.at, "The parsed time was invalid")
	}
	if p.HasYear && p.HasMonth && p.HasDay && !p.hasISOYear && p.DayOfYear < 0 && !p.validDay() {
		p.add(p.at, "The parsed date was invalid")
	}
}

func (p *formatParser) mixed() { p.add(p.at, "Mixing of ISO dates with natural dates is not allowed") }

// number reads a number of up to n digits, the first that there is; length is how many it has.
func (p *formatParser) number(n int) (value, length int) {
	for p.at < len(p.text) && !isDigit(p.text[p.at]) {
		p.at++
	}
	for p.at < len(p.text) && length < n && isDigit(p.text[p.at]) {
		value = value*10 + int(p.text[p.at]-'0')
		p.at++
		length++
	}
	return value, length
}

// numbers are the specifiers of a number: its most and least digits, the error if it is missing, and its
// setter.
var numbers = map[byte]struct {
	most, least int
	absent      string
	set         func(p *formatParser, value int)
}{
	'Y': {4, 1, "A four digit year could not be found", func(p *formatParser, n int) { p.Year, p.HasYear = n, true }},
	'm': {2, 1, "A two digit month could not be found", func(p *formatParser, n int) { p.Month, p.HasMonth = n, true }},
	'd': {2, 1, "A two digit day could not be found", func(p *formatParser, n int) { p.Day, p.HasDay = n, true }},
	'H': {2, 1, "A two digit hour could not be found", func(p *formatParser, n int) { p.Hour, p.hasOfTime = n, true }},
	'M': {2, 2, "A two digit minute could not be found", func(p *formatParser, n int) { p.Minute, p.hasOfTime = n, true }},
	'S': {2, 2, "A two digit second could not be found", func(p *formatParser, n int) { p.Second, p.hasOfTime = n, true }},
	'j': {3, 1, "A three digit day-of-year could not be found", func(p *formatParser, n int) { p.DayOfYear = n }},
	'G': {4, 1, "A four digit ISO year could not be found", func(p *formatParser, n int) { p.IsoYear, p.iso, p.hasISOYear = n, true, true }},
	'V': {2, 1, "A two digit ISO week could not be found", func(p *formatParser, n int) { p.Week, p.iso = n, true }},
	'u': {1, 1, "A single digit day of week could not be found", func(p *formatParser, n int) { p.Wday, p.iso = n, true }},
	'L': {3, 1, "A three digit millisecond could not be found", nil},
}

// specifier reads one specifier.
func (p *formatParser) specifier(c byte) {
	switch c {
	case 'b', 'B':
		p.monthName()
		return
	case 'z':
		p.offset()
		return
	case 'Z':
		p.minutes()
		return
	}
	from := p.at
	if !strings.ContainsRune("GVu", rune(c)) && !isDigit(p.text[from]) {
		p.add(from, "Unexpected data found.")
	}
	if c == 'j' && !p.HasYear {
		p.add(from, "A 'day of year' can only come after a year has been found")
	}
	n := numbers[c]
	value, length := p.number(n.most)
	switch {
	case length < n.least:
		p.add(from, n.absent)
		p.HasYear = p.HasYear && c != 'Y' // the last one counts
		return
	case c == 'V' && (value < 1 || value > 53):
		p.add(from, "ISO Week must be between 1 and 53")
	case c == 'u' && (value < 1 || value > 7):
		p.add(from, "Day of week must be between 1 and 7")
	case c == 'L':
		p.Nano = value
		for range 9 - length {
			p.Nano *= 10
		}
		return
	}
	n.set(p, value)
}

// monthNames are the names of months that a text may have, also in Roman numerals.
var monthNames = func() map[string]int {
	names := map[string]int{"sept": int(time.September)}
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		names[full], names[full[:3]] = int(m), int(m)
	}
	for i, numeral := range strings.Fields("i ii iii iv v vi vii viii ix x xi xii") {
		names[numeral] = i + 1
	}
	return names
}()

func (p *formatParser) monthName() {
	from := p.at
	for p.at < len(p.text) && letter(p.text[p.at]) {
		p.at++
	}
	month, ok := monthNames[strings.ToLower(p.text[from:p.at])]
	if !ok {
		p.add(from, "A textual month could not be found")
		return
	}
	p.Month, p.HasMonth = month, true
}

// minutes reads an offset in minutes, with a sign.
func (p *formatParser) minutes() {
	from := p.at
	if p.text[from] != '+' && p.text[from] != '-' {
		p.add(from, "Invalid timezone offset in minutes")
		return
	}
	for p.at++; p.at < len(p.text) && isDigit(p.text[p.at]); p.at++ {
	}
	n, _ := strconv.Atoi(p.text[from:p.at])
	p.Zone = time.FixedZone("", n*60)
}

// offset reads a zone: an offset in hours and minutes, a letter or an abbreviation.
func (p *formatParser) offset() {
	found := zoneText.FindStringSubmatch(p.text[p.at:])
	var ok bool
	if p.Zone, ok = zoneOf(found[1]); !ok {
		p.add(p.at, "passing a time zone identifier as part of the string is not allowed")
	}
	p.at += len(found[0])
}

// zoneText is a zone as the text for %z has it.
var zoneText = regexp.MustCompile(`^[ \t(]*((?:GMT)?[+-][0-9:]*|[A-Za-z0-9/_+-]*)\)?`)
