package mongotest

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/getParameter/

func cmdGetParameter(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	all, details := string(x.command.first.Text()) == "*", false
	if x.command.first.IsDocument() {
		it := wire.Elements(x.command.first.Data)
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
	x.client.set.Lock()
	known := x.client.process.Parameters.Clone()
	x.client.set.Unlock()
	found := false
	for _, name := range slices.Sorted(maps.Keys(known)) {
		asked := slices.ContainsFunc(x.command.args, func(e wire.Element) bool { return string(e.Key) == name })
		if all || asked {
			found = true
			x.result.out = known[name].Append(x.result.out, name, details)
		}
	}
	if !found {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/setParameter/

func cmdSetParameter(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	if len(x.command.args) == 0 {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	known := x.client.process.Parameters
	for i := range x.command.args {
		e := &x.command.args[i]
		if err := known.Check(string(e.Key), query.Of(*e)); err != nil {
			return err
		}
	}
	was := known[string(x.command.args[0].Key)].Value
	for i := range x.command.args {
		known.Set(string(x.command.args[i].Key), query.Of(x.command.args[i]))
	}
	if x.client.member != nil && !x.arg(parameter.TTLSleep).Missing() {
		x.client.set.AwakenLocked(x.client.member.Member)
	}
	x.result.out = wire.AppendValue(x.result.out, "was", was.Type, was.Data)
	return nil
}
