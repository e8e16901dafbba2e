package couchbasetest

import (
	"bytes"
	"encoding/base64"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// binaryPrefix begins the JSON string that a binary value of an extended attribute is kept as, by kv_engine's docs of extended attributes.
const binaryPrefix = `"cb-content-base64-encoded:`

// encodeBinary returns a binary value as JSON.
func encodeBinary(value []byte) []byte {
	return append(base64.StdEncoding.AppendEncode([]byte(binaryPrefix), value), '"')
}

// decodeBinary returns the binary value that JSON stands for.
func decodeBinary(text []byte) ([]byte, memd.Status) {
	encoded, isBinary := bytes.CutPrefix(text, []byte(binaryPrefix))
	value, err := base64.StdEncoding.AppendDecode(nil, bytes.TrimSuffix(encoded, []byte{'"'}))
	if !isBinary || err != nil {
		return nil, memd.StatusXattrNotBinary
	}
	return value, memd.StatusSuccess
}
