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
	how, err := parseGetParameter(x)
	if err != nil {
		return err
	}
	known := call.WithLock(x, func(x call.Locked) parameter.Parameters { return x.Client.Process.Parameters.Clone() })
	found := false
	for _, name := range slices.Sorted(maps.Keys(known)) {
		asked := slices.ContainsFunc(x.Command.Args, func(e wire.Element) bool { return string(e.Key) == name })
		if (how.all || asked) && how.shows(known[name]) {
			found = true
			x.Result.Out = known[name].Append(x.Result.Out, name, how.details)
		}
	}
	if !found {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

// getParameter is what a command asks for: all parameters or those that it names, with details or without, and only those that can be
// set when a server starts, or while it runs.
type getParameter struct {
	all, details bool
	setAt        string
}

func parseGetParameter(x *call.Call) (getParameter, error) {
	how := getParameter{all: string(x.Command.First.Text()) == "*"}
	if !x.Command.First.IsDocument() {
		return how, nil
	}
	err := fields.GetParameter.Document(x.Command.First.Data, func(e *wire.Element) error {
		switch string(e.Key) {
		case "showDetails":
			how.details = e.True()
		case "allParameters":
			how.all = e.True()
		case "setAt":
			how.setAt = string(e.Text())
			if how.setAt != "startup" && how.setAt != "runtime" {
				return fields.NotEnumerated("getParameter.setAt", how.setAt)
			}
		}
		return nil
	})
	return how, err
}

// shows reports whether a parameter can be set when the command says.
func (g *getParameter) shows(p parameter.Parameter) bool {
	return g.setAt == "" || g.setAt == "startup" && p.Startup || g.setAt == "runtime" && p.Runtime
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
		values := make([]query.Value, len(x.Command.Args))
		for i := range x.Command.Args {
			e := &x.Command.Args[i]
			v, err := known.Check(string(e.Key), query.Of(*e))
			if err != nil {
				return err
			}
			if string(e.Key) == parameter.RequireAPI && v.True() && x.Client.Cluster.Sharded && x.Client.Router == nil {
				return mongoerr.Errorf(mongoerr.IllegalOperation, "Cannot set parameter requireApiVersion=true on a shard or config server")
			}
			values[i] = v
		}
		was := known[string(x.Command.Args[0].Key)].Value
		for i, v := range values {
			known.Set(string(x.Command.Args[i].Key), v)
		}
		x.Client.Process.RequiresAPI.Store(known.True(parameter.RequireAPI))
		if x.Client.Member != nil && !x.Arg(parameter.TTLSleep).Missing() {
			x.Client.Set.AwakenLocked(x.Client.Member.Member)
		}
		x.Result.Out = wire.AppendValue(x.Result.Out, "was", was.Type, was.Data)
		return nil
	})
}
