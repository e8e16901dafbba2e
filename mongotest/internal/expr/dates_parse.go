package expr

import (
	"errors"
	"math"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/datetext"
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
	var d *datetext.Civil
	var err error
	if given(format) {
		d, err = datetext.ParseFormat(string(s.Text()), string(format.Text()))
	} else {
		d, err = datetext.ParseFree(string(s.Text()))
	}
	if err != nil {
		return missing, err
	}
	if d.Zone != nil && given(zone) && !isUTC(string(zone.Text())) {
		what := "GMT offset"
		if name := d.Zone.String(); name != "" {
			what = "time zone information ('" + name + "')"
		}
		return missing, mongoerr.Errorf(mongoerr.ConversionFailure,
			"you cannot pass in a date/time string with %s together with a timezone argument", what)
	}
	location, err := timezone(zone)
	if err != nil {
		return missing, err
	}
	return moment(d, string(s.Text()), location)
}

// moment returns the moment that was read without a problem; zone is used if the text names none.
func moment(c *datetext.Civil, s string, zone *time.Location) (Value, error) {
	if c.Zone != nil {
		zone = c.Zone
	}
	switch {
	case c.IsoYear != 0:
		c.Year, c.Month, c.Day = c.IsoYear, 1, datetext.ISODay(c.IsoYear, max(c.Week, 1), max(c.Wday, 1))
	case c.HasYear && c.DayOfYear >= 0:
		c.Month, c.Day = 1, c.DayOfYear+1 // the real server counts from 0
	case !c.HasYear || !c.HasMonth || !c.HasDay:
		return missing, mongoerr.Errorf(mongoerr.ConversionFailure, "an incomplete date/time string has been found, with elements missing: \"%s\"", s)
	}
	t := datetext.LocalTime(c.Year, time.Month(c.Month), c.Day, c.Hour, c.Minute, c.Second, c.Nano, zone)
	t = c.From(t)
	if n := t.Unix(); n > math.MaxInt64/1_000_000 || n < math.MinInt64/1_000_000 {
		return missing, mongoerr.Errorf(159, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	return date(t.UnixMicro() / 1000), nil // the fraction of a time before 1970 is cut off too
}
