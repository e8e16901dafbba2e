package call

import (
	"encoding/hex"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sessionName returns the id of a session document for the journal.
func sessionName(lsid []byte) string {
	v := bson.Raw(lsid).Lookup("id")
	if _, data, ok := v.BinaryOK(); ok {
		return hex.EncodeToString(data)
	}
	return ""
}

// binaryName is what errors call a subtype of binary data.
func binaryName(subtype byte) string {
	names := [...]string{"general", "function", "byte(deprecated)", "UUID(deprecated)", "UUID", "MD5", "encrypt", "column", "sensitive", "vector"}
	switch {
	case int(subtype) < len(names):
		return names[subtype]
	case subtype == bson.TypeBinaryUserDefined:
		return "Custom"
	}
	return "invalid"
}
