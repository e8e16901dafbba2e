package expr

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
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
	return missing, mongoerr.Errorf(mongoerr.ConversionFailure,
		"Failed to convert '%s' to number in $convert because of invalid length: %d", spelled(v),
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
		if v.Data[4] != how.subtype {
			return missing, mongoerr.Errorf(mongoerr.ConversionFailure, "Conversions between different BinData subtypes are not supported")
		}
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
		return missing, mongoerr.Errorf(mongoerr.NotImplemented,
			"mongotest: $convert from %s to %s is not supported", typeName(v), query.TypeName(how.to))
	}
	return unsupportedConversion(v, how)
}

func binaryOfText(s string, how target) (Value, error) {
	invalid := func(why string) error { return notANumberText("BinData", s, why) }
	if how.format == "" {
		return missing, mongoerr.Errorf(4341115, "Format must be speficied when converting from 'string' to 'binData'")
	}
	if (how.subtype == 4) != (how.format == "uuid") {
		return missing, invalid("Only the 'uuid' format is allowed with the UUID subtype")
	}
	data, wrong := []byte(s), ""
	switch how.format {
	case "uuid":
		if !uuidPattern.MatchString(s) {
			return missing, invalid("Invalid UUID string: " + s)
		}
		data, wrong = readHex(strings.ReplaceAll(s, "-", ""))
	case "hex":
		data, wrong = readHex(s)
	case "base64":
		data, wrong = readBase64(base64.StdEncoding, s)
	case "base64url":
		data, wrong = readBase64(base64.URLEncoding, s+strings.Repeat("=", (4-len(s)%4)%4%3))
	case "auto":
		return missing, invalid("Invalid format 'auto'")
	}
	if wrong != "" {
		return missing, invalid(wrong)
	}
	return binaryValue(how.subtype, data), nil
}

// readHex also returns what the real server finds wrong.
func readHex(s string) (data []byte, wrong string) {
	if len(s)%2 != 0 {
		return nil, "Hex blob with odd digit count"
	}
	data, err := hex.DecodeString(s)
	var digit hex.InvalidByteError
	if errors.As(err, &digit) {
		return nil, fmt.Sprintf("The character \\x%02x failed to parse from hex.", byte(digit))
	}
	return data, ""
}

// readBase64 also returns what the real server finds wrong.
func readBase64(encoding *base64.Encoding, s string) (data []byte, wrong string) {
	if len(s)%4 != 0 {
		return nil, "invalid base64"
	}
	data, err := encoding.DecodeString(s)
	if err != nil {
		return nil, "Invalid base64 character"
	}
	return data, ""
}

func textOfBinary(v Value, how target) (Value, error) {
	subtype, data := v.Data[4], v.Data[5:]
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
		return missing, mongoerr.Errorf(4341115, "Format must be speficied when converting from 'binData' to 'string'")
	case "hex":
		return query.Text(strings.ToUpper(hex.EncodeToString(data))), nil
	case "base64url":
		return query.Text(base64.RawURLEncoding.EncodeToString(data)), nil
	case "utf8":
		if !utf8.Valid(data) {
			return missing, notText(v, "UTF-8 string")
		}
		return query.Text(data), nil
	case "uuid":
		if !isUUID {
			return missing, notText(v, "UUID")
		}
		h := hex.EncodeToString(data)
		return query.Text(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")), nil
	}
	return query.Text(base64.StdEncoding.EncodeToString(data)), nil
}

func notText(v Value, what string) error {
	return mongoerr.Errorf(mongoerr.ConversionFailure,
		"Failed to convert '%s' to string %s: BinData does not represent a valid %s", spelled(v), withoutOnError, what)
}
