package mongotest

import (
	"net"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/explain/

func cmdExplain(x *call) error {
	if !x.command.first.IsDocument() {
		return fields.WrongType("explain", "explain", x.command.first.Type, "object")
	}
	level, err := x.verbosity()
	if err != nil {
		return err
	}
	inner := x.command.first.Data
	if err := query.CheckDocument(inner); err != nil {
		return err
	}
	outer := x.command
	defer func() { x.command = outer }()
	if err := x.beExplained(inner); err != nil {
		return err
	}
	return x.explain(level)
}

func (x *call) verbosity() (explain.Verbosity, error) {
	level := explain.AllPlans
	for i := range x.command.args {
		e := &x.command.args[i]
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
func (x *call) beExplained(doc []byte) error {
	it := wire.Elements(doc)
	if !it.Next() {
		return mongoerr.Errorf(mongoerr.BadValue, "explain command requires a nested object")
	}
	c := &x.command
	c.name, c.raw, c.first = string(it.Key), doc, query.Of(it.Element)
	if specs[c.name] == nil {
		return mongoerr.Errorf(mongoerr.CommandNotFound, "Explain failed due to unknown command: %s", c.name)
	}
	if !slices.Contains(explainable, c.name) {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Cannot explain cmd: %s", c.name)
	}
	c.spec = specs[c.name]
	generic := command{db: c.db, stmtID: -1} // takes what every command may have, and is forgotten
	for it.Next() {
		if err := generic.genericOption(&it.Element, x.client.set.Version); err != nil {
			return err
		}
	}
	if it.Err != nil {
		return it.Err
	}
	generic.args = slices.DeleteFunc(generic.args, func(e wire.Element) bool {
		return slices.Contains([]string{"$db", "lsid", "txnNumber", "stmtId", "stmtIds"}, string(e.Key))
	})
	var err error
	c.args, err = c.spec.fields.Check(generic.args)
	return err
}

// explain writes the plan of the command, which is the one that is to be explained.
func (x *call) explain(level explain.Verbosity) error {
	if err := x.explainedTarget(); err != nil {
		return err
	}
	x.result.target = x.command.full
	if x.command.name == "aggregate" {
		return x.explainAggregate(level)
	}
	e, err := x.explained()
	if err != nil {
		return err
	}
	plan, err := x.planOf(e)
	if err != nil {
		return err
	}
	dst := wire.AppendString(x.result.out, "explainVersion", "1")
	dst = plan.AppendPlanner(dst, nil)
	if level != explain.Planner {
		dst = plan.AppendStats(dst, level)
	}
	x.result.out = x.appendExplained(dst)
	return nil
}

// explainedTarget reads the name of the collection. As in the real server, a missing field is found first.
func (x *call) explainedTarget() error {
	switch x.command.name {
	case "update":
		return x.targetOf("updates")
	case "delete":
		return x.targetOf("deletes")
	}
	return x.collectionName()
}

// planOf finds the plan of a search, and runs it.
func (x *call) planOf(e *explained) (*explain.Plan, error) {
	if err := x.lookAt(e); err != nil {
		return nil, err
	}
	plan, err := explain.New(&e.Query)
	if err != nil {
		return nil, x.executing(x.command.name, err)
	}
	return plan, nil
}

// appendExplained writes which command was explained, and by which server.
func (x *call) appendExplained(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "command")
	dst = wire.AppendValue(dst, x.command.name, x.command.first.Type, x.command.first.Data)
	for i := range x.command.args {
		if e := x.command.args[i]; string(e.Key) != "explain" {
			dst = wire.AppendElement(dst, e)
		}
	}
	dst = wire.EndDocument(wire.AppendString(dst, "$db", x.command.db), at)
	host, port, _ := net.SplitHostPort(x.client.member.Addr)
	at, dst = wire.BeginEmbedded(dst, "serverInfo")
	n, _ := strconv.Atoi(port)
	dst = wire.AppendInt32(wire.AppendString(dst, "host", host), "port", int32(n))
	dst = wire.AppendString(dst, "version", x.client.set.Version.String())
	return wire.EndDocument(wire.AppendString(dst, "gitVersion", "mongotest"), at)
}
