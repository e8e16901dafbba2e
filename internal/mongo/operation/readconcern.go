package operation

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

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

// snapshotWireVersion belongs to MongoDB 5.0, the first version with snapshot reads.
const snapshotWireVersion = 13

// errSnapshotVersion is the error of a snapshot read of an older server. Its text is the official driver's.
var errSnapshotVersion = errors.New("snapshot reads require MongoDB 5.0 or later")

// errOwnReadConcern is the error of a command with two read concerns. It contains the text that the Transactions
// specification asks for.
var errOwnReadConcern = errors.New(`the command has a field "readConcern", which the client adds in this transaction or snapshot session: ` +
	"Cannot set read concern after starting a transaction")

// causalWrites are the writes that can have an afterClusterTime (Read and Write Concern specification, "afterClusterTime").
var causalWrites = map[string]bool{
	"insert": true, "update": true, "findAndModify": true, "delete": true, "bulkWrite": true, "create": true,
	"createIndexes": true, "drop": true, "dropDatabase": true, "dropIndexes": true,
}

// readConcern returns the read concern of the command, with the times of its session. It is empty if the command has none.
func (r *run) readConcern(server *topology.Server) (ReadConcern, error) {
	s := r.session
	switch {
	case s == nil || !s.explicit:
		return valueOf(r.op.ReadConcern), nil
	case s.snapshot:
		return r.snapshotConcern(server)
	case r.startsTransaction():
		return s.after(s.transaction.options.ReadConcern, server), nil
	case r.op.ReadConcern != nil:
		return s.after(*r.op.ReadConcern, server), nil
	case !r.transactional && r.op.Kind == Write && causalWrites[r.op.Name]:
		return s.after(ReadConcern{}, server), nil
	default:
		return ReadConcern{}, nil
	}
}

// snapshotConcern returns the read concern of a command in a snapshot session. Commands that do not support it have it too,
// so that the server refuses them (Snapshot Reads specification). The later commands of a cursor read its snapshot.
func (r *run) snapshotConcern(server *topology.Server) (ReadConcern, error) {
	switch {
	case r.op.Name == "getMore" || r.op.Name == "killCursors":
		return ReadConcern{}, nil
	case server.MaxWireVersion < snapshotWireVersion:
		return ReadConcern{}, errSnapshotVersion
	}
	return ReadConcern{Level: "snapshot", AtClusterTime: r.session.snapshotTime}, nil
}

// after adds the operation time to the read concern if the session is causally consistent. A standalone has no times.
func (s *Session) after(c ReadConcern, server *topology.Server) ReadConcern {
	if s.causal && server.Type != topology.Standalone {
		c.AfterClusterTime = s.operationTime
	}
	return c
}

func valueOf(c *ReadConcern) ReadConcern {
	if c == nil {
		return ReadConcern{}
	}
	return *c
}
