package mongo

import (
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const rawDataWireVersion = 27 // MongoDB 8.2

// appendRawData writes rawData, which older servers do not know.
func appendRawData(b []byte, rawData *bool, attempt operation.Attempt) []byte {
	if rawData == nil || attempt.Server.MaxWireVersion < rawDataWireVersion {
		return b
	}
	return wire.AppendBool(b, rawDataKey, *rawData)
}
