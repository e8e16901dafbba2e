package query

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// String returns a value as the real server writes it into the text of an error.
func (v Value) String() string {
	raw := bson.RawValue{Type: v.Type, Value: v.Data}
	switch v.Type {
	case 0:
		return "missing"
	case bson.TypeString:
		return fmt.Sprintf("%q", v.Text())
	case bson.TypeObjectID:
		return "ObjectId('" + hex.EncodeToString(v.Data) + "')"
	case bson.TypeInt32, bson.TypeInt64:
		n, _ := v.Integer()
		return strconv.FormatInt(n, 10)
	case bson.TypeDouble:
		return doubleText(raw.Double())
	case bson.TypeDecimal128:
		return v.decimal().String()
	case bson.TypeDateTime:
		return fmt.Sprintf("new Date(%d)", v.int64())
	case bson.TypeTimestamp:
		t, i := raw.Timestamp()
		return fmt.Sprintf("Timestamp(%d, %d)", t, i)
	case bson.TypeMinKey:
		return "MinKey"
	case bson.TypeMaxKey:
		return "MaxKey"
	case bson.TypeUndefined:
		return "undefined"
	case bson.TypeRegex:
		pattern, options := raw.Regex()
		return "/" + pattern + "/" + options
	case bson.TypeNull:
		return "null"
	case bson.TypeBoolean:
		return strconv.FormatBool(raw.Boolean())
	case bson.TypeEmbeddedDocument:
		return shellDocument(v.Data)
	case bson.TypeArray:
		return shellArray(v)
	case bson.TypeBinary:
		return binaryText(v.Data[4], v.Data[5:])
	}
	return outdatedText(raw)
}

func binaryText(subtype byte, data []byte) string {
	if subtype == bson.TypeBinaryBinaryOld && len(data) >= 4 {
		data = data[4:] // behind its second length
	}
	if subtype == bson.TypeBinaryUUID && len(data) == 16 {
		h := hex.EncodeToString(data)
		return fmt.Sprintf("UUID(\"%s-%s-%s-%s-%s\")", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
	}
	return fmt.Sprintf("BinData(%d, %X)", subtype, data)
}

// outdatedText writes a value of a type that new data does not have.
func outdatedText(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeSymbol:
		return fmt.Sprintf("%q", v.Symbol())
	case bson.TypeDBPointer:
		ns, id := v.DBPointer()
		return "DBRef('" + ns + "'," + id.Hex() + ")"
	case bson.TypeJavaScript:
		return v.JavaScript()
	case bson.TypeCodeWithScope:
		code, scope, _ := Value{v.Type, v.Value}.CodeWithScope()
		return "CodeWScope( " + code + ", " + shellDocument(scope) + ")"
	}
	return v.String()
}

// CodeWithScope returns the parts of JavaScript with a scope; ok is false if their lengths do not fit.
func (v Value) CodeWithScope() (code string, scope []byte, ok bool) {
	inner := v.Data[4:]
	n := int(int32(binary.LittleEndian.Uint32(inner)))
	if n < 1 || n > len(inner)-4-len(EmptyDocument) || inner[4+n-1] != 0 {
		return "", EmptyDocument, false
	}
	code, scope = string(inner[4:4+n-1]), inner[4+n:]
	length, err := wire.DocumentLength(scope)
	if err != nil || length != len(scope) {
		return code, EmptyDocument, false
	}
	return code, scope, true
}

func shellDocument(doc []byte) string {
	var parts []string
	it := wire.Elements(doc)
	for nextField(&it) {
		parts = append(parts, fmt.Sprintf("%s: %s", it.Key, Of(it.Element).String()))
	}
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func shellArray(v Value) string {
	var parts []string
	for _, e := range v.elements() {
		parts = append(parts, e.String())
	}
	if len(parts) == 0 {
		return "[]"
	}
	return "[ " + strings.Join(parts, ", ") + " ]"
}

func doubleText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	text := strconv.FormatFloat(f, 'g', 16, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// shellElement returns a field as the real server writes it into the text of an error.
func shellElement(name string, v Value) string { return name + ": " + v.String() }
