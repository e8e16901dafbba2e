package expr

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/datetext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var dateOperators = []operator{
	datePart("$year", func(t time.Time) int { return t.Year() }),
	datePart("$month", func(t time.Time) int { return int(t.Month()) }),
	datePart("$dayOfMonth", time.Time.Day),
	datePart("$dayOfYear", time.Time.YearDay),
	datePart("$dayOfWeek", func(t time.Time) int { return int(t.Weekday()) + 1 }),
	datePart("$week", sundayWeek),
	datePart("$isoWeek", isoWeek),
	longPart("$isoWeekYear", isoWeekYear),
	datePart("$isoDayOfWeek", datetext.ISODayOfWeek),
	datePart("$hour", time.Time.Hour),
	datePart("$minute", time.Time.Minute),
	datePart("$second", time.Time.Second),
	datePart("$millisecond", millisecond),
	{name: "$tsSecond", min: 1, max: 1, apply: timestampPart("$tsSecond", 5687301, 32)},
	{name: "$tsIncrement", min: 1, max: 1, apply: timestampPart("$tsIncrement", 5687302, 0)},
}

func sundayWeek(t time.Time) int  { return (t.YearDay() - 1 + 7 - int(t.Weekday())) / 7 }
func millisecond(t time.Time) int { return t.Nanosecond() / 1e6 }

func isoWeek(t time.Time) int {
	_, week := t.ISOWeek()
	return week
}

func isoWeekYear(t time.Time) int {
	year, _ := t.ISOWeek()
	return year
}

func datePart(name string, part func(time.Time) int) operator {
	return operator{name: name, parse: parseDatePart, lazy: withTime(func(t time.Time) Value { return query.Int32(int32(part(t))) })}
}

func longPart(name string, part func(time.Time) int) operator {
	return operator{name: name, parse: parseDatePart, lazy: withTime(func(t time.Time) Value { return query.Int64(int64(part(t))) })}
}

// parseDatePart reads a date, [date] or {date, timezone}.
func parseDatePart(p *parser, op *operator, v Value) (Expression, error) {
	if v.IsArray() {
		elements := query.Elements(v.Data)
		if len(elements) != 1 {
			return nil, mongoerr.Errorf(40536, "%s accepts exactly one argument if given an array, but was given %d", op.name, len(elements))
		}
		v = elements[0]
	} else if v.IsDocument() && !startsCall(v) {
		provided := object{}.Set(op.name, v).Made().String()
		s := signature{
			unknown: refusal{40535, "unrecognized option to %[1]s: \"%[2]s\""},
			params: []parameter{
				{name: "date", absent: refusal{40539, "missing '%[2]s' argument to %[1]s, provided: " + escapePercent(provided[2:len(provided)-2])}},
				{name: "timezone", check: checkTimezone},
			},
		}
		return s.parse(p, op, v)
	}
	e, err := p.expression(v)
	if err != nil {
		return nil, err
	}
	return &call{op: op, args: []Expression{e, constant{notGiven}}}, nil
}

// startsCall reports whether a document is an operator's call rather than named arguments.
func startsCall(v Value) bool {
	fields := query.ObjectOf(v.Data)
	return len(fields) > 0 && len(fields[0].Name) > 0 && fields[0].Name[0] == '$'
}

// withTime applies f to a date in a zone, null if one of them is.
func withTime(f func(time.Time) Value) func(*Env, []Expression) (Value, error) {
	return func(env *Env, args []Expression) (Value, error) {
		var ms int64
		var zone *time.Location
		isNull, err := inTurn(env, args, taker{0, into(&ms, asDate)}, taker{1, into(&zone, timezone)})
		if isNull || err != nil {
			return null, err
		}
		return f(time.UnixMilli(ms).In(zone)), nil
	}
}

// asDate returns the milliseconds of a date, a timestamp or an object id.
func asDate(v Value) (int64, error) {
	switch v.Type {
	case bson.TypeDateTime:
		return v.AsInt64(), nil
	case bson.TypeTimestamp:
		return int64(binary.LittleEndian.Uint32(v.Data[4:])) * 1000, nil
	case bson.TypeObjectID:
		return int64(int32(binary.BigEndian.Uint32(v.Data))) * 1000, nil
	}
	return 0, mongoerr.Errorf(16006, "can't convert from BSON type %s to Date", typeName(v))
}

func timestampPart(name string, code int32, shift uint) func([]Value) (Value, error) {
	return func(args []Value) (Value, error) {
		if args[0].IsNullish() {
			return null, nil
		}
		if args[0].Type != bson.TypeTimestamp {
			return missing, mongoerr.Errorf(code, " Argument to %s must be a timestamp, but is %s", name, typeName(args[0]))
		}
		return query.Int64(int64(uint64(args[0].AsInt64()) >> shift & math.MaxUint32)), nil
	}
}

const (
	isoLayout  = "%04d-%02d-%02dT%02d:%02d:%02d.%03d"
	utcLetter  = "Z"
	yearsRange = "Could not convert date to string: date component was outside the supported range of 0-9999: %d"
)

// dateText writes a date in UTC as the real server does by default.
func dateText(ms int64) (string, error) {
	t := time.UnixMilli(ms).UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return "", mongoerr.Errorf(18537, yearsRange, year)
	}
	return isoText(t) + utcLetter, nil
}

func isoText(t time.Time) string {
	return fmt.Sprintf(isoLayout, t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), millisecond(t))
}

// isoDate writes a date for the text of an error.
func isoDate(ms int64) string {
	s, err := dateText(ms)
	if err != nil {
		return err.Error()
	}
	return s
}

// timestampText is the old form of $toLower and its kin.
func timestampText(v Value) string {
	n := uint64(v.AsInt64())
	t := time.Unix(int64(n>>32), 0).UTC()
	return fmt.Sprintf("%s:%d", t.Format("Jan _2 15:04:05"), uint32(n))
}
