package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/legacy-opcodes/

// refuseLegacy answers an old operation that asks for documents, which no server since 5.1 speaks.
func (x *exec) refuseLegacy(h wire.Header, operation string) error {
	err := mongoerr.Errorf(mongoerr.UnsupportedOpQueryCommand, "%s is no longer supported. The client driver may require an upgrade. For more "+
		"details see https://dochub.mongodb.org/core/legacy-opcode-removal", operation)
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendString(doc, "$err", err.Message)
	doc = wire.AppendInt32(doc, "code", err.Code)
	doc = wire.EndDocument(wire.AppendDouble(doc, "ok", 0), at)
	return x.conn.write(wire.AppendFailedReply(nil, x.conn.deployment.cluster.Replies.Add(1), h.RequestID, doc))
}
