package query

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// String returns a value as the real server writes it into the text of most errors: without the ends of long strings.
func (v Value) String() string { return brief.value(v) }

// Whole returns a value as the real server writes it into the text of some errors, with all of each string.
func (v Value) Whole() string { return whole.value(v) }

// style is how values are written.
type style struct {
	cut bool // long strings end early
}

var brief, whole = style{cut: true}, style{}

// long returns a text, of one with more than most bytes the beginning.
func (s style) long(text string, most, kept int) string {
	if !s.cut || len(text) < most {
		return text
	}
	return Beginning(text, kept) + "..."
}

// Beginning returns that of a text with at most n bytes. It never ends inside a character, for drivers refuse such a text.
func Beginning(text string, n int) string {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:min(n, len(text))]
}

func (s style) value(v Value) string {
	raw := bson.RawValue{Type: v.Type, Value: v.Data}
	switch v.Type {
	case 0:
		return "missing"
	case bson.TypeString:
		return `"` + s.long(string(v.Text()), 160, 150) + `"`
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
		return s.document(v.Data)
	case bson.TypeArray:
		return s.array(v)
	case bson.TypeBinary:
		return s.binary(v.Data[4], v.Data[5:])
	}
	return s.outdated(raw)
}

func (s style) binary(subtype byte, data []byte) string {
	if subtype == bson.TypeBinaryBinaryOld && len(data) >= 4 {
		data = data[4:] // behind its second length
	}
	if subtype == bson.TypeBinaryUUID && len(data) == 16 {
		h := hex.EncodeToString(data)
		return fmt.Sprintf("UUID(\"%s-%s-%s-%s-%s\")", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
	}
	return fmt.Sprintf("BinData(%d, %s)", subtype, s.long(fmt.Sprintf("%X", data), 2*80+1, 2*70))
}

// outdated writes a value of a type that new data does not have.
func (s style) outdated(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeSymbol:
		return `"` + s.long(v.Symbol(), 160, 150) + `"`
	case bson.TypeDBPointer:
		ns, id := v.DBPointer()
		return "DBRef('" + ns + "'," + id.Hex() + ")"
	case bson.TypeJavaScript:
		return s.long(v.JavaScript(), 80, 70)
	case bson.TypeCodeWithScope:
		code, scope, _ := Value{v.Type, v.Value}.CodeWithScope()
		return "CodeWScope( " + code + ", " + s.document(scope) + ")"
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

func shellDocument(doc []byte) string { return brief.document(doc) }

func (s style) document(doc []byte) string {
	var parts []string
	it := wire.Elements(doc)
	for nextField(&it) {
		parts = append(parts, fmt.Sprintf("%s: %s", it.Key, s.value(Of(it.Element))))
	}
	if len(parts) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (s style) array(v Value) string {
	var parts []string
	for _, e := range v.elements() {
		parts = append(parts, s.value(e))
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
