package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

var dateFromStringSignature = signature{
	backwards: true,
	notObject: refusal{40540, "%[1]s only supports an object as an argument, found: %[2]s"},
	unknown:   refusal{40541, "Unrecognized argument to %[1]s: %[2]s"},
	params: []parameter{
		{name: "dateString", absent: refusal{40542, "Missing '%[2]s' parameter to %[1]s"}},
		{name: "timezone", check: checkTimezone},
		{name: "format"},
		{name: "onNull"},
		{name: "onError"},
	},
}

func checkParseFormat(v Value) error {
	if !v.IsString() {
		return mongoerr.Errorf(40684, "$dateFromString requires that 'format' be a string, found: %s with value %s", typeName(v), spelled(v))
	}
	return checkSpecifiers(string(v.Text()), "YmdHMSLzZjGVubB%")
}

func dateFromString(env *Env, args []Expression) (Value, error) {
	s, format, zone, err := dateAndStyle(env, []Expression{args[0], args[2], args[1]}, checkParseFormat)
	if err != nil {
		return missing, err
	}
	if s.IsNullish() {
		return onNull(env, args[3])
	}
	if s.IsString() && (zone.IsNullish() || format.IsNullish()) {
		return null, nil
	}
	result, err := parseDate(s, format, zone)
	return onError(env, args[4], result, err)
}

// onError returns what to give for a failed conversion, if anything is given.
func onError(env *Env, e Expression, result Value, err error) (Value, error) {
	var refused *mongoerr.Error
	if !errors.As(err, &refused) || refused.Code != mongoerr.ConversionFailure {
		return result, err
	}
	v, evalErr := e.Eval(env)
	switch {
	case evalErr != nil:
		return missing, evalErr
	case given(v):
		return v, nil
	}
	return missing, err
}

func parseDate(s, format, zone Value) (Value, error) {
	if !s.IsString() {
		return missing, mongoerr.Errorf(mongoerr.ConversionFailure,
			"$dateFromString requires that 'dateString' be a string, found: %s with value %s", typeName(s),
			spelled(s))
	}
	var d *civil
	var err error
	if given(format) {
		d, err = parseFormat(string(s.Text()), string(format.Text()))
	} else {
		d, err = parseFree(string(s.Text()))
	}
	if err != nil {
		return missing, err
	}
	if d.zone != nil && given(zone) && !isUTC(string(zone.Text())) {
		what := "GMT offset"
		if name := d.zone.String(); name != "" {
			what = "time zone information ('" + name + "')"
		}
		return missing, mongoerr.Errorf(mongoerr.ConversionFailure,
			"you cannot pass in a date/time string with %s together with a timezone argument", what)
	}
	location, err := timezone(zone)
	if err != nil {
		return missing, err
	}
	return d.date(string(s.Text()), location)
}

// civil is a date and time as it is written, its parts as far as they are there.
type civil struct {
	year, month, day    int
	hasYear, hasMonth   bool
	hasDay              bool
	dayOfYear           int
	isoYear, week, wday int
	hour, minute        int
	second, nano        int
	zone                *time.Location
	relative
}

// date returns the moment that was read without a problem; zone is used if the text names none.
func (c *civil) date(s string, zone *time.Location) (Value, error) {
	if c.zone != nil {
		zone = c.zone
	}
	switch {
	case c.isoYear != 0:
		c.year, c.month, c.day = c.isoYear, 1, isoDay(c.isoYear, max(c.week, 1), max(c.wday, 1))
	case c.hasYear && c.dayOfYear >= 0:
		c.month, c.day = 1, c.dayOfYear+1 // the real server counts from 0
	case !c.hasYear || !c.hasMonth || !c.hasDay:
		return missing, mongoerr.Errorf(mongoerr.ConversionFailure, "an incomplete date/time string has been found, with elements missing: \"%s\"", s)
	}
	t := localTime(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, c.nano, zone)
	t = c.from(t)
	if n := t.Unix(); n > math.MaxInt64/1_000_000 || n < math.MinInt64/1_000_000 {
		return missing, mongoerr.Errorf(159, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	return date(t.UnixMicro() / 1000), nil // the fraction of a time before 1970 is cut off too
}

func (c *civil) validTime() bool { return c.hour <= 23 && c.minute <= 59 && c.second <= 59 }

func (c *civil) validDay() bool {
	return c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= daysIn(c.year, time.Month(c.month))
}

// problems collects the mistakes in a text, in order.
type problems struct {
	text  string
	found []string
}

func (p *problems) add(at int, what string) {
	near := "\x00"
	if at < len(p.text) {
		near = characterAt(p.text, at)
	}
	p.found = append(p.found, fmt.Sprintf("%d: %s '%s'", at, what, near))
}

// characterAt returns the whole character that a byte of a text is part of.
func characterAt(text string, at int) string {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[at : at+size]
}

func (p *problems) err() error {
	if len(p.found) == 0 {
		return nil
	}
	return mongoerr.Errorf(mongoerr.ConversionFailure, "Error parsing date string '%s'; %s", p.text, strings.Join(p.found, "; "))
}
