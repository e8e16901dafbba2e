package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetFreeze/

func cmdReplSetFreeze(x *call) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	if err := x.noArgs(); err != nil {
		return err
	}
	seconds, ok := x.command.first.Integer()
	if !ok || seconds < 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "replSetFreeze must be called with a number of seconds that is not negative")
	}
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	defer rs.set.Unlock()
	if m.Role == replica.Primary {
		return mongoerr.Errorf(mongoerr.NotSecondary, "cannot freeze node when primary or running for election. state: Primary")
	}
	m.Frozen = time.Now().Add(time.Duration(seconds) * time.Second)
	if seconds == 0 {
		m.Frozen = time.Time{}
		x.result.out = wire.AppendString(x.result.out, "info", "unfreezing")
	}
	return nil
}
