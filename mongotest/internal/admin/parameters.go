package admin

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/getParameter/

func cmdGetParameter(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	all, details := string(x.Command.First.Text()) == "*", false
	if x.Command.First.IsDocument() {
		it := wire.Elements(x.Command.First.Data)
		for it.Next() {
			switch string(it.Key) {
			case "showDetails":
				details = it.True()
			case "allParameters":
				all = all || it.True()
			default:
				return fields.Unknown("getParameter", string(it.Key))
			}
		}
	}
	known := call.WithLock(x, func(x call.Locked) parameter.Parameters { return x.Client.Process.Parameters.Clone() })
	found := false
	for _, name := range slices.Sorted(maps.Keys(known)) {
		asked := slices.ContainsFunc(x.Command.Args, func(e wire.Element) bool { return string(e.Key) == name })
		if all || asked {
			found = true
			x.Result.Out = known[name].Append(x.Result.Out, name, details)
		}
	}
	if !found {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/setParameter/

func cmdSetParameter(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	if len(x.Command.Args) == 0 {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	return call.WithLock(x, func(x call.Locked) error {
		known := x.Client.Process.Parameters
		for i := range x.Command.Args {
			e := &x.Command.Args[i]
			if err := known.Check(string(e.Key), query.Of(*e)); err != nil {
				return err
			}
		}
		was := known[string(x.Command.Args[0].Key)].Value
		for i := range x.Command.Args {
			known.Set(string(x.Command.Args[i].Key), query.Of(x.Command.Args[i]))
		}
		if x.Client.Member != nil && !x.Arg(parameter.TTLSleep).Missing() {
			x.Client.Set.AwakenLocked(x.Client.Member.Member)
		}
		x.Result.Out = wire.AppendValue(x.Result.Out, "was", was.Type, was.Data)
		return nil
	})
}
