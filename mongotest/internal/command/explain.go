package command

import (
	"net"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/command/explain/

func cmdExplain(x *call.Call) error {
	if !x.Command.First.IsDocument() {
		return fields.WrongType("explain", "explain", x.Command.First.Type, "object")
	}
	level, err := verbosity(x)
	if err != nil {
		return err
	}
	inner := x.Command.First.Data
	if err := query.CheckDocument(inner); err != nil {
		return err
	}
	outer := x.Command
	defer func() { x.Command = outer }()
	if err := beExplained(x, inner); err != nil {
		return err
	}
	return explainCommand(x, level)
}

func verbosity(x *call.Call) (explain.Verbosity, error) {
	level := explain.AllPlans
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		if string(e.Key) != "verbosity" {
			return level, fields.Unknown("explain", string(e.Key))
		}
		if e.Type == bson.TypeNull {
			continue
		}
		switch name := string(e.Text()); name {
		case "queryPlanner":
			level = explain.Planner
		case "executionStats":
			level = explain.Stats
		case "allPlansExecution":
			level = explain.AllPlans
		default:
			return level, mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", name)
		}
	}
	return level, nil
}

// explainable are the commands that can be explained.
var explainable = []string{"find", "count", "distinct", "findAndModify", "findandmodify", "update", "delete", "aggregate"}

// beExplained makes the command the one that is to be explained.
func beExplained(x *call.Call, doc []byte) error {
	it := wire.Elements(doc)
	if !it.Next() {
		return mongoerr.Errorf(mongoerr.BadValue, "explain command requires a nested object")
	}
	c := &x.Command
	c.Name, c.Raw, c.First = string(it.Key), doc, query.Of(it.Element)
	if call.Specs[c.Name] == nil {
		return mongoerr.Errorf(mongoerr.CommandNotFound, "Explain failed due to unknown command: %s", c.Name)
	}
	if !slices.Contains(explainable, c.Name) {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Cannot explain cmd: %s", c.Name)
	}
	c.Spec = call.Specs[c.Name]
	generic := call.Command{Name: c.Name, Spec: c.Spec, DB: c.DB, StmtID: -1} // takes what every command may have, and is forgotten
	for it.Next() {
		if err := explainedField(&generic, &it.Element, x.Client.Set.Version); err != nil {
			return err
		}
	}
	if it.Err != nil {
		return it.Err
	}
	var err error
	c.Args, err = c.Spec.Fields.Check(generic.Args)
	return err
}

// explainedField reads a field of the command that is to be explained. What says who executes it is checked and has no effect.
func explainedField(c *call.Command, e *wire.Element, v version.Version) error {
	switch string(e.Key) {
	case "$db":
		return nil
	case "$readPreference":
		return c.ReadPreference(e, v)
	case "lsid", "txnNumber", "autocommit", "startTransaction", "stmtId", "stmtIds":
		return fields.CheckGeneral(c.Name, e)
	}
	return c.GenericOption(e, v)
}

// explainCommand writes the plan of the command, which is the one that is to be explained.
func explainCommand(x *call.Call, level explain.Verbosity) error {
	if err := explainedTarget(x); err != nil {
		return err
	}
	x.Result.Target = x.Command.Full
	if x.Command.Name == "aggregate" {
		return explainAggregate(x, level)
	}
	only, err := onlyStatement(x)
	if err != nil {
		return err
	}
	e, err := newExplained(x, only)
	if err != nil {
		return err
	}
	plan, err := planOf(x, e)
	if err != nil {
		return err
	}
	dst := wire.AppendString(x.Result.Out, "explainVersion", "1")
	dst = plan.AppendPlanner(dst, nil)
	if level != explain.Planner {
		dst = plan.AppendStats(dst, level)
	}
	x.Result.Out = appendExplained(x, dst)
	return nil
}

// explainedTarget reads the name of the collection. As in the real server, a missing field is found first.
func explainedTarget(x *call.Call) error {
	switch x.Command.Name {
	case "update":
		return x.TargetOf("updates")
	case "delete":
		return x.TargetOf("deletes")
	}
	return x.CollectionName()
}

// planOf finds the plan of a search, and runs it.
func planOf(x *call.Call, e *explained) (*explain.Plan, error) {
	if err := lookAt(x, e); err != nil {
		return nil, err
	}
	plan, err := explain.New(&e.Query)
	if err != nil {
		return nil, x.Executing(x.Command.Name, err)
	}
	return plan, nil
}

// appendExplained writes which command was explained, and by which server.
func appendExplained(x *call.Call, dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "command")
	dst = wire.AppendValue(dst, x.Command.Name, x.Command.First.Type, x.Command.First.Data)
	for i := range x.Command.Args {
		if e := x.Command.Args[i]; string(e.Key) != "explain" {
			dst = wire.AppendElement(dst, e)
		}
	}
	dst = wire.EndDocument(wire.AppendString(dst, "$db", x.Command.DB), at)
	host, port, _ := net.SplitHostPort(x.Client.Member.Addr)
	at, dst = wire.BeginEmbedded(dst, "serverInfo")
	n, _ := strconv.Atoi(port)
	dst = wire.AppendInt32(wire.AppendString(dst, "host", host), "port", int32(n))
	dst = wire.AppendString(dst, "version", x.Client.Set.Version.String())
	return wire.EndDocument(wire.AppendString(dst, "gitVersion", "mongotest"), at)
}
