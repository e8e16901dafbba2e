package query

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Stamped returns a whole document as it is stored: an empty timestamp in it becomes the time, one after the other. That of
// _id and those further inside stay. All stay if now is zero.
func Stamped(doc []byte, now time.Time) []byte {
	if now.IsZero() || !bytes.Contains(doc, make([]byte, 8)) {
		return doc
	}
	next := uint64(now.Unix()) << 32
	out := doc
	it := wire.Elements(doc)
	for it.Next() {
		if it.Type != bson.TypeTimestamp || string(it.Key) == "_id" || binary.LittleEndian.Uint64(it.Value) != 0 {
			continue
		}
		if next++; &out[0] == &doc[0] {
			out = slices.Clone(doc)
		}
		at := cap(doc) - cap(it.Value)
		binary.LittleEndian.PutUint64(out[at:], next)
	}
	return out
}
