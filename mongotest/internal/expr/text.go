package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// spelled writes a value as the real server does in the texts of an expression's errors, which is not how its filters do.
func spelled(v Value) string {
	raw := bson.RawValue{Type: v.Type, Value: v.Data}
	switch v.Type {
	case bson.TypeString:
		return `"` + string(v.Text()) + `"`
	case bson.TypeSymbol:
		return `Symbol("` + raw.Symbol() + `")`
	case bson.TypeJavaScript:
		return `Code("` + raw.JavaScript() + `")`
	case bson.TypeCodeWithScope:
		code, scope, _ := v.CodeWithScope()
		return fmt.Sprintf("CodeWScope(\"%s\", %s)", code, query.Document(scope))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return spelledAll(v)
	case bson.TypeDouble:
		return sixDigits(v.AsFloat64())
	case bson.TypeDateTime:
		return isoDate(v.AsInt64())
	case bson.TypeObjectID:
		return hex.EncodeToString(v.Data)
	case bson.TypeBinary:
		return fmt.Sprintf("BinData(%d, \"%X\")", v.Data[4], v.Data[5:]) // of the old subtype with its second length
	case bson.TypeDBPointer:
		name, id := raw.DBPointer()
		return fmt.Sprintf("DBRef(\"%s\", %s)", name, id.Hex())
	case bson.TypeUndefined:
		return "undefined"
	case 0:
		return "MISSING"
	}
	return plainText(v)
}

func spelledAll(v Value) string {
	var parts []string
	if v.IsDocument() {
		for _, f := range query.ObjectOf(v.Data) {
			if !f.Value.Missing() {
				parts = append(parts, f.Name+": "+spelled(f.Value))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	for _, e := range query.Elements(v.Data) {
		parts = append(parts, spelled(e))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// plainText writes a value as its String does, but for decimals.
func plainText(v Value) string {
	if v.Type == bson.TypeDecimal128 {
		return decimal.Of(v).String()
	}
	return v.String()
}

// numberText writes a number as the older string operators do.
func numberText(v Value) string {
	if isDouble(v) {
		return sixDigits(v.AsFloat64())
	}
	return plainText(v)
}

// shortestDouble writes as few digits as tell a double from all others, as $toString does.
func shortestDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+") + "inity"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
