package growth

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const setName = "growth"

var processID, electionID = bson.ObjectID{1}, bson.ObjectID{2}

// hello returns a member's reply to a hello, the counterth of its process.
func (m member) hello(counter int64) []byte {
	at, b := wire.BeginDocument(nil)
	b = wire.AppendBool(b, "helloOk", true)
	if m.topology.set {
		b = m.appendMembership(b)
	} else {
		b = wire.AppendString(wire.AppendBool(b, "isWritablePrimary", true), "msg", "isdbgrid")
	}
	version, b := wire.BeginEmbedded(b, "topologyVersion")
	b = wire.EndDocument(wire.AppendInt64(wire.AppendObjectID(b, "processId", processID), "counter", counter), version)
	b = wire.AppendInt32(b, "maxBsonObjectSize", 16<<20)
	b = wire.AppendInt32(b, "maxMessageSizeBytes", wire.MaxMessageLength)
	b = wire.AppendInt32(b, "maxWriteBatchSize", 100_000)
	b = wire.AppendInt32(b, "logicalSessionTimeoutMinutes", 30)
	b = wire.AppendInt32(b, "minWireVersion", 0)
	b = wire.AppendInt32(b, "maxWireVersion", 21)
	return wire.EndDocument(wire.AppendDouble(b, "ok", 1), at)
}

func (m member) appendMembership(b []byte) []byte {
	b = wire.AppendBool(b, "isWritablePrimary", m.near())
	b = wire.AppendBool(b, "secondary", !m.near())
	b = wire.AppendStrings(b, "hosts", m.topology.hosts())
	b = wire.AppendString(b, "setName", setName)
	b = wire.AppendInt32(b, "setVersion", 1)
	b = wire.AppendString(b, "me", host(m.index))
	if m.near() {
		b = wire.AppendObjectID(b, "electionId", electionID)
	}
	return wire.AppendString(b, "primary", host(m.topology.members-1))
}
