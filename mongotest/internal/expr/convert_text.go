package expr

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// notANumberText is the error for a text that is no number.
func notANumberText(what, s, why string) error {
	return mongoerr.Errorf(mongoerr.ConversionFailure, "Failed to parse %s '%s' %s: %s", what, s, withoutOnError, why)
}

func hexadecimal(s string) error {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		return mongoerr.Errorf(mongoerr.ConversionFailure, "Illegal hexadecimal input %s: %s", withoutOnError, s)
	}
	return nil
}

func parseInteger(s string, how target) (Value, error) {
	base := max(how.base, 10)
	if how.base != 0 {
		base = how.base
	}
	if err := hexadecimal(s); err != nil && base == 10 {
		return missing, err
	}
	bits := 32
	if how.to == bson.TypeInt64 {
		bits = 64
	}
	digits := strings.TrimLeft(s, "+-")
	n, err := strconv.ParseInt(s, base, bits)
	switch {
	case digits == "":
		return missing, notANumberText("number", s, "No digits")
	case errors.Is(err, strconv.ErrRange):
		return missing, notANumberText("number", s, "Overflow")
	case err != nil:
		return missing, notANumberText("number", s, "Did not consume whole string.")
	}
	return integerValue(n, bits == 64), nil
}

func parseDouble(s string) (Value, error) {
	if err := hexadecimal(s); err != nil {
		return missing, err
	}
	if s == "" {
		return missing, notANumberText("number", s, "Empty string")
	}
	if s[0] == ' ' || s[0] >= '\t' && s[0] <= '\r' {
		return missing, notANumberText("number", s, "Leading whitespace")
	}
	if strings.EqualFold(s, "-nan") {
		return query.Double(math.Copysign(math.NaN(), -1)), nil
	}
	f, err := strconv.ParseFloat(strings.TrimPrefix(s, "+"), 64)
	switch {
	case notNumeric(s):
		return missing, notANumberText("number", s, "Invalid number")
	case strings.Contains(s, "_"), err != nil && !errors.Is(err, strconv.ErrRange):
		return missing, notANumberText("number", s, "Did not consume whole string")
	case err != nil || f == 0 && strings.Trim(strings.ToLower(s), "+-0.") != "" && s[0] != 'e':
		return missing, notANumberText("number", s, "Out of range")
	}
	return query.Double(f), nil
}

// notNumeric reports whether not even the beginning of a text is a number.
func notNumeric(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "+"), "-")
	lower := strings.ToLower(s)
	if strings.HasPrefix(lower, "nan") || strings.HasPrefix(lower, "inf") {
		return false
	}
	s = strings.TrimPrefix(s, ".")
	return s == "" || s[0] < '0' || s[0] > '9'
}

func parseDecimalText(s string) (Value, error) {
	if err := hexadecimal(s); err != nil {
		return missing, err
	}
	d, ok := decimal.Parse(s)
	switch {
	case s == "":
		return missing, notANumberText("number", s, "Empty string")
	case !ok:
		return missing, notANumberText("number", s, "Failed to parse string to decimal")
	case d.Form != decimal.Finite:
		return d.Value(), nil
	}
	if over := d.Digits() - decimal.Digits; over > 0 {
		d = d.Drop(over, decimal.TowardZero)
	}
	switch {
	case d.Fit().Form != decimal.Finite:
		return missing, notANumberText("number", s, "Conversion from string to decimal would overflow")
	case d.Fit().Compare(d) != 0:
		return missing, notANumberText("number", s, "Conversion from string to decimal would underflow")
	}
	return d.Value(), nil
}

func toObjectID(v Value, how target) (Value, error) {
	switch v.Type {
	case bson.TypeObjectID:
		return v, nil
	case bson.TypeString:
	default:
		return unsupportedConversion(v, how)
	}
	s := string(v.Text())
	if len(s) != 24 {
		return missing, notANumberText("objectId", s, fmt.Sprintf("Invalid string length for parsing to OID, expected 24 but found %d", len(s)))
	}
	if at := strings.IndexFunc(s, notHex); at >= 0 {
		return missing, notANumberText("objectId", s, "Invalid character found in hex string: "+s[at:at+1])
	}
	data, err := hex.DecodeString(s)
	return Value{Type: bson.TypeObjectID, Data: data}, err
}

func notHex(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }

func toText(v Value, how target) (Value, error) {
	switch v.Type {
	case bson.TypeString:
		return v, nil
	case bson.TypeBinary:
		return textOfBinary(v, how)
	case bson.TypeInt32, bson.TypeInt64:
		if how.base > 0 && how.base != 10 {
			return query.Text(strings.ToUpper(strconv.FormatInt(v.AsInt64(), how.base))), nil
		}
	case bson.TypeDateTime:
		s, err := dateText(v.AsInt64())
		return query.Text(s), err
	case bson.TypeJavaScript, bson.TypeSymbol:
		return query.Text(v.Data[4 : len(v.Data)-1]), nil
	}
	s, err := converted(v)
	return query.Text(s), err
}

// converted writes a value that is no string as $toString does.
func converted(v Value) (string, error) {
	switch v.Type {
	case bson.TypeDouble:
		return shortestDouble(v.AsFloat64()), nil
	case bson.TypeObjectID:
		return hex.EncodeToString(v.Data), nil
	case bson.TypeBoolean:
		return strconv.FormatBool(v.True()), nil
	case bson.TypeCodeWithScope, bson.TypeDBPointer:
		return spelled(v), nil
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		text, err := jsonText(query.PlainValue(v))
		if err == nil && len(text) > maxText {
			err = mongoerr.Errorf(mongoerr.ConversionFailure, "Resulting string exceeds maximum size (%d bytes)", maxText)
		}
		return text, err
	}
	return plainText(v), nil
}

// jsonText writes a document or array as JSON without types: what JSON has not is written as a string.
func jsonText(v Value) (string, error) {
	var parts []string
	for _, f := range query.ObjectOf(v.Data) {
		part, err := jsonValue(f.Value)
		if err != nil {
			return "", err
		}
		if v.IsDocument() {
			part = jsonString(f.Name) + ":" + part
		}
		parts = append(parts, part)
	}
	if v.IsDocument() {
		return "{" + strings.Join(parts, ",") + "}", nil
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func jsonValue(v Value) (string, error) {
	switch v.Type {
	case bson.TypeUndefined:
		return "null", nil
	case bson.TypeInt32, bson.TypeInt64, bson.TypeBoolean, bson.TypeNull, bson.TypeEmbeddedDocument, bson.TypeArray:
		return converted(v)
	case bson.TypeDouble, bson.TypeDecimal128:
		if f := v.AsFloat64(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return converted(v)
		}
	}
	t, err := toText(v, target{to: bson.TypeString, format: "auto"})
	if err != nil {
		return "", err
	}
	return jsonString(string(t.Text())), nil
}

var jsonEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\b", `\b`, "\f", `\f`)

func jsonString(s string) string {
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\ufffd`)
		case strings.ContainsRune("\n\t\r\b\f", r) || !unicode.IsControl(r):
			b.WriteString(jsonEscapes.Replace(s[:n]))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return `"` + b.String() + `"`
}
