package operation

import (
	"encoding/binary"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// clock is the newest $clusterTime that any server told; every command carries it on.
type clock struct{ latest atomic.Pointer[clusterTime] }

type clusterTime struct {
	timestamp uint64
	document  []byte
}

func (c *clock) document() []byte {
	if t := c.latest.Load(); t != nil {
		return t.document
	}
	return nil
}

// advance takes a $clusterTime document if it is newer. The document is copied.
func (c *clock) advance(document []byte) {
	timestamp, ok := timestampOf(document)
	if !ok {
		return
	}
	var next *clusterTime
	for {
		old := c.latest.Load()
		if old != nil && old.timestamp >= timestamp {
			return
		}
		if next == nil {
			next = &clusterTime{timestamp: timestamp, document: append([]byte(nil), document...)}
		}
		if c.latest.CompareAndSwap(old, next) {
			return
		}
	}
}

// timestampOf returns the clusterTime of a $clusterTime document. A timestamp's 64 bits are ordered as a number.
func timestampOf(document []byte) (uint64, bool) {
	if document == nil {
		return 0, false
	}
	it := wire.Elements(document)
	for it.Next() {
		if it.Type == bson.TypeTimestamp && string(it.Key) == "clusterTime" {
			return binary.LittleEndian.Uint64(it.Value), true
		}
	}
	return 0, false
}
