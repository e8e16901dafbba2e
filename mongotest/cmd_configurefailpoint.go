package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

func cmdConfigureFailPoint(x *call) error {
	if x.command.db != "admin" {
		return mongoerr.Errorf(mongoerr.Unauthorized, "configureFailPoint may only be run against the admin database.")
	}
	name := string(x.command.first.Text())
	if !isFailPoint(name) {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the fail point '%s' is not supported", name)
	}
	mode := x.arg("mode")
	if mode.Missing() {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "When setting a failpoint, you must supply a 'mode'")
	}
	p := failpoint.New()
	off := true
	for i := range x.command.args {
		e := &x.command.args[i]
		var err error
		switch string(e.Key) {
		case "mode":
			off, err = p.Mode(e)
		case "data":
			err = p.Data(e)
		}
		if err != nil {
			return err
		}
	}
	if off {
		p = nil
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	x.client.points.setLocked(name, p)
	return nil
}
