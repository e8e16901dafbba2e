package operation

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// clock is the greatest $clusterTime in any reply. Every command is sent with it (Driver Sessions, "Gossiping the
// cluster time").
type clock struct{ latest atomic.Pointer[clusterTime] }

type clusterTime struct {
	timestamp Timestamp
	document  []byte
}

// document returns the $clusterTime to send in a session: the greater of the client's and the session's.
func (c *clock) document(s *Session) []byte {
	latest := c.latest.Load()
	if s != nil && s.clusterTime != nil && (latest == nil || s.clusterTime.timestamp > latest.timestamp) {
		latest = s.clusterTime
	}
	if latest == nil {
		return nil
	}
	return latest.document
}

// ClusterTime returns the greatest $clusterTime document in any reply, nil if there was none. It must not be changed.
func (r *Runner) ClusterTime() []byte { return r.clock.document(nil) }

// advance stores a $clusterTime document if it is greater than the current one. It copies the document.
func (c *clock) advance(document []byte) {
	for {
		old := c.latest.Load()
		next := newer(old, document)
		if next == old || c.latest.CompareAndSwap(old, next) {
			return
		}
	}
}

// newer returns the cluster time of a $clusterTime document if it is greater than t, else t.
func newer(t *clusterTime, document []byte) *clusterTime {
	if t != nil && bytes.Equal(t.document, document) {
		return t // most replies
	}
	timestamp, ok := timestampOf(document)
	if !ok || t != nil && t.timestamp >= timestamp {
		return t
	}
	return &clusterTime{timestamp: timestamp, document: slices.Clone(document)}
}

// timestampOf returns the clusterTime of a $clusterTime document, and reports whether there is one.
func timestampOf(document []byte) (Timestamp, bool) {
	if document == nil {
		return 0, false
	}
	it := wire.Elements(document)
	for it.Next() {
		if string(it.Key) == "clusterTime" {
			return timestamp(&it.Element)
		}
	}
	return 0, false
}

// timestamp returns an element's value, and reports whether it is a BSON timestamp. Its 64 bits are ordered as a
// number.
func timestamp(e *wire.Element) (Timestamp, bool) {
	if e.Type != bson.TypeTimestamp {
		return 0, false
	}
	return Timestamp(binary.LittleEndian.Uint64(e.Value)), true
}
