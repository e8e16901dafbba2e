package expr

import (
	"errors"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// timezone returns the zone that a value names: an identifier of the zone database, or an offset.
func timezone(v Value) (*time.Location, error) {
	if !given(v) {
		return time.UTC, nil
	}
	if !v.IsString() {
		return nil, mongoerr.Errorf(40517, "timezone must evaluate to a string, found %s", typeName(v))
	}
	name := string(v.Text())
	if seconds, ok := utcOffset(name); ok {
		return time.FixedZone("", seconds), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, mongoerr.Errorf(40485, "unrecognized time zone identifier: \"%s\"", name)
	}
	return zone, nil
}

func checkTimezone(v Value) error {
	_, err := timezone(v)
	return err
}

// zoneError is an error of the time zone of $dateDiff or $dateTrunc, which say whose zone it is.
func zoneError(name string, err error) error {
	var refused *mongoerr.Error
	if !errors.As(err, &refused) {
		return err
	}
	return mongoerr.Errorf(refused.Code, "%s parameter 'timezone' value parsing failed :: caused by :: %s", name, refused.Message)
}

func checkCalendarZone(name string) func(Value) error {
	return func(v Value) error { return zoneError(name, checkTimezone(v)) }
}

// utcOffset reads +hh, +hhmm and +hh:mm.
func utcOffset(s string) (seconds int, ok bool) {
	if len(s) == 6 && s[3] == ':' {
		s = s[:3] + s[4:]
	}
	if len(s) != 3 && len(s) != 5 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	n, err := strconv.ParseUint((s[1:] + "00")[:4], 10, 16)
	seconds = int(n/100*3600 + n%100*60)
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, err == nil
}
