package expr

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

func dateTruncParse(p *parser, op *operator, v Value) (Expression, error) {
	required := func(code int32) refusal { return refusal{code, "Missing '%[2]s' parameter to %[1]s"} }
	return signature{
		backwards: true,
		notObject: refusal{5439007, "%[1]s only supports an object as its argument"},
		unknown: refusal{
			5439008,
			"Unrecognized argument to %[1]s: %[2]s. Expected arguments are date, unit, and optionally, binSize, timezone, startOfWeek",
		},
		params: []parameter{
			{name: "date", absent: required(5439009)},
			{name: "unit", absent: required(5439010), check: checkUnit(op.name), nullAhead: true},
			{name: "binSize", check: checkBinSize, nullAhead: true},
			{name: "timezone", check: checkCalendarZone(op.name), nullAhead: true},
			{name: "startOfWeek", check: checkWeekday(op.name), nullAhead: true},
		},
	}.parse(p, op, v)
}

func binSize(v Value) (int64, error) {
	if !given(v) {
		return 1, nil
	}
	n, ok := asWholeLong(v)
	if !v.IsNumber() || !ok {
		return 0, mongoerr.Errorf(5439017,
			"$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '%s' of type %s", spelled(v), typeName(v))
	}
	if n <= 0 {
		return 0, mongoerr.Errorf(5439018, "$dateTrunc requires 'binSize' to be greater than 0, but got value %d", n)
	}
	return n, nil
}

func checkBinSize(v Value) error {
	_, err := binSize(v)
	return err
}

func dateTrunc(env *Env, args []Expression) (Value, error) {
	var moment Value
	var bin int64
	var unit string
	isNull, err := inTurn(env, args, taker{0, into(&moment, asIs)}, taker{2, into(&bin, binSize)}, taker{1, into(&unit, unitOf("$dateTrunc"))})
	if isNull || err != nil {
		return null, err
	}
	first, zone, isNull, err := calendar(env, "$dateTrunc", unit, args[4], args[3])
	if isNull || err != nil {
		return null, err
	}
	ms, err := asDate(moment)
	if err != nil {
		return missing, mongoerr.Errorf(5166307, "$dateTrunc requires 'date' to be a date, but got %s", typeName(moment))
	}
	return truncate(time.UnixMilli(ms).In(zone), unit, bin, first)
}

// mostDateBins is the largest bin of units of the calendar.
const mostDateBins = 100_000_000_000

// truncate returns the start of the bin of units that holds the time; bins are counted from the year 2000.
func truncate(t time.Time, unit string, bin int64, first time.Weekday) (Value, error) {
	zone := t.Location()
	reference := time.Date(2000, 1, 1, 0, 0, 0, 0, zone)
	if length := unitLengths[unit]; length > 0 {
		return truncateDuration(t.UnixMilli(), reference.UnixMilli(), length, bin)
	}
	if bin > mostDateBins {
		return missing, mongoerr.Errorf(5439006, "dateTrunc unsupported binSize value")
	}
	var units int64
	switch n := unitMonths[unit]; {
	case n > 0:
		units = floorDiv(monthNumber(t)-monthNumber(reference), n)
	case unit == "week":
		reference = reference.AddDate(0, 0, (int(first)-int(reference.Weekday())+7)%7)
		units = floorDiv(dayNumber(t)-dayNumber(reference), 7)
	default:
		units = dayNumber(t) - dayNumber(reference)
	}
	return addUnits(reference.UnixMilli(), unit, floorDiv(units, bin)*bin, zone)
}

// truncateDuration is for units whose length is always the same.
func truncateDuration(ms, reference, length, bin int64) (Value, error) {
	length, ok := multiplyLong(length, bin)
	if !ok {
		return missing, mongoerr.Errorf(5439002, "dateTrunc overflowed")
	}
	distance, ok := subtractLong(ms, reference)
	bins, fits := multiplyLong(floorDiv(distance, length), length)
	start, reaches := addLong(reference, bins)
	if !ok || !fits || !reaches {
		return missing, mongoerr.Errorf(5439000, "dateTrunc overflowed")
	}
	return date(start), nil
}
