package expr

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

var datePartsOperators = []operator{
	{name: "$dateToParts", parse: dateToPartsSignature.parse, apply: dateToParts},
	{name: "$dateFromParts", parse: parseDateFromParts, lazy: dateFromParts},
}

var dateToPartsSignature = signature{
	backwards: true,
	notObject: refusal{40524, "%[1]s only supports an object as its argument"},
	unknown:   refusal{40520, "Unrecognized argument to %[1]s: %[2]s"},
	params: []parameter{
		{name: "date", absent: refusal{40522, "Missing '%[2]s' parameter to %[1]s"}},
		{name: "timezone", check: checkTimezone},
		{name: "iso8601"},
	},
}

func dateToParts(args []Value) (Value, error) {
	iso := otherwise(args[2], no)
	if nullish(args[0]) {
		return null, nil
	}
	if nullish(args[1]) {
		return null, nil
	}
	zone, err := timezone(args[1])
	if err != nil {
		return missing, err
	}
	if nullish(iso) {
		return null, nil
	}
	if iso.Type != bson.TypeBoolean {
		return missing, fail(40521, "iso8601 must evaluate to a bool, found %s", typeName(iso))
	}
	ms, err := asDate(args[0])
	if err != nil {
		return missing, err
	}
	return parts(time.UnixMilli(ms).In(zone), truth(iso)), nil
}

func parts(t time.Time, iso bool) Value {
	part := func(name string, n int) field { return field{name, query.Int32(int32(n))} }
	o := object{part("year", t.Year()), part("month", int(t.Month())), part("day", t.Day())}
	if iso {
		o = object{part("isoWeekYear", isoWeekYear(t)), part("isoWeek", isoWeek(t)), part("isoDayOfWeek", isoDayOfWeek(t))}
	}
	return append(o, part("hour", t.Hour()), part("minute", t.Minute()), part("second", t.Second()),
		part("millisecond", millisecond(t))).value()
}

// fromPartsNames are the parameters of $dateFromParts in the order of its call.
var fromPartsNames = []string{
	"year", "month", "day", "hour", "minute", "second", "millisecond", "isoWeekYear", "isoWeek", "isoDayOfWeek", "timezone",
}

const (
	isoPart      = 7
	timezonePart = 10
)

func parseDateFromParts(p *parser, op *operator, v Value) (Expression, error) {
	s := signature{
		backwards: true,
		notObject: refusal{40519, "%[1]s only supports an object as its argument"},
		unknown:   refusal{40518, "Unrecognized argument to %[1]s: %[2]s"},
	}
	for _, name := range fromPartsNames {
		s.params = append(s.params, parameter{name: name})
	}
	s.params[timezonePart].check = checkTimezone
	if v.IsDocument() {
		if _, err := s.ordered(op.name, v); err != nil {
			return nil, err
		}
		if err := checkPartsMix(v.Data); err != nil {
			return nil, err
		}
	}
	return s.parse(p, op, v)
}

func checkPartsMix(doc []byte) error {
	has := func(names ...string) bool {
		for _, name := range names {
			if !query.Lookup(doc, name).Missing() {
				return true
			}
		}
		return false
	}
	switch {
	case !has("year", "isoWeekYear"):
		return fail(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
	case has("year") && has("isoWeekYear", "isoWeek", "isoDayOfWeek"):
		return fail(40489, "$dateFromParts does not allow mixing natural dates with ISO dates")
	case has("isoWeekYear") && has("month", "day"):
		return fail(40525, "$dateFromParts does not allow mixing ISO dates with natural dates")
	}
	return nil
}

func dateFromParts(env *Env, args []Expression) (Value, error) {
	first := 0
	if c, ok := args[0].(constant); ok && !given(c.value) {
		first = isoPart
	}
	// the parts are year, month and day of either calendar and the time of day; the time is evaluated first
	places := []int{first, first + 1, first + 2, 3, 4, 5, 6}
	n := make([]int64, len(places))
	for _, i := range []int{3, 4, 5, 6, 0, 1, 2} {
		at := places[i]
		v, err := args[at].Eval(env)
		if err != nil {
			return missing, err
		}
		v = otherwise(v, query.Int32(int32(min(1, max(0, 3-i)))))
		if nullish(v) {
			return null, nil
		}
		if n[i], err = partNumber(fromPartsNames[at], v); err != nil {
			return missing, err
		}
		if err := partRange(fromPartsNames[at], i, n[i]); err != nil {
			return missing, err
		}
	}
	name, err := args[timezonePart].Eval(env)
	if err != nil || nullish(name) {
		return null, err
	}
	zone, err := timezone(name)
	if err != nil {
		return missing, err
	}
	return fromParts(n, first > 0, zone)
}

func partNumber(name string, v Value) (int64, error) {
	n, ok := asWholeLong(v)
	if !v.IsNumber() || !ok {
		return 0, fail(40515, "'%s' must evaluate to an integer, found %s with value %s", name, typeName(v), spelled(v))
	}
	return n, nil
}

func partRange(name string, i int, n int64) error {
	switch {
	case i == 0 && (n < 1 || n > 9999):
		code := int32(40523)
		if name == "isoWeekYear" {
			code = 31095
		}
		return fail(code, "'%s' must evaluate to an integer in the range 1 to 9999, found %d", name, n)
	case i > 0 && i < 5 && n != int64(int16(n)):
		return fail(31034, "'%s' must evaluate to a value in the range [-32768, 32767]; value %d is not in range", name, n)
	}
	return nil
}

func fromParts(n []int64, iso bool, zone *time.Location) (Value, error) {
	if n[5] > math.MaxInt64/1000 || n[5] < math.MinInt64/1000 {
		return missing, fail(159, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	month, day := time.Month(n[1]), int(n[2])
	if iso {
		month, day = 1, isoDay(int(n[0]), int(n[1]), int(n[2]))
	}
	t := localTime(int(n[0]), month, day, int(n[3]), int(n[4]), 0, 0, zone).UnixMilli()
	total, ok := addLong(t, n[5]*1000)
	if ok {
		total, ok = addLong(total, n[6])
	}
	if !ok {
		return missing, fail(159, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	return date(total), nil
}

// isoDay returns the day, counted from the first of January, of a day in a week of an ISO year.
func isoDay(year, week, day int) int {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // is always in the first week
	return 4 - isoDayOfWeek(fourth) + (week-1)*7 + day
}
