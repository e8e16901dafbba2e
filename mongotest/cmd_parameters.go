package mongotest

import (
	"bytes"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// parameter is a setting of a member. Most are remembered and shown, nothing more.
type parameter struct {
	value   query.Value
	runtime bool // it can be set while the member runs
}

// transactionLifetime is the parameter that says after how many seconds a transaction is aborted.
const transactionLifetime = "transactionLifetimeLimitSeconds"

func truth(b bool) query.Value {
	return query.Value{Type: bson.TypeBoolean, Data: wire.AppendBool(nil, "", b)[2:]}
}

// parameters returns what a member begins with.
func (rs *Deployment) parameters() map[string]parameter {
	at, version := wire.BeginDocument(nil)
	version = wire.EndDocument(wire.AppendString(version, "version", rs.config.version.Feature()), at)
	all := defaultParameters()
	all["featureCompatibilityVersion"] = parameter{query.Document(version), false}
	for name, text := range rs.config.startParameters {
		all[name], _ = all[name].parse(text) // checked when the set was made
	}
	return all
}

// defaultParameters returns the parameters that do not depend on the version.
func defaultParameters() map[string]parameter {
	all := map[string]parameter{
		"enableTestCommands":                {truth(true), false},
		"localLogicalSessionTimeoutMinutes": {query.Int32(sessionMinutes), false},
		"logLevel":                          {query.Int32(0), true},
		"notablescan":                       {truth(false), true},
		"quiet":                             {truth(false), true},
		ttlEnabled:                          {truth(true), true},
		ttlSleep:                            {query.Int32(60), true},
		"cursorTimeoutMillis":               {query.Int64(600_000), true},
		transactionLifetime:                 {query.Int32(60), true},
	}
	maps.Copy(all, limiterParameters())
	return all
}

// checkParameter refuses a value of the right type that is too small. Of the other numbers the real server takes any.
func checkParameter(name string, v query.Value) *mongoerr.Error {
	const atLeast = "Invalid value for parameter %s: %d is not greater than or equal to %d"
	switch n, _ := v.Integer(); {
	case (name == transactionLifetime || name == limiterRate || name == ttlSleep) && n < 1:
		return mongoerr.Errorf(mongoerr.BadValue, atLeast, name, n, 1)
	case name == limiterQueue && n < 0:
		return mongoerr.Errorf(mongoerr.BadValue, atLeast, name, n, 0)
	case name == limiterBurst && v.AsFloat64() <= 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid value for parameter %s: %v is not greater than 0", name, v.AsFloat64())
	case name == "logLevel" && n < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid value for logLevel: logLevel: %s", v)
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/getParameter/

func cmdGetParameter(x *exec) error {
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
	x.conn.set.mu.Lock()
	known := maps.Clone(x.conn.server.parameters)
	x.conn.set.mu.Unlock()
	found := false
	for _, name := range slices.Sorted(maps.Keys(known)) {
		asked := slices.ContainsFunc(x.command.args, func(e wire.Element) bool { return string(e.Key) == name })
		if all || asked {
			found = true
			x.result.out = known[name].append(x.result.out, name, details)
		}
	}
	if !found {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to get")
	}
	return nil
}

func (p parameter) append(dst []byte, name string, details bool) []byte {
	if !details {
		return wire.AppendValue(dst, name, p.value.Type, p.value.Data)
	}
	at, dst := wire.BeginEmbedded(dst, name)
	dst = wire.AppendValue(dst, "value", p.value.Type, p.value.Data)
	dst = wire.AppendBool(dst, "settableAtRuntime", p.runtime)
	dst = wire.AppendBool(dst, "settableAtStartup", p.runtime)
	return wire.EndDocument(dst, at)
}

// https://www.mongodb.com/docs/manual/reference/command/setParameter/

func cmdSetParameter(x *exec) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	if len(x.command.args) == 0 {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "no option found to set, use help:true to see options ")
	}
	x.conn.set.mu.Lock()
	defer x.conn.set.mu.Unlock()
	known := x.conn.server.parameters
	for i := range x.command.args {
		e := &x.command.args[i]
		p, ok := known[string(e.Key)]
		v := query.Of(*e)
		switch {
		case !ok:
			return mongoerr.Errorf(mongoerr.InvalidOptions, "attempted to set unrecognized parameter [%s], use help:true to see options ", e.Key)
		case !p.runtime:
			return mongoerr.Errorf(mongoerr.IllegalOperation, "not allowed to change [%s] at runtime", e.Key)
		case p.value.IsNumber() != v.IsNumber() || !p.value.IsNumber() && p.value.Type != v.Type:
			return mongoerr.Errorf(mongoerr.BadValue, "Invalid value for %s: %s: %s", e.Key, e.Key, v)
		}
		if err := checkParameter(string(e.Key), v); err != nil {
			return err
		}
	}
	was := known[string(x.command.args[0].Key)].value
	for i := range x.command.args {
		v := query.Of(x.command.args[i])
		known[string(x.command.args[i].Key)] = parameter{query.Value{Type: v.Type, Data: bytes.Clone(v.Data)}, true}
	}
	if x.conn.member != nil && !x.arg(ttlSleep).Missing() {
		x.conn.set.awakenLocked(x.conn.member)
	}
	x.result.out = wire.AppendValue(x.result.out, "was", was.Type, was.Data)
	return nil
}
