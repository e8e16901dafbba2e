package query

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// parser compiles one field of an update operator.
type parser func(field string, v Value) (operator, error)

// operators are the update operators by name. Package query never writes to it.
var operators = map[string]parser{
	"$set":         func(_ string, v Value) (operator, error) { return set(v), nil },
	"$setOnInsert": func(_ string, v Value) (operator, error) { return setOnInsert(v), nil },
	"$unset":       func(string, Value) (operator, error) { return unset{}, nil },
	"$inc":         parseInc,
	"$mul":         parseMul,
	"$min":         func(_ string, v Value) (operator, error) { return extreme{operand: v, sign: -1}, nil },
	"$max":         func(_ string, v Value) (operator, error) { return extreme{operand: v, sign: 1}, nil },
	"$rename":      parseRename,
	"$currentDate": parseCurrentDate,
	"$push":        parsePush,
	"$addToSet":    parseAddToSet,
	"$pull":        parsePull,
	"$pullAll":     parsePullAll,
	"$pop":         parsePop,
	"$bit":         parseBit,
}

// UpdateOperators returns the names of the operators that an update may have.
func UpdateOperators() []string { return slices.Sorted(maps.Keys(operators)) }

type set Value

func (s set) apply(Value, *Env) (Value, error) { return Value(s), nil }

type setOnInsert Value

func (s setOnInsert) apply(old Value, env *Env) (Value, error) {
	if env.Insert {
		return Value(s), nil
	}
	return old, nil
}

type unset struct{}

func (unset) apply(Value, *Env) (Value, error) { return Value{}, nil }

// extreme is $min (sign -1) and $max (sign 1).
type extreme struct {
	operand Value
	sign    int
	by      Collation
}

func (e extreme) collated(c Collation) operator {
	e.by = c
	return e
}

func (e extreme) apply(old Value, _ *Env) (Value, error) {
	if old.Missing() || CompareBy(e.by, e.operand, old)*e.sign > 0 {
		return e.operand, nil
	}
	return old, nil
}

// rename takes the value of another field, which an unset at that field removes.
type rename struct{ from, to string }

func parseRename(field string, v Value) (operator, error) {
	to := v.Text()
	switch {
	case v.Type != bson.TypeString:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The 'to' field for $rename must be a string: %s: %s", field, v)
	case isDynamic(field):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The source field for $rename may not be dynamic: %s", field)
	case isDynamic(string(to)):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The destination field for $rename may not be dynamic: %s", to)
	case string(to) == field:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The source and target field for $rename must differ: %s: %s", field, v)
	case strings.HasPrefix(string(to)+".", field+"."), strings.HasPrefix(field+".", string(to)+"."):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The source and target field for $rename must not be on the same path: %s: %s", field, v)
	}
	return rename{field, string(to)}, nil
}

func (r rename) apply(old Value, env *Env) (Value, error) {
	if v := r.source(env); !v.Missing() {
		return v, nil
	}
	return old, nil
}

// source returns the value that is renamed.
func (r rename) source(env *Env) Value {
	v := Document(env.original)
	for name := range strings.SplitSeq(r.from, ".") {
		if !v.IsDocument() {
			return Value{}
		}
		v = env.lookup(v.Data, name)
	}
	return v
}

// check refuses a rename that cannot reach its source, and one from or to an element of an array.
func (r rename) check(env *Env) error {
	from := env.follow(splitPath(r.from))
	to := env.follow(splitPath(r.to))
	const refusal = "The %s field cannot be an array element, '%s' in doc with %s has an array field called '%s'"
	switch {
	case from.blockedAt != "":
		return mongoerr.Errorf(mongoerr.PathNotViable, "cannot use the part (%s of %s) to traverse the element ({%s: %s})", from.blockedAt, r.from,
			from.blockedAt, from.value)
	case from.value.Missing():
		return nil
	case from.array != "":
		return mongoerr.Errorf(mongoerr.BadValue, refusal, "source", r.from, bareID(env), from.array)
	case to.array == "" && to.value.IsArray() && to.blockedAt != "":
		return mongoerr.Errorf(mongoerr.BadValue, refusal, "destination", r.to, bareID(env), to.blockedAt)
	case to.array != "":
		return mongoerr.Errorf(mongoerr.BadValue, refusal, "destination", r.to, bareID(env), to.array)
	}
	return nil
}

// followed is where a path leads without entering arrays but by index.
type followed struct {
	value     Value
	array     string // the first array on the way
	blockedAt string // the field whose value, then in value, is none that the path could enter
}

func (e *Env) follow(p path) followed {
	at := followed{value: Document(e.original)}
	for i, name := range p {
		_, number := index(name)
		switch {
		case at.value.IsArray() && number:
			if at.array == "" {
				at.array = p[i-1]
			}
		case !at.value.IsDocument():
			at.blockedAt = p[i-1]
			return at
		}
		if at.value = e.lookup(at.value.Data, name); at.value.Missing() {
			return at
		}
	}
	return at
}

// lookup is Lookup that is fast where many renames look into one document.
func (e *Env) lookup(doc []byte, name string) Value {
	if e.fields == nil || len(doc) < 512 {
		return Lookup(doc, name)
	}
	fields := e.fields[&doc[0]]
	if fields == nil {
		fields = make(map[string]Value)
		for _, f := range ObjectOf(doc) {
			if _, again := fields[f.Name]; !again {
				fields[f.Name] = f.Value
			}
		}
		e.fields[&doc[0]] = fields
	}
	return fields[name]
}

// renamed removes the field that a rename moves elsewhere.
type renamed struct{}

func (renamed) apply(Value, *Env) (Value, error) { return Value{}, nil }

// idOf names the document in an error's text.
func idOf(env *Env) string { return "{" + bareID(env) + "}" }

func bareID(env *Env) string {
	id := Lookup(env.original, "_id")
	if id.Missing() {
		return "no id"
	}
	return "_id: " + id.String()
}

type currentDate struct{ timestamp bool }

func parseCurrentDate(_ string, v Value) (operator, error) {
	if v.Type == bson.TypeBoolean {
		return currentDate{}, nil
	}
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s is not valid type for $currentDate. Please use a boolean ('true') or a $type "+
			"expression ({$type: 'timestamp/date'}).", TypeName(v.Type))
	}
	kind := ""
	it := wire.Elements(v.Data)
	for it.Next() {
		if string(it.Key) != "$type" {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "Unrecognized $currentDate option: %s", it.Key)
		}
		kind = string(it.Text())
	}
	if kind != "date" && kind != "timestamp" {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The '$type' string field is required to be 'date' or 'timestamp': "+
			"{$currentDate: {field : {$type: 'date'}}}")
	}
	return currentDate{timestamp: kind == "timestamp"}, it.Err
}

func (c currentDate) apply(_ Value, env *Env) (Value, error) {
	if c.timestamp {
		return Value{bson.TypeTimestamp, binary.LittleEndian.AppendUint64(nil, uint64(env.Now.Unix())<<32|1)}, nil
	}
	return Value{bson.TypeDateTime, binary.LittleEndian.AppendUint64(nil, uint64(env.Now.UnixMilli()))}, nil
}

// arithmetic is $inc and $mul.
type arithmetic struct {
	operand Value
	mul     bool
}

func parseInc(field string, v Value) (operator, error) {
	if !v.IsNumber() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "Cannot increment with non-numeric argument: {%s: %s}", field, v)
	}
	return arithmetic{v, false}, nil
}

func parseMul(field string, v Value) (operator, error) {
	if !v.IsNumber() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "Cannot multiply with non-numeric argument: {%s: %s}", field, v)
	}
	return arithmetic{v, true}, nil
}

func (a arithmetic) name() string {
	if a.mul {
		return "$mul"
	}
	return "$inc"
}

func (a arithmetic) apply(old Value, env *Env) (Value, error) {
	v, err := a.result(old, env)
	if isNaN(v) {
		env.forced = true // it is not even equal to itself
		return v, err
	}
	if v.Type == old.Type && Equal(v, old) {
		return old, err // as precise as it was
	}
	return v, err
}

func (a arithmetic) result(old Value, env *Env) (Value, error) {
	switch {
	case old.Missing() && a.mul && a.operand.Type == bson.TypeDecimal128:
		return a.decimals(Int32(0)), nil
	case old.Missing() && a.mul:
		return Value{a.operand.Type, make([]byte, len(a.operand.Data))}, nil
	case old.Missing():
		return a.operand, nil
	case !old.IsNumber():
		return Value{}, mongoerr.Errorf(mongoerr.TypeMismatch, "Cannot apply %s to a value of non-numeric type. %s has the field '%s' of "+
			"non-numeric type %s", a.name(), idOf(env), env.field(), TypeName(old.Type))
	case old.Type == bson.TypeDecimal128 || a.operand.Type == bson.TypeDecimal128:
		return a.decimals(old), nil
	case old.Type == bson.TypeDouble || a.operand.Type == bson.TypeDouble:
		return a.doubles(old), nil
	}
	return a.integers(old, env)
}

func (a arithmetic) doubles(old Value) Value {
	f := old.AsFloat64() + a.operand.AsFloat64()
	if a.mul {
		f = old.AsFloat64() * a.operand.AsFloat64()
	}
	if math.IsNaN(f) {
		return notANumber(a.operand.AsFloat64(), old.AsFloat64())
	}
	return Double(f)
}

// notANumber returns the NaN of an operation with the sign that processors of the real server's give it: that of the first operand
// that is NaN, and a minus if none is.
func notANumber(x, y float64) Value {
	sign := -1.0
	switch {
	case math.IsNaN(x):
		sign = math.Copysign(1, x)
	case math.IsNaN(y):
		sign = math.Copysign(1, y)
	}
	return Double(math.Copysign(math.Float64frombits(0x7ff8000000000000), sign))
}

func (a arithmetic) integers(old Value, env *Env) (Value, error) {
	x, y := old.AsInt64(), a.operand.AsInt64()
	n, ok := addInts(x, y)
	if a.mul {
		n, ok = mulInts(x, y)
	}
	if !ok {
		return Value{}, mongoerr.Errorf(mongoerr.BadValue, "Failed to apply %s operations to current value ((%s)%d) for document %s", a.name(),
			numberName(old.Type), x, idOf(env))
	}
	narrow := old.Type == bson.TypeInt32 && a.operand.Type == bson.TypeInt32
	if narrow && n >= math.MinInt32 && n <= math.MaxInt32 {
		return Int32(int32(n)), nil
	}
	return Int64(n), nil
}

func numberName(t bson.Type) string {
	if t == bson.TypeInt32 {
		return "NumberInt"
	}
	return "NumberLong"
}

func addInts(x, y int64) (int64, bool) {
	n := x + y
	return n, (n > x) == (y > 0)
}

func mulInts(x, y int64) (int64, bool) {
	if x == 0 || y == 0 {
		return 0, true
	}
	n := x * y
	overflow := n/y != x || (x == -1 && y == math.MinInt64) || (y == -1 && x == math.MinInt64)
	return n, !overflow
}
