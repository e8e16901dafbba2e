package mongotest

import (
	"crypto/rand"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/startSession/

func cmdStartSession(x *exec) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	at, dst := wire.BeginEmbedded(x.out, "id")
	dst = wire.AppendBinary(dst, "id", 4, id[:])
	dst = wire.EndDocument(dst, at)
	x.out = wire.AppendInt32(dst, "timeoutMinutes", 30)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/endSessions/
//
// endSessions, refreshSessions and killSessions change nothing here: a session's record of retryable writes outlives the
// session, as in the real server, and nothing else hangs on one.

func cmdSessions(x *exec) error { return x.noArgs() }
