package call

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// timePoints does what the fail points for maxTimeMS say about the current command.
func timePoints(x *Call) error {
	if x.Command.MaxTime <= 0 || x.Command.Name == "getMore" || x.Command.Name == "configureFailPoint" {
		return nil
	}
	return WithLock(x, Locked.Limit)
}

// Limit returns the error of a command whose time is limited if the time is always over, and takes the limit away if it never is.
func (x Locked) Limit() error {
	if p := x.Point(failpoint.NeverTimeOut); p != nil && p.Take() {
		x.Command.MaxTime = 0
		return nil
	}
	if p := x.Point(failpoint.AlwaysTimeOut); p != nil && p.Take() {
		return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return nil
}
