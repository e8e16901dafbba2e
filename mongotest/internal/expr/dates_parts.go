package expr

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/datetext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var datePartsOperators = []operator{
	{name: "$dateToParts", parse: dateToPartsSignature.parse, lazy: dateToParts},
	{name: "$dateFromParts", parse: parseDateFromParts, lazy: dateFromParts},
}

var dateToPartsSignature = signature{
	backwards: true,
	notObject: refusal{40524, "%[1]s only supports an object as its argument"},
	unknown:   refusal{40520, "Unrecognized argument to %[1]s: %[2]s"},
	params: []parameter{
		{name: "date", absent: refusal{40522, "Missing '%[2]s' parameter to %[1]s"}},
		{name: "timezone", check: checkTimezone, nullAhead: true},
		{name: "iso8601"},
	},
}

func dateToParts(env *Env, args []Expression) (Value, error) {
	date, err := args[0].Eval(env)
	if err != nil {
		return missing, err
	}
	var zone *time.Location
	var iso bool
	isNull, err := inTurn(env, args, taker{1, into(&zone, timezone)}, taker{2, into(&iso, isISO)})
	if isNull || err != nil || date.IsNullish() {
		return null, err
	}
	ms, err := asDate(date)
	if err != nil {
		return missing, err
	}
	return parts(time.UnixMilli(ms).In(zone), iso), nil
}

func isISO(v Value) (bool, error) {
	v = otherwise(v, no)
	if v.Type != bson.TypeBoolean {
		return false, mongoerr.Errorf(40521, "iso8601 must evaluate to a bool, found %s", typeName(v))
	}
	return truth(v), nil
}

func parts(t time.Time, iso bool) Value {
	var o object
	set := func(name string, n int) { o = append(o, field{Name: name, Value: query.Int32(int32(n))}) }
	if iso {
		set("isoWeekYear", isoWeekYear(t))
		set("isoWeek", isoWeek(t))
		set("isoDayOfWeek", datetext.ISODayOfWeek(t))
	} else {
		set("year", t.Year())
		set("month", int(t.Month()))
		set("day", t.Day())
	}
	set("hour", t.Hour())
	set("minute", t.Minute())
	set("second", t.Second())
	set("millisecond", millisecond(t))
	return o.Made()
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
	s.params[timezonePart].check, s.params[timezonePart].nullAhead = checkTimezone, true
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
		return mongoerr.Errorf(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present")
	case has("year") && has("isoWeekYear", "isoWeek", "isoDayOfWeek"):
		return mongoerr.Errorf(40489, "$dateFromParts does not allow mixing natural dates with ISO dates")
	case has("isoWeekYear") && has("month", "day"):
		return mongoerr.Errorf(40525, "$dateFromParts does not allow mixing ISO dates with natural dates")
	}
	return nil
}

func dateFromParts(env *Env, args []Expression) (Value, error) {
	first := 0
	if c, ok := args[0].(constant); ok && !given(c.value) {
		first = isoPart
	}
	// the parts are year, month and day of either calendar and the time of day
	places := []int{first, first + 1, first + 2, 3, 4, 5, 6}
	n := make([]int64, len(places))
	part := func(i int) taker {
		return taker{places[i], into(&n[i], func(v Value) (int64, error) { return partNumber(places[i], i, v) })}
	}
	var zone *time.Location
	isNull, err := inTurn(env, args, part(3), part(4), part(5), part(6), taker{timezonePart, into(&zone, timezone)}, part(0), part(1), part(2))
	if isNull || err != nil {
		return null, err
	}
	return fromParts(n, first > 0, zone)
}

// partNumber reads the i-th part, which is the argument at a place.
func partNumber(place, i int, v Value) (int64, error) {
	name := fromPartsNames[place]
	v = otherwise(v, query.Int32(int32(min(1, max(0, 3-i)))))
	n, ok := asWholeLong(v)
	if !v.IsNumber() || !ok {
		return 0, mongoerr.Errorf(40515, "'%s' must evaluate to an integer, found %s with value %s", name, typeName(v), spelled(v))
	}
	return n, partRange(name, i, n)
}

func partRange(name string, i int, n int64) error {
	switch {
	case i == 0 && (n < 1 || n > 9999):
		code := int32(40523)
		if name == "isoWeekYear" {
			code = 31095
		}
		return mongoerr.Errorf(code, "'%s' must evaluate to an integer in the range 1 to 9999, found %d", name, n)
	case i > 0 && i < 5 && n != int64(int16(n)):
		return mongoerr.Errorf(31034, "'%s' must evaluate to a value in the range [-32768, 32767]; value %d is not in range", name, n)
	}
	return nil
}

func fromParts(n []int64, iso bool, zone *time.Location) (Value, error) {
	if n[5] > math.MaxInt64/1000 || n[5] < math.MinInt64/1000 {
		return missing, mongoerr.Errorf(159, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	month, day := time.Month(n[1]), int(n[2])
	if iso {
		month, day = 1, datetext.ISODay(int(n[0]), int(n[1]), int(n[2]))
	}
	t := datetext.LocalTime(int(n[0]), month, day, int(n[3]), int(n[4]), 0, 0, zone).UnixMilli()
	total, ok := addLong(t, n[5]*1000)
	if ok {
		total, ok = addLong(total, n[6])
	}
	if !ok {
		return missing, mongoerr.Errorf(159, "Overflow casting from a lower-precision duration to a higher-precision duration")
	}
	return date(total), nil
}
