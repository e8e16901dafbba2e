package mongotest

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
