package store

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Key names a document within a bucket.
type Key struct {
	Collection uint32
	Name       string
}

// Document is one version of a document. It never changes.
type Document struct {
	Value    []byte
	Xattrs   []byte        // a JSON object with the extended attributes, nil if there are none
	DataType memd.DataType // DataJSON or nothing: values are kept uncompressed and without attributes
	Flags    uint32
	Expiry   uint32 // seconds since 1970, 0 for never
	CAS      uint64
	Seqno    uint64
	Revision uint64
	Changed  time.Time
	Deleted  bool
}

// Alive reports whether the document is there for a client: it is neither deleted nor expired.
func (d *Document) Alive(now time.Time) bool {
	return d != nil && !d.Deleted && (d.Expiry == 0 || int64(d.Expiry) > now.Unix())
}

// Size returns how many bytes count towards the limit of a value.
func (d *Document) Size() int { return len(d.Value) + len(d.Xattrs) }
