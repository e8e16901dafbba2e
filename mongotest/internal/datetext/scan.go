package datetext

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// A text without a format is read token by token, each the longest that any of the patterns below has: the formats of PHP's strtotime,
// https://www.php.net/manual/en/datetime.formats.php. A character with which no pattern begins is an error, and the
// reading goes on behind it.

// parts of the patterns, by the names that the manual has
var dateParts = map[string]string{
	"space": `(?:[ \t]|\x{A0}|\x{202F})+`, "frac": `\.[0-9]+`,
	"hour24": `(?:2[0-4]|[01]?[0-9])`, "hour24lz": `(?:[01][0-9]|2[0-4])`, "hour12": `(?:1[0-2]|0?[1-9])`,
	"minute": `[0-5]?[0-9]`, "minutelz": `[0-5][0-9]`, "second": `(?:60|[0-5]?[0-9])`, "secondlz": `(?:60|[0-5][0-9])`,
	"meridian": `[AaPp]\.?[Mm]\.?[\x00\t ]`,
	"tz":       `(?:\(?[A-Za-z]{1,6}\)?|[A-Z][a-z]+(?:[_/-][A-Za-z]+)+)`,
	"tzcor":    `(?:GMT)?[+-](?:<hour24>(?::?<minute>)?|<hour24lz><minutelz><secondlz>|<hour24lz>:<minutelz>:<secondlz>)`,
	"month":    `(?:1[0-2]|0?[0-9])`, "monthlz": `(?:0[0-9]|1[0-2])`,
	"day": `(?:(?:3[01]|[0-2]?[0-9])(?:st|nd|rd|th)?)`, "daylz": `(?:0[0-9]|[1-2][0-9]|3[01])`,
	"year": `[0-9]{1,4}`, "year2": `[0-9]{2}`, "year4": `[0-9]{4}`,
	"dayofyear": `(?:00[1-9]|0[1-9][0-9]|[12][0-9][0-9]|3[0-5][0-9]|36[0-6])`, "week": `(?:0[1-9]|[1-4][0-9]|5[0-3])`,
	"monthfull": `(?i:january|february|march|april|may|june|july|august|september|october|november|december)`,
	"monthabbr": `(?i:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)`,
	"monthtext": `(?:<monthfull>|<monthabbr>|I{1,3}|I?[VX]|VI{1,3}|XI{1,2})`,
	"dayname":   `(?i:(?:sun|mon|tues|wednes|thurs|fri|satur)days?|sun|mon|tue|wed|thu|fri|sat)`,
	"unit": `(?:<dayname>|(?i:ms|µs|(?:msec|millisecond|µsec|microsecond|usec|sec|second|min|minute|hour|day|fortnight|forthnight|month|year)s?` +
		`|weeks|weekdays?))`,
	"ordinal": `(?i:first|second|third|fourth|fifth|sixth|seventh|eighth?|ninth|tenth|eleventh|twelfth)`,
	"which":   `(?i:next|last|previous|this)`,
	"sep":     `[ \t.-]*`,
}

// dateToken is one kind of token, and what it says.
type dateToken struct {
	pattern *regexp.Regexp
	read    func(s *dateScan, t *tokenText)
}

// token compiles a pattern with the names of parts in it.
func token(pattern string, read func(s *dateScan, t *tokenText)) dateToken {
	for strings.Contains(pattern, "<") {
		pattern = partName.ReplaceAllStringFunc(pattern, func(name string) string { return dateParts[name[1:len(name)-1]] })
	}
	re := regexp.MustCompile(`^(?:` + pattern + `)`)
	re.Longest()
	return dateToken{re, read}
}

var partName = regexp.MustCompile(`<[a-z0-9]+>`)

// dateScan is a text while it is read.
type dateScan struct {
	Civil
	text             string // without space around it
	unsupported      string // a unit that is not known here
	at               int
	errors, warnings problems
	times, zones     int // how often there was one
	hasDate          bool
}

// scanDate reads a whole text.
func scanDate(text string) *dateScan {
	s := &dateScan{text: text, Civil: Civil{DayOfYear: -1, Second: noSecond, Nano: noNano, Year: noYear}}
	s.errors.text, s.warnings.text = text, text
	subject := text + "\x00"
	for s.at < len(text) {
		best, length := longest(subject[s.at:])
		switch {
		case best != nil:
			best.read(s, &tokenText{subject[s.at : s.at+length]})
		default:
			var c rune
			if c, length = utf8.DecodeRuneInString(text[s.at:]); !strings.ContainsRune(" .,\t\n\x00\u00a0\u202f", c) {
				s.error("Unexpected character")
			}
		}
		s.at += length
	}
	s.at = len(text) + 1
	s.checkWhole()
	if s.times == 0 {
		s.midnight()
	}
	return s
}

// longest returns the token that a text begins with and its length: none and one byte if there is no such token.
func longest(text string) (best *dateToken, length int) {
	for _, t := range dateTokens() {
		if n := len(t.pattern.FindString(text)); n > length {
			best, length = &t, n
		}
	}
	return best, max(length, 1)
}

func (s *dateScan) error(what string)   { s.errors.add(s.at, what) }
func (s *dateScan) warning(what string) { s.warnings.add(s.at, what) }

// checkWhole looks at what the tokens gave together.
func (s *dateScan) checkWhole() {
	if s.times > 0 && !s.validTime() {
		s.warning("The parsed time was invalid")
	}
	if s.hasDate && !s.validDay() {
		s.warning("The parsed date was invalid")
	}
}

// setDate notes that there is a date; there may be one.
func (s *dateScan) setDate(year, month, day int) {
	if s.hasDate {
		s.error("Double date specification")
		return
	}
	s.hasDate = true
	s.setYear(year)
	s.Month, s.HasMonth = month, true
	s.Day, s.HasDay = day, true
}

// noYear is the year of a date that could have one and has none, sameYear that of one which leaves it to another token.
const (
	noYear   = -9_999_999 // no leap year
	sameYear = noYear - 1
)

func (s *dateScan) setYear(year int) {
	if year != sameYear {
		s.Year, s.HasYear = year, year != noYear
	}
}

// setTime notes that there is a time; there may be one.
func (s *dateScan) setTime(hour, minute, second, nano int) bool {
	if s.times > 0 {
		s.error("Double time specification")
		return false
	}
	s.times++
	s.Hour, s.Minute, s.Second, s.Nano = hour, minute, second, nano
	return true
}

// midnight forgets a time.
func (s *dateScan) midnight() {
	s.times = 0
	s.Hour, s.Minute, s.Second, s.Nano = 0, 0, 0, 0
}

// noSecond and noNano are the second where no text gives one: -9.999999 s. The real server keeps it for a time of four
// digits without a colon.
const (
	noSecond = -9
	noNano   = -999_999_000
)

// tokenText is what of a token is not read yet.
type tokenText struct{ rest string }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads the next number, of so many digits at most; 0 if there is none.
func (t *tokenText) number(digits int) int {
	n, _ := t.numberAnd(digits)
	return n
}

// numberAnd also returns how many digits it has.
func (t *tokenText) numberAnd(digits int) (value, n int) {
	from := strings.IndexFunc(t.rest, func(r rune) bool { return r >= '0' && r <= '9' })
	if from < 0 {
		t.rest = ""
		return 0, 0
	}
	t.rest = t.rest[from:]
	for n < min(digits, len(t.rest)) && isDigit(t.rest[n]) {
		value = value*10 + int(t.rest[n]-'0')
		n++
	}
	t.rest = t.rest[n:]
	return value, n
}

// year reads a year; one of two digits is of the hundred years from 1970, and where there is none it is noYear.
func (t *tokenText) year(digits int) int {
	year, n := t.numberAnd(digits)
	switch {
	case n == 0:
		return noYear
	case n < 4 && year < 70:
		return year + 2000
	case n < 4 && year < 100:
		return year + 1900
	}
	return year
}

// fraction reads the digits behind a point as nanoseconds.
func (t *tokenText) fraction() int {
	if t.rest == "" || t.rest[0] != '.' && t.rest[0] != ':' {
		return 0
	}
	digits := t.rest[1:]
	t.rest = strings.TrimLeft(digits, "0123456789")
	nano, _ := (&tokenText{(digits[:len(digits)-len(t.rest)] + "000000000")[:9]}).numberAnd(9)
	return nano
}

// word reads the next letters.
func (t *tokenText) word() string {
	t.rest = strings.TrimLeft(t.rest, " \t.-/")
	word := t.rest[:len(t.rest)-len(strings.TrimLeft(t.rest, letters))]
	t.rest = t.rest[len(word):]
	return strings.ToLower(word)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ\u00b5"

// month reads a month's name or roman number.
func (t *tokenText) month() int { return monthNames[t.word()] }

// skipSuffix steps over the ending of an ordinal number.
func (t *tokenText) skipSuffix() {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		t.rest = strings.TrimPrefix(t.rest, suffix)
	}
}

// has reports whether a character comes next, and steps over it.
func (t *tokenText) has(chars string) bool {
	if t.rest == "" || !strings.Contains(chars, t.rest[:1]) {
		return false
	}
	t.rest = t.rest[1:]
	return true
}
