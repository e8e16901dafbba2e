package mongotest

import "github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"

// timePoints does what the fail points for maxTimeMS say about the current command.
func (x *call) timePoints() error {
	if x.command.maxTime <= 0 || x.command.name == "getMore" || x.command.name == "configureFailPoint" {
		return nil
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	return x.limitLocked()
}

// limitLocked returns the error of a command whose time is limited if the time is always over, and takes the limit away if it never is.
func (x *call) limitLocked() error {
	if p := x.pointLocked(NeverTimeOut); p != nil && p.Take() {
		x.command.maxTime = 0
		return nil
	}
	if p := x.pointLocked(AlwaysTimeOut); p != nil && p.Take() {
		return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return nil
}
