package mongo

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const rawDataWireVersion = 27 // MongoDB 8.2

// ending is what the internal options of a call add to its commands, behind all other fields.
type ending struct {
	rawData *bool  // nil if it is not set
	added   []byte // elements
}

// appendTo writes the ending. Older servers do not know rawData.
func (e ending) appendTo(b []byte, attempt operation.Attempt) []byte {
	if e.rawData != nil && attempt.Server.MaxWireVersion >= rawDataWireVersion {
		b = wire.AppendBool(b, rawDataKey, *e.rawData)
	}
	return append(b, e.added...)
}

// ending encodes what i adds to the commands of its call.
func (x *extras) ending(i internals) ending {
	e := ending{rawData: i.rawData}
	if x.err != nil || len(i.added) == 0 {
		return e
	}
	doc, err := bson.Marshal(i.added)
	if err != nil {
		x.err = inField(addFieldsKey, i.added, err)
		return e
	}
	e.added = doc[4 : len(doc)-1] // without the length and the end of a document
	return e
}
