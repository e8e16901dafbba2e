package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

var convertOperators = []operator{
	{name: "$convert", parse: parseConvert, optimize: inOrder(0, 1, 6, 4, 2, 3, 5), lazy: convertCall},
	shorthand("$toBool", bson.TypeBoolean),
	shorthand("$toInt", bson.TypeInt32),
	shorthand("$toLong", bson.TypeInt64),
	shorthand("$toDouble", bson.TypeDouble),
	shorthand("$toDecimal", bson.TypeDecimal128),
	shorthand("$toString", bson.TypeString),
	shorthand("$toObjectId", bson.TypeObjectID),
	shorthand("$toDate", bson.TypeDateTime),
	{name: "$toUUID", parse: parseToUUID, apply: toUUID},
}

var convertSignature = signature{
	notObject: refusal{mongoerr.FailedToParse, "%[1]s expects an object of named arguments but found: %[2]s"},
	unknown:   refusal{mongoerr.FailedToParse, "%[1]s found an unknown argument: %[2]s"},
	params: []parameter{
		{name: "input", absent: refusal{mongoerr.FailedToParse, "Missing '%[2]s' parameter to %[1]s"}},
		{name: "to", absent: refusal{mongoerr.FailedToParse, "Missing '%[2]s' parameter to %[1]s"}},
		{name: "onError"},
		{name: "onNull"},
		{name: "format"},
		{name: "byteOrder"},
		{name: "base"},
	},
}

// target is what to convert to, and how.
type target struct {
	to        bson.Type
	subtype   byte
	format    string // of binary data as text
	bigEndian bool
	base      int             // of integers as text
	version   version.Version // of the server; zero: the newest
}

func shorthand(name string, to bson.Type) operator {
	how := target{to: to, format: "base64"}
	if to == bson.TypeString {
		how.format = "auto"
	}
	return operator{name: name, parse: func(p *parser, op *operator, v Value) (Expression, error) {
		at := how
		at.version = p.scope.serverVersion()
		own := *op
		own.apply = at.applied
		return parseShorthand(p, &own, v)
	}, apply: how.applied}
}

// applied converts the only argument.
func (t target) applied(args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	return convert(args[0], t)
}

func toUUID(args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	return convert(args[0], target{to: bson.TypeBinary, subtype: 4, format: "uuid"})
}

// parseShorthand reads one argument, which may stand in an array.
func parseShorthand(p *parser, op *operator, v Value) (Expression, error) {
	if v.IsArray() {
		elements := query.Elements(v.Data)
		if len(elements) != 1 {
			return nil, mongoerr.Errorf(50723, "%s requires a single argument, got %d", op.name, len(elements))
		}
		v = elements[0]
	}
	e, err := p.expression(v)
	if err != nil {
		return nil, err
	}
	return &call{op: op, args: []Expression{e}}, nil
}

func convertCall(env *Env, args []Expression) (Value, error) {
	return convertCallAt(env, args, version.Version{})
}

func convertCallAt(env *Env, args []Expression, v version.Version) (Value, error) {
	values := make([]Value, len(args))
	for _, i := range []int{1, 0, 6, 4, 5} {
		v, err := args[i].Eval(env)
		if err != nil {
			return missing, err
		}
		values[i] = v
	}
	how, toNull, err := readTarget(values[1], v)
	switch {
	case err != nil:
		return missing, err
	case values[0].IsNullish():
		return onNull(env, args[3])
	case toNull:
		return null, nil
	}
	if err := how.readOptions(values); err != nil {
		return missing, err
	}
	result, err := convert(values[0], how)
	return onError(env, args[2], result, err)
}

// readTarget reads what to convert to.
func readTarget(asked Value, v version.Version) (how target, toNull bool, err error) {
	how.base, how.version = 10, v
	to := asked
	if to.IsDocument() && atLeast(v, since80) {
		to = query.Lookup(to.Data, "type")
	}
	if to.IsNullish() {
		return how, true, nil
	}
	if how.to, err = typeOf(to); err == nil && how.to == bson.TypeBinary && asked.IsDocument() {
		how.subtype, err = readSubtype(query.Lookup(asked.Data, "subtype"))
	}
	return how, false, err
}

// readOptions reads the arguments of $convert that say how.
func (t *target) readOptions(values []Value) (err error) {
	if base := values[6]; given(base) && !base.IsNullish() {
		n, ok := asIndex(base)
		if !base.IsNumber() || !ok {
			return mongoerr.Errorf(3501300, "In $convert, 'base' argument is not an integer")
		}
		if n != 2 && n != 8 && n != 10 && n != 16 {
			return mongoerr.Errorf(3501301, "In $convert, 'base' argument is not a valid base")
		}
		t.base = n
	}
	if t.format, err = textOption(values[4], 4341114, 4341125, "format", "base64", "base64url", "hex", "utf8", "uuid", "auto"); err != nil {
		return err
	}
	order, err := textOption(values[5], 9130001, 9130002, "byteOrder", "little", "big")
	t.bigEndian = order == "big"
	return err
}

func readSubtype(v Value) (byte, error) {
	if v.Missing() {
		return 0, nil
	}
	n, ok := asIndex(v)
	switch {
	case !v.IsNumber():
		return 0, mongoerr.Errorf(4341108, "For BinData, $convert's 'subtype' argument must be a number, but is %s", typeName(v))
	case !ok:
		return 0, mongoerr.Errorf(4341106, "In $convert, numeric 'subtype' argument is not an integer")
	case n < 0 || n > 255:
		return 0, mongoerr.Errorf(4341107, "In $convert, numeric value for 'subtype' does not correspond to a BinData type: %s", spelled(v))
	}
	return byte(n), nil
}

func textOption(v Value, otherType, unknown int32, name string, known ...string) (string, error) {
	s := string(v.Text())
	switch {
	case !given(v) || v.IsNullish():
		return "", nil
	case !v.IsString():
		return "", mongoerr.Errorf(otherType, "$convert requires that '%s' be a string, found: %s with value %s", name, typeName(v), spelled(v))
	case !has(known, s):
		return "", mongoerr.Errorf(unknown, "Invalid '%s' argument for $convert: %s", name, s)
	}
	return s, nil
}

// typeOf reads the name or number of a type.
func typeOf(v Value) (bson.Type, error) {
	if v.IsString() {
		for t := range 256 {
			if known := bson.Type(t); t > 0 && query.TypeName(known) == string(v.Text()) && known != 0 {
				return known, nil
			}
		}
		return 0, mongoerr.Errorf(mongoerr.BadValue, "Unknown type name: %s", v.Text())
	}
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(mongoerr.FailedToParse, "$convert's 'to' argument must be a string or number, but is %s", typeName(v))
	}
	n, ok := asIndex(v)
	if !ok {
		return 0, mongoerr.Errorf(mongoerr.FailedToParse, "In $convert, numeric 'to' argument is not an integer")
	}
	if n < -1 || n > 127 || query.TypeName(bson.Type(byte(n))) == "missing" {
		return 0, mongoerr.Errorf(mongoerr.FailedToParse, "In $convert, numeric value for 'to' does not correspond to a BSON type: %d", n)
	}
	return bson.Type(byte(n)), nil
}

func convert(v Value, how target) (Value, error) {
	if how.tooNew(v) {
		return unsupportedConversion(v, how)
	}
	if f := converters[how.to]; f != nil {
		return f(v, how)
	}
	return unsupportedConversion(v, how)
}

func unsupportedConversion(v Value, how target) (Value, error) {
	return missing, mongoerr.Errorf(mongoerr.ConversionFailure,
		"Unsupported conversion from %s to %s in $convert with no onError value", typeName(v),
		query.TypeName(how.to))
}

var converters = map[bson.Type]func(Value, target) (Value, error){
	bson.TypeBoolean:    func(v Value, _ target) (Value, error) { return boolean(truth(v)), nil },
	bson.TypeInt32:      toInteger,
	bson.TypeInt64:      toInteger,
	bson.TypeDouble:     toDouble,
	bson.TypeDecimal128: toDecimal,
	bson.TypeString:     toText,
	bson.TypeObjectID:   toObjectID,
	bson.TypeDateTime:   toDate,
	bson.TypeBinary:     toBinary,

	bson.TypeEmbeddedDocument: toComposite,
	bson.TypeArray:            toComposite,
}

// toComposite would parse JSON or a vector, which is not done here.
func toComposite(v Value, how target) (Value, error) {
	if v.IsString() || v.Type == bson.TypeBinary {
		return missing, mongoerr.Errorf(mongoerr.NotImplemented,
			"mongotest: $convert from %s to %s is not supported", typeName(v), query.TypeName(how.to))
	}
	return unsupportedConversion(v, how)
}

const withoutOnError = "in $convert with no onError value"

func overflowing(v Value) error {
	shown := spelled(v)
	if isInteger(v) {
		shown = ""
	}
	return mongoerr.Errorf(mongoerr.ConversionFailure, "Conversion would overflow target type %s: %s", withoutOnError, shown)
}

func toInteger(v Value, how target) (Value, error) {
	long := how.to == bson.TypeInt64
	var n int64
	ok := true
	switch v.Type {
	case bson.TypeBoolean:
		n = int64(v.Data[0])
	case bson.TypeInt32, bson.TypeInt64:
		n = v.AsInt64()
	case bson.TypeDouble, bson.TypeDecimal128:
		if err := checkFinite(v); err != nil {
			return missing, err
		}
		n, ok = wholePart(v)
		ok = ok && (long || !isDouble(v) || v.AsFloat64() >= math.MinInt32 && v.AsFloat64() <= math.MaxInt32)
	case bson.TypeString:
		return parseInteger(string(v.Text()), how)
	case bson.TypeBinary:
		return integerOfBinary(v, how)
	case bson.TypeDateTime:
		if !long {
			return unsupportedConversion(v, how)
		}
		n = v.AsInt64()
	default:
		return unsupportedConversion(v, how)
	}
	if !ok || !long && n != int64(int32(n)) {
		return missing, overflowing(v)
	}
	return integerValue(n, long), nil
}

func checkFinite(v Value) error {
	switch f := v.AsFloat64(); {
	case isDecimal(v) && decimal.Of(v).Form == decimal.Finite:
	case math.IsNaN(f):
		return mongoerr.Errorf(mongoerr.ConversionFailure, "Attempt to convert NaN value to integer type %s", withoutOnError)
	case math.IsInf(f, 0):
		return mongoerr.Errorf(mongoerr.ConversionFailure, "Attempt to convert infinity value to integer type %s", withoutOnError)
	}
	return nil
}

// wholePart returns a finite number without its fraction.
func wholePart(v Value) (int64, bool) {
	if isDouble(v) {
		f := math.Trunc(v.AsFloat64())
		return int64(f), f >= -1<<63 && f < 1<<63
	}
	d := decimal.Of(v)
	if d.Form != decimal.Finite || d.Exp > 20 && !d.IsZero() {
		return 0, false
	}
	n := d.Integral(decimal.TowardZero).Signed(min(0, d.Integral(decimal.TowardZero).Exp))
	return n.Int64(), n.IsInt64()
}

func toDouble(v Value, how target) (Value, error) {
	switch v.Type {
	case bson.TypeBoolean:
		return query.Double(float64(v.Data[0])), nil
	case bson.TypeDecimal128:
		f := v.AsFloat64()
		if d := decimal.Of(v); d.Form == decimal.Finite && (math.IsInf(f, 0) || f == 0 && !d.IsZero()) {
			return missing, overflowing(v)
		}
		return query.Double(f), nil
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDateTime:
		return query.Double(v.AsFloat64()), nil
	case bson.TypeString:
		return parseDouble(string(v.Text()))
	case bson.TypeBinary:
		return doubleOfBinary(v, how)
	}
	return unsupportedConversion(v, how)
}

func toDecimal(v Value, how target) (Value, error) {
	switch v.Type {
	case bson.TypeBoolean:
		return decimal.Int(int64(v.Data[0])).Value(), nil
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDateTime:
		return decimal.Of(v).Value(), nil
	case bson.TypeDecimal128:
		return v, nil
	case bson.TypeString:
		return parseDecimalText(string(v.Text()))
	}
	return unsupportedConversion(v, how)
}

func toDate(v Value, how target) (Value, error) {
	switch v.Type {
	case bson.TypeDateTime, bson.TypeObjectID, bson.TypeTimestamp:
		ms, err := asDate(v)
		return date(ms), err
	case bson.TypeInt64:
		return date(v.AsInt64()), nil
	case bson.TypeDouble, bson.TypeDecimal128:
		if err := checkFinite(v); err != nil {
			return missing, err
		}
		n, ok := wholePart(v)
		if !ok {
			return missing, overflowing(v)
		}
		return date(n), nil
	case bson.TypeString:
		return parseDate(v, notGiven, notGiven)
	}
	return unsupportedConversion(v, how)
}
