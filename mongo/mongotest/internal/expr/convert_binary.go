package expr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

func integerOfBinary(v Value, how target) (Value, error) {
	data := v.Data[5:]
	if n := len(data); n != 1 && n != 2 && n != 4 && n != 8 || n == 8 && how.to == bson.TypeInt32 {
		return invalidLength(v)
	}
	n := uint64(0)
	for i := range data {
		at := len(data) - 1 - i
		if how.bigEndian {
			at = i
		}
		n = n<<8 | uint64(data[at])
	}
	shift := 64 - 8*len(data)
	return integerValue(int64(n<<shift)>>shift, how.to == bson.TypeInt64), nil
}

func invalidLength(v Value) (Value, error) {
	return missing, fail(conversionFailure, "Failed to convert '%s' to number in $convert because of invalid length: %d", spelled(v),
		len(v.Data)-5)
}

func doubleOfBinary(v Value, how target) (Value, error) {
	data := v.Data[5:]
	order := binary.ByteOrder(binary.LittleEndian)
	if how.bigEndian {
		order = binary.BigEndian
	}
	switch len(data) {
	case 4:
		return query.Double(float64(math.Float32frombits(order.Uint32(data)))), nil
	case 8:
		return query.Double(math.Float64frombits(order.Uint64(data))), nil
	}
	return invalidLength(v)
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// toBinary reads binary data from text or the bytes of a number.
func toBinary(v Value, how target) (Value, error) {
	switch v.Type {
	case bson.TypeBinary:
		return v, nil
	case bson.TypeString:
		return binaryOfText(string(v.Text()), how)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		data := append([]byte(nil), v.Data...)
		if how.bigEndian {
			for i := range len(data) / 2 {
				data[i], data[len(data)-1-i] = data[len(data)-1-i], data[i]
			}
		}
		return binaryValue(how.subtype, data), nil
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return missing, fail(query.NotImplemented, "mongotest: $convert from %s to %s is not supported", typeName(v), query.TypeName(how.to))
	}
	return unsupportedConversion(v, how)
}

func binaryOfText(s string, how target) (Value, error) {
	invalid := func(why string) error { return notANumberText("BinData", s, why) }
	if how.format == "" {
		return missing, fail(4341115, "Format must be speficied when converting from 'string' to 'binData'")
	}
	if (how.subtype == 4) != (how.format == "uuid") && how.format != "auto" {
		if how.subtype == 4 {
			return missing, invalid("Only the 'uuid' format is allowed with the UUID subtype")
		}
		return missing, invalid("Only the UUID subtype is allowed with the 'uuid' format")
	}
	data, err := []byte(s), error(nil)
	switch how.format {
	case "uuid":
		if !uuidPattern.MatchString(s) {
			return missing, invalid("Invalid UUID string: " + s)
		}
		data, err = hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	case "hex":
		data, err = hex.DecodeString(s)
	case "base64":
		data, err = base64.StdEncoding.DecodeString(s)
	case "base64url":
		data, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
	case "auto":
		return missing, invalid("'auto' is not a format of strings")
	}
	if err != nil {
		return missing, invalid("Input is not a valid " + how.format + " string.")
	}
	return binaryValue(how.subtype, data), nil
}

func textOfBinary(v Value, how target) (Value, error) {
	subtype, data := v.Data[4], v.Data[5:]
	if subtype == 2 && len(data) >= 4 && int(binary.LittleEndian.Uint32(data)) == len(data)-4 {
		data = data[4:]
	}
	isUUID := subtype == 4 && len(data) == 16
	format := how.format
	if format == "auto" {
		format = "base64"
		if isUUID {
			format = "uuid"
		}
	}
	switch format {
	case "":
		return missing, fail(4341115, "Format must be speficied when converting from 'binData' to 'string'")
	case "hex":
		return text(strings.ToUpper(hex.EncodeToString(data))), nil
	case "base64url":
		return text(base64.RawURLEncoding.EncodeToString(data)), nil
	case "utf8":
		if !utf8.Valid(data) {
			return missing, fail(conversionFailure, "BinData does not represent a valid UTF-8 string: %s", spelled(v))
		}
		return text(data), nil
	case "uuid":
		if !isUUID {
			return missing, fail(conversionFailure, "Only the UUID subtype is allowed with the 'uuid' format")
		}
		h := hex.EncodeToString(data)
		return text(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")), nil
	}
	return text(base64.StdEncoding.EncodeToString(data)), nil
}
