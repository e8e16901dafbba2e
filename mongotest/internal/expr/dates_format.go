package expr

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/datetext"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var dateTextOperators = []operator{
	{name: "$dateToString", parse: dateToStringSignature.parse, optimize: inOrder(0, 2, 3, 1), lazy: dateToString},
	{name: "$dateFromString", parse: dateFromStringSignature.parse, lazy: dateFromString},
}

var dateToStringSignature = signature{
	backwards: true,
	notObject: refusal{18629, "%[1]s only supports an object as its argument"},
	unknown:   refusal{18534, "Unrecognized argument to %[1]s: %[2]s"},
	params: []parameter{
		{name: "date", absent: refusal{18628, "Missing '%[2]s' parameter to %[1]s"}},
		{name: "format"},
		{name: "timezone", check: checkTimezone},
		{name: "onNull"},
	},
}

func checkFormat(v Value) error {
	if !v.IsString() {
		return mongoerr.Errorf(18533, "$dateToString requires that 'format' be a string, found: %s with value %s", typeName(v), spelled(v))
	}
	return checkSpecifiers(string(v.Text()), "YmdHMSLzZjGVUuwbB%")
}

// checkSpecifiers refuses a format with a specifier that is not in the list.
func checkSpecifiers(format, known string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return mongoerr.Errorf(18535, "Unmatched '%%' at end of format string")
		}
		if strings.IndexByte(known, format[i]) < 0 {
			c, _ := utf8.DecodeRuneInString(format[i:])
			return mongoerr.Errorf(18536, "Invalid format character '%%%c' in format string", c)
		}
	}
	return nil
}

func dateToString(env *Env, args []Expression) (Value, error) {
	v, format, zone, err := dateAndStyle(env, args[:3], checkFormat)
	if err != nil {
		return missing, err
	}
	if v.IsNullish() {
		return onNull(env, args[3])
	}
	if format.IsNullish() || zone.IsNullish() {
		return null, nil
	}
	location, err := timezone(zone)
	if err != nil {
		return missing, err
	}
	ms, err := asDate(v)
	if err != nil {
		return missing, err
	}
	t := time.UnixMilli(ms).In(location)
	if year := t.Year(); year < 0 || year > 9999 {
		return missing, mongoerr.Errorf(18537, yearsRange, year)
	}
	if given(format) {
		return query.Text(formatted(t, string(format.Text()))), nil
	}
	if given(zone) && !isUTC(string(zone.Text())) {
		return query.Text(isoText(t)), nil
	}
	return query.Text(isoText(t) + utcLetter), nil
}

// dateAndStyle evaluates a date, a format and a time zone, and checks each of the two before it goes on.
func dateAndStyle(env *Env, args []Expression, checkFormat func(Value) error) (date, format, zone Value, err error) {
	if date, err = args[0].Eval(env); err != nil {
		return missing, missing, missing, err
	}
	if format, err = evalChecked(env, args[1], checkFormat); err != nil {
		return missing, missing, missing, err
	}
	zone, err = evalChecked(env, args[2], checkTimezone)
	return date, format, zone, err
}

// evalChecked evaluates an argument and checks it, if it is given and not null.
func evalChecked(env *Env, e Expression, check func(Value) error) (Value, error) {
	v, err := e.Eval(env)
	if err != nil || !given(v) || v.IsNullish() {
		return v, err
	}
	return v, check(v)
}

// isUTC reports whether a zone's name stands for UTC itself, which the default format shows by its letter.
func isUTC(name string) bool {
	offset, ok := utcOffset(name)
	return name == "UTC" || ok && offset == 0
}

// onNull returns what to give for null: null if nothing is given.
func onNull(env *Env, e Expression) (Value, error) {
	v, err := e.Eval(env)
	return otherwise(v, null), err
}

func formatted(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		b.WriteString(specified(t, format[i]))
	}
	return b.String()
}

func specified(t time.Time, specifier byte) string {
	_, offset := t.Zone()
	switch specifier {
	case 'Y':
		return fmt.Sprintf("%04d", t.Year())
	case 'm':
		return fmt.Sprintf("%02d", t.Month())
	case 'd':
		return fmt.Sprintf("%02d", t.Day())
	case 'H':
		return fmt.Sprintf("%02d", t.Hour())
	case 'M':
		return fmt.Sprintf("%02d", t.Minute())
	case 'S':
		return fmt.Sprintf("%02d", t.Second())
	case 'L':
		return fmt.Sprintf("%03d", millisecond(t))
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'G':
		return fmt.Sprintf("%04d", isoWeekYear(t))
	case 'V':
		return fmt.Sprintf("%02d", isoWeek(t))
	case 'U':
		return fmt.Sprintf("%02d", sundayWeek(t))
	case 'u':
		return fmt.Sprint(datetext.ISODayOfWeek(t))
	case 'w':
		return fmt.Sprint(int(t.Weekday()) + 1)
	case 'b':
		return t.Month().String()[:3]
	case 'B':
		return t.Month().String()
	case 'z':
		return t.Format("-0700")
	case 'Z':
		return fmt.Sprint(offset / 60)
	}
	return "%"
}
