package admin

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

func cmdConfigureFailPoint(x *call.Call) error {
	if x.Command.DB != "admin" {
		return mongoerr.Errorf(mongoerr.Unauthorized, "configureFailPoint may only be run against the admin database.")
	}
	name := string(x.Command.First.Text())
	if !call.IsFailPoint(name) {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: the fail point '%s' is not supported", name)
	}
	mode := x.Arg("mode")
	if mode.Missing() {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "When setting a failpoint, you must supply a 'mode'")
	}
	p := failpoint.New()
	off := true
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
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
	x.Client.Cluster.SetFailPoint(x.Client.Points, name, p)
	return nil
}
