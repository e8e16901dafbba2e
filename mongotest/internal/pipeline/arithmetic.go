package pipeline

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// compute applies an operator to values, with the rules about types that expressions have.
func compute(operator string, args ...Value) (Value, error) {
	quoted := make([]Value, len(args))
	for i, v := range args {
		quoted[i] = object{}.Set("$literal", v).Document()
	}
	e, err := expr.Parse(object{}.Set(operator, array(quoted)).Document(), nil)
	if err != nil {
		return missing, err
	}
	return e.Eval(&expr.Env{Root: query.EmptyDocument})
}

// units are the units of time, with their length in milliseconds; 0 where it varies.
var units = []struct {
	name string
	ms   int64
}{
	{"year", 0},
	{"quarter", 0},
	{"month", 0},
	{"week", 7 * 24 * 3600e3},
	{"day", 24 * 3600e3},
	{"hour", 3600e3},
	{"minute", 60e3},
	{"second", 1e3},
	{"millisecond", 1},
}

// checkUnit refuses a text that is no unit of time.
func checkUnit(name string) error {
	for _, u := range units {
		if u.name == name {
			return nil
		}
	}
	return mongoerr.Errorf(mongoerr.FailedToParse, "unknown time unit value: %s", name)
}

func unitLength(name string) int64 {
	at := slices.IndexFunc(units, func(u struct {
		name string
		ms   int64
	},
	) bool {
		return u.name == name
	})
	return units[at].ms
}

// advance adds a number of units to a date, or a number to a number if the unit is "".
func advance(v, by Value, unit string) (Value, error) {
	s, err := newStride(by, unit)
	if err != nil {
		return missing, err
	}
	return s.from(v)
}

// stride adds the same to many values, as advance does.
type stride struct {
	sum expr.Expression
}

func newStride(by Value, unit string) (*stride, error) {
	from := query.Text("$from")
	sum := object{}.Set("$add", array([]Value{from, object{}.Set("$literal", by).Document()}))
	if unit != "" {
		amount := object{}.Set("$literal", query.Int64(int64(by.AsFloat64()))).Document()
		sum = object{}.Set("$dateAdd", object{}.Set("startDate", from).Set("unit", query.Text(unit)).Set("amount", amount).Document())
	}
	e, err := expr.Parse(sum.Document(), nil)
	return &stride{e}, err
}

func (s *stride) from(v Value) (Value, error) {
	return s.sum.Eval(&expr.Env{Root: object{}.Set("from", v).Document().Data})
}
