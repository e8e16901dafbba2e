package admin

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetFreeze/

func cmdReplSetFreeze(x *call.Call) error {
	if err := OfSet(x); err != nil {
		return err
	}
	if err := x.NoArgs(); err != nil {
		return err
	}
	seconds, ok := x.Command.First.Integer()
	if !ok || seconds < 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "replSetFreeze must be called with a number of seconds that is not negative")
	}
	m := x.Client.Member
	return call.WithLock(x, func(x call.Locked) error {
		if m.Role == replica.Primary {
			return mongoerr.Errorf(mongoerr.NotSecondary, "cannot freeze node when primary or running for election. state: Primary")
		}
		m.Frozen = time.Now().Add(time.Duration(seconds) * time.Second)
		if seconds == 0 {
			m.Frozen = time.Time{}
			x.Result.Out = wire.AppendString(x.Result.Out, "info", "unfreezing")
		}
		return nil
	})
}
