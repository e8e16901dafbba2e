package router

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// command is a client's command, and what the router must know of its fields. It aliases the client's message.
type command struct {
	wire.ClientMessage
	slaveOk bool // of an OP_QUERY
	old     *old // nil for a command, even if it came in an OP_QUERY

	databaseType   bson.Type // of $db in an OP_MSG
	preference     []byte    // $readPreference, if it is a document
	preferenceType bson.Type
	clusterTime    []byte // $clusterTime, if it is a document
	clusterType    bson.Type
	sessions       bool // it has lsid
	numbered       bool // it has txnNumber
	transaction    bool // it has autocommit
	unacknowledged bool // its write concern is w: 0
	maxTime        time.Duration
	cursor         int64 // of a getMore
}

// readFields reads the fields that matter to the router.
func (c *command) readFields() error {
	it := wire.Elements(c.Body)
	for first := true; it.Next(); first = false {
		if first {
			c.cursor, _ = it.Int64()
		}
		c.note(&it.Element)
	}
	return it.Err
}

// note remembers a field that matters to the router.
func (c *command) note(e *wire.Element) {
	switch string(e.Key) {
	case "$readPreference":
		c.preference, c.preferenceType = e.Document(), e.Type
	case "$clusterTime":
		c.clusterTime, c.clusterType = e.Document(), e.Type
	case "lsid":
		c.sessions = true
	case "txnNumber":
		c.numbered = true
	case "autocommit":
		c.transaction = true
	case "maxTimeMS":
		if ms, _ := e.Int64(); ms <= math.MaxInt32 { // a server refuses more
			c.maxTime = time.Duration(max(0, ms)) * time.Millisecond
		}
	case "writeConcern":
		c.unacknowledged = isZeroW(e.Document())
	}
}

// isZeroW reports whether a write concern asks for no acknowledgement.
func isZeroW(concern []byte) bool {
	for it := wire.Elements(concern); it.Next(); {
		if string(it.Key) == "w" {
			n, ok := it.Int64()
			return ok && n == 0
		}
	}
	return false
}
