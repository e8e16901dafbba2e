package operation

import "github.com/holdfast-db/holdfast/internal/mongo/wire"

// Timestamp is a BSON timestamp as a number: seconds in the upper 32 bits, an increment in the lower 32 bits. 0 means
// none.
type Timestamp uint64

// ReadConcern is the read concern of a command. An empty field is not sent.
type ReadConcern struct {
	Level string
	// AfterClusterTime is the operation time that a read must include.
	AfterClusterTime Timestamp
	// AtClusterTime is the time of the snapshot that is read.
	AtClusterTime Timestamp
}

func (c ReadConcern) append(b []byte) []byte {
	if c == (ReadConcern{}) {
		return b
	}
	at, b := wire.BeginEmbedded(b, "readConcern")
	if c.Level != "" {
		b = wire.AppendString(b, "level", c.Level)
	}
	if c.AfterClusterTime != 0 {
		b = wire.AppendTimestamp(b, "afterClusterTime", uint32(c.AfterClusterTime>>32), uint32(c.AfterClusterTime))
	}
	if c.AtClusterTime != 0 {
		b = wire.AppendTimestamp(b, "atClusterTime", uint32(c.AtClusterTime>>32), uint32(c.AtClusterTime))
	}
	return wire.EndDocument(b, at)
}
