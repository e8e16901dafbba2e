package expr

import (
	"math"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

var dateArithmeticOperators = []operator{
	{name: "$dateAdd", parse: dateAddParse, apply: dateAdd("$dateAdd", 1)},
	{name: "$dateSubtract", parse: dateAddParse, apply: dateAdd("$dateSubtract", -1)},
	{name: "$dateDiff", parse: dateDiffParse, lazy: nullFirst(2, dateDiff)},
	{name: "$dateTrunc", parse: dateTruncParse, lazy: nullFirst(1, dateTrunc)},
}

// nullFirst gives null if one of the first n arguments is null, before it evaluates the rest.
func nullFirst(n int, apply func([]Value) (Value, error)) func(*Env, []Expression) (Value, error) {
	return func(env *Env, args []Expression) (Value, error) {
		values := make([]Value, len(args))
		for i, arg := range args {
			var err error
			if values[i], err = arg.Eval(env); err != nil {
				return missing, err
			}
			if i < n && nullish(values[i]) {
				return null, nil
			}
		}
		return apply(values)
	}
}

// unitLengths are the units whose length is always the same, in milliseconds.
var unitLengths = map[string]int64{"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000}

// unitMonths are the units that are made of months; a day and a week are of days.
var unitMonths = map[string]int64{"month": 1, "quarter": 3, "year": 12}

const dayLength = 86_400_000

var unitDays = map[string]int64{"day": 1, "week": 7}

func timeUnit(name string, v Value) (string, error) {
	if !isText(v) {
		return "", fail(5439013, "%s requires 'unit' to be a string, but got %s", name, typeName(v))
	}
	unit := string(v.Text())
	if unitLengths[unit]+unitMonths[unit]+unitDays[unit] == 0 {
		return "", fail(failedToParse, "%s parameter 'unit' value parsing failed :: caused by :: unknown time unit value: %s", name, unit)
	}
	return unit, nil
}

func checkUnit(name string) func(Value) error {
	return func(v Value) error {
		_, err := timeUnit(name, v)
		return err
	}
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
			{name: "unit", absent: required, check: checkUnit(op.name)},
			{name: "amount", absent: required},
			{name: "timezone", check: checkTimezone},
		},
	}.parse(p, op, v)
}

func dateAdd(name string, direction int64) func([]Value) (Value, error) {
	return func(args []Value) (Value, error) {
		for _, v := range args {
			if nullish(v) {
				return null, nil
			}
		}
		unit, err := timeUnit(name, args[1])
		if err != nil {
			return missing, err
		}
		zone, err := timezone(args[3])
		if err != nil {
			return missing, err
		}
		start, err := asDate(args[0])
		if err != nil {
			return missing, fail(5166403, "%s requires startDate to be convertible to a date", name)
		}
		amount, ok := asWholeLong(args[2])
		if !args[2].IsNumber() || !ok {
			return missing, fail(5166405, "%s expects integer amount of time units", name)
		}
		if direction < 0 && amount == math.MinInt64 {
			return missing, fail(6045000, "invalid %s 'amount' parameter value: %d", name, amount)
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
		return missing, fail(5976500, "invalid dateAdd 'amount' parameter value: %d %s", amount, unit)
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
		day = min(day, daysIn(year, month))
	} else {
		day += int(amount * unitDays[unit])
	}
	return dateOf(localTime(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone))
}

// dateOf returns a time as a date, if one can be as far away.
func dateOf(t time.Time) (Value, error) {
	ms, ok := multiplyLong(t.Unix(), 1000)
	ms, fits := addLong(ms, int64(millisecond(t)))
	if !ok || !fits {
		return missing, fail(5166406, "dateAdd overflowed")
	}
	return date(ms), nil
}

func addMilliseconds(start, amount int64) (Value, error) {
	sum, ok := addLong(start, amount)
	if !ok {
		return missing, fail(159, "Overflow while adding %dms to %dms", amount, sum)
	}
	return date(sum), nil
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
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
			{name: "unit", absent: required(5166305), check: checkUnit(op.name)},
			{name: "timezone", check: checkTimezone},
			{name: "startOfWeek", check: checkWeekday(op.name)},
		},
	}.parse(p, op, v)
}

func dateDiff(args []Value) (Value, error) {
	for i, v := range args {
		if nullish(v) && (i < 4 || isWeek(args[2])) {
			return null, nil
		}
	}
	var ends [2]int64
	for i, which := range []string{"startDate", "endDate"} {
		var err error
		if ends[i], err = asDate(args[i]); err != nil {
			return missing, fail(5166307, "$dateDiff requires '%s' to be a date, but got %s", which, typeName(args[i]))
		}
	}
	unit, err := timeUnit("$dateDiff", args[2])
	if err != nil {
		return missing, err
	}
	zone, err := timezone(args[3])
	if err != nil {
		return missing, err
	}
	first, err := weekday("$dateDiff", unit, args[4])
	if err != nil {
		return missing, err
	}
	start, end := time.UnixMilli(ends[0]).In(zone), time.UnixMilli(ends[1]).In(zone)
	if _, ok := subtractLong(ends[1], ends[0]); !ok && unit == "millisecond" {
		return missing, fail(5166308, "dateDiff overflowed")
	}
	return query.Int64(unitsBetween(start, end, unit, first)), nil
}

func isWeek(v Value) bool { return isText(v) && string(v.Text()) == "week" }

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
	case "hour":
		_, a := start.Zone()
		_, b := end.Zone()
		return floorDiv(end.Unix()+int64(b), 3600) - floorDiv(start.Unix()+int64(a), 3600) - int64(b-a)/3600
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
func weekday(name, unit string, v Value) (time.Weekday, error) {
	if !given(v) || nullish(v) && unit != "week" {
		return time.Sunday, nil
	}
	if !isText(v) {
		return 0, fail(5439015, "%s requires 'startOfWeek' to be a string, but got %s", name, typeName(v))
	}
	lower := string(mapBytes(string(v.Text()), asciiLower))
	for d := time.Sunday; d <= time.Saturday; d++ {
		full := string(mapBytes(d.String(), asciiLower))
		if lower == full || lower == full[:3] {
			return d, nil
		}
	}
	return 0, fail(5439016, "%s parameter 'startOfWeek' value cannot be recognized as a day of a week: %s", name, v.Text())
}

func checkWeekday(name string) func(Value) error {
	return func(v Value) error {
		_, err := weekday(name, "week", v)
		return err
	}
}
