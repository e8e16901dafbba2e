package expr

import (
	"math"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/datetext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var dateArithmeticOperators = []operator{
	{name: "$dateAdd", parse: dateAddParse, lazy: dateAdd("$dateAdd", 1)},
	{name: "$dateSubtract", parse: dateAddParse, lazy: dateAdd("$dateSubtract", -1)},
	{name: "$dateDiff", parse: dateDiffParse, optimize: checkedInOrder("unit", "startOfWeek", "timezone"), lazy: dateDiff},
	{name: "$dateTrunc", parse: dateTruncParse, optimize: checkedInOrder("unit", "startOfWeek", "timezone", "binSize"), lazy: dateTrunc},
}

// unitLengths are the units whose length is always the same, in milliseconds.
var unitLengths = map[string]int64{"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000}

// unitMonths are the units that are made of months; a day and a week are of days.
var unitMonths = map[string]int64{"month": 1, "quarter": 3, "year": 12}

const dayLength = 86_400_000

var unitDays = map[string]int64{"day": 1, "week": 7}

func timeUnit(name string, v Value) (string, error) {
	if !v.IsString() {
		return "", mongoerr.Errorf(5439013, "%s requires 'unit' to be a string, but got %s", name, typeName(v))
	}
	unit := string(v.Text())
	if unitLengths[unit]+unitMonths[unit]+unitDays[unit] == 0 {
		return "", mongoerr.Errorf(mongoerr.FailedToParse,
			"%s parameter 'unit' value parsing failed :: caused by :: unknown time unit value: %s", name, unit)
	}
	return unit, nil
}

func unitOf(name string) func(Value) (string, error) {
	return func(v Value) (string, error) { return timeUnit(name, v) }
}

func checkUnit(name string) func(Value) error {
	var unit string
	return into(&unit, unitOf(name))
}

func dateAddParse(p *parser, op *operator, v Value) (Expression, error) {
	required := refusal{5166402, "%[1]s requires startDate, unit, and amount to be present"}
	return signature{
		notObject: refusal{5166400, "%[1]s expects an object as its argument"},
		unknown: refusal{
			5166401,
			"Unrecognized argument to %[1]s: %[2]s. Expected arguments are startDate, unit, amount, and optionally timezone.",
		},
		params: []parameter{
			{name: "startDate", absent: required},
			{name: "unit", absent: required, check: checkUnit(op.name), nullAhead: true},
			{name: "amount", absent: required},
			{name: "timezone", check: checkTimezone, nullAhead: true},
		},
	}.parse(p, op, v)
}

func dateAdd(name string, direction int64) func(*Env, []Expression) (Value, error) {
	return func(env *Env, args []Expression) (Value, error) {
		var date, number Value
		var unit string
		var zone *time.Location
		isNull, err := inTurn(env, args, taker{0, into(&date, asIs)}, taker{1, into(&unit, unitOf(name))}, taker{2, into(&number, asIs)},
			taker{3, into(&zone, timezone)})
		if isNull || err != nil {
			return null, err
		}
		start, err := asDate(date)
		if err != nil {
			return missing, mongoerr.Errorf(5166403, "%s requires startDate to be convertible to a date", name)
		}
		amount, ok := asWholeLong(number)
		if !number.IsNumber() || !ok {
			return missing, mongoerr.Errorf(5166405, "%s expects integer amount of time units", name)
		}
		if direction < 0 && amount == math.MinInt64 {
			return missing, mongoerr.Errorf(6045000, "invalid %s 'amount' parameter value: %d", name, amount)
		}
		return addUnits(start, unit, direction*amount, zone)
	}
}

// dateRange is how long the time is that dates are of, in days and in years: no more units are added.
const (
	dateRangeDays  = 213_503_982_335
	dateRangeYears = 584_942_418
)

// mostUnits is the number of units that is too many.
func mostUnits(unit string) int64 {
	switch {
	case unitMonths[unit] > 0:
		return dateRangeYears * 12 / unitMonths[unit]
	case unitDays[unit] > 0:
		return dateRangeDays / unitDays[unit]
	case unit == "millisecond":
		return math.MaxInt64
	}
	return dateRangeDays * (dayLength / unitLengths[unit])
}

// addUnits adds a number of units. Days and months are those of the zone's calendar; a day that a month has not becomes
// its last.
func addUnits(start int64, unit string, amount int64, zone *time.Location) (Value, error) {
	if most := mostUnits(unit); unit != "millisecond" && (amount >= most || amount <= -most) {
		return missing, mongoerr.Errorf(5976500, "invalid dateAdd 'amount' parameter value: %d %s", amount, unit)
	}
	t := time.UnixMilli(start).In(zone)
	if unit == "millisecond" {
		return addMilliseconds(start, amount)
	}
	if length := unitLengths[unit]; length > 0 {
		return dateOf(time.Unix(t.Unix()+amount*(length/1000), int64(t.Nanosecond())))
	}
	year, month, day := t.Date()
	if n := unitMonths[unit]; n > 0 {
		months := int64(year)*12 + int64(month-1) + amount*n
		year, month = int(floorDiv(months, 12)), time.Month(floorMod(months, 12)+1)
		day = min(day, datetext.DaysIn(year, month))
	} else {
		day += int(amount * unitDays[unit])
	}
	wall := time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	if same := datetext.WithOffsetOf(wall, t); datetext.Shows(same, wall) { // of two such times the one with the offset that start has
		return dateOf(same)
	}
	return dateOf(datetext.LocalTime(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone))
}

// dateOf returns a time as a date, if one can be as far away.
func dateOf(t time.Time) (Value, error) {
	ms, ok := multiplyLong(t.Unix(), 1000)
	ms, fits := addLong(ms, int64(millisecond(t)))
	if !ok || !fits {
		return missing, mongoerr.Errorf(5166406, "dateAdd overflowed")
	}
	return date(ms), nil
}

func addMilliseconds(start, amount int64) (Value, error) {
	sum, ok := addLong(start, amount)
	if !ok {
		return missing, mongoerr.Errorf(159, "Overflow while adding %dms to %dms", amount, sum)
	}
	return date(sum), nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

func dateDiffParse(p *parser, op *operator, v Value) (Expression, error) {
	required := func(code int32) refusal { return refusal{code, "Missing '%[2]s' parameter to %[1]s"} }
	return signature{
		backwards: true,
		notObject: refusal{5166301, "%[1]s only supports an object as its argument"},
		unknown:   refusal{5166302, "Unrecognized argument to %[1]s: %[2]s"},
		params: []parameter{
			{name: "startDate", absent: required(5166303)},
			{name: "endDate", absent: required(5166304)},
			{name: "unit", absent: required(5166305), check: checkUnit(op.name), nullAhead: true},
			{name: "timezone", check: checkCalendarZone(op.name), nullAhead: true},
			{name: "startOfWeek", check: checkWeekday(op.name), nullAhead: true},
		},
	}.parse(p, op, v)
}

func dateDiff(env *Env, args []Expression) (Value, error) {
	var dates [2]Value
	var unit string
	isNull, err := inTurn(env, args, taker{0, into(&dates[0], asIs)}, taker{1, into(&dates[1], asIs)}, taker{2, into(&unit, unitOf("$dateDiff"))})
	if isNull || err != nil {
		return null, err
	}
	first, zone, isNull, err := calendar(env, "$dateDiff", unit, args[4], args[3])
	if isNull || err != nil {
		return null, err
	}
	var ends [2]time.Time
	for i, which := range []string{"startDate", "endDate"} {
		ms, err := asDate(dates[i])
		if err != nil {
			return missing, mongoerr.Errorf(5166307, "$dateDiff requires '%s' to be a date, but got %s", which, typeName(dates[i]))
		}
		ends[i] = time.UnixMilli(ms).In(zone)
	}
	if _, ok := subtractLong(ends[1].UnixMilli(), ends[0].UnixMilli()); !ok && unit == "millisecond" {
		return missing, mongoerr.Errorf(5166308, "dateDiff overflowed")
	}
	return query.Int64(unitsBetween(ends[0], ends[1], unit, first)), nil
}

// calendar evaluates the day that a week begins with, which only weeks need, and then the time zone.
func calendar(env *Env, name, unit string, startOfWeek, zone Expression) (first time.Weekday, location *time.Location, isNull bool, err error) {
	if unit == "week" {
		isNull, err = inTurn(env, []Expression{startOfWeek}, taker{0, into(&first, func(v Value) (time.Weekday, error) { return weekday(name, v) })})
	}
	if isNull || err != nil {
		return first, nil, isNull, err
	}
	isNull, err = inTurn(env, []Expression{zone}, taker{0, into(&location, timezone)})
	return first, location, isNull, zoneError(name, err)
}

// unitsBetween counts the boundaries of units that lie between two times.
func unitsBetween(start, end time.Time, unit string, first time.Weekday) int64 {
	if n := unitMonths[unit]; n > 0 {
		return floorDiv(monthNumber(end), n) - floorDiv(monthNumber(start), n)
	}
	switch unit {
	case "week":
		shift := 4 - int64(first) // the count begins with a Thursday
		return floorDiv(dayNumber(end)+shift, 7) - floorDiv(dayNumber(start)+shift, 7)
	case "day":
		return dayNumber(end) - dayNumber(start)
	case "hour", "minute":
		_, a := start.Zone()
		_, b := end.Zone()
		length := unitLengths[unit] / 1000
		return floorDiv(end.Unix()+int64(b), length) - floorDiv(start.Unix()+int64(a), length) - int64(b-a)/length
	}
	length := unitLengths[unit]
	return floorDiv(end.UnixMilli(), length) - floorDiv(start.UnixMilli(), length)
}

func monthNumber(t time.Time) int64 { return int64(t.Year())*12 + int64(t.Month()) - 1 }

// dayNumber counts the days of the time's calendar from the first of January 1970.
func dayNumber(t time.Time) int64 {
	_, offset := t.Zone()
	return floorDiv(t.Unix()+int64(offset), 86400)
}

// weekday reads the day that a week begins with: Sunday if it is not given.
func weekday(name string, v Value) (time.Weekday, error) {
	if !given(v) {
		return time.Sunday, nil
	}
	if !v.IsString() {
		return 0, mongoerr.Errorf(5439015, "%s requires 'startOfWeek' to be a string, but got %s", name, typeName(v))
	}
	lower := string(mapBytes(string(v.Text()), asciiLower))
	for d := time.Sunday; d <= time.Saturday; d++ {
		full := string(mapBytes(d.String(), asciiLower))
		if lower == full || lower == full[:3] {
			return d, nil
		}
	}
	return 0, mongoerr.Errorf(5439016, "%s parameter 'startOfWeek' value cannot be recognized as a day of a week: %s", name, v.Text())
}

func checkWeekday(name string) func(Value) error {
	return func(v Value) error {
		_, err := weekday(name, v)
		return err
	}
}
