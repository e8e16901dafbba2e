package mongotest

import (
	"net"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/explain/

// plan is how a command would find its documents.
type plan struct {
	coll   query.Value
	filter []byte
	hint   store.Hint
	stage  string // around the search, "" for none
}

// cmdExplain returns the plan of the verbosity queryPlanner, the only one that is supported. It is also the default here.
func cmdExplain(x *exec) error {
	if !x.command.first.IsDocument() {
		return fields.WrongType("explain", "explain", x.command.first.Type, "object")
	}
	if err := x.verbosity(); err != nil {
		return err
	}
	inner := x.command.first.Data
	if err := query.CheckDocument(inner); err != nil {
		return err
	}
	p, err := x.planOf(inner)
	if err != nil {
		return err
	}
	if p.coll.Type != bson.TypeString {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Collection name has invalid type %s", query.TypeName(p.coll.Type))
	}
	if err := checkNamespace(x.command.db, string(p.coll.Text())); err != nil {
		return err
	}
	ns := x.command.db + "." + string(p.coll.Text())
	x.result.target = ns
	var q criteria
	if err := q.compile(x, p.filter); err != nil {
		return err
	}
	if err := x.reading(); err != nil {
		return err
	}
	c := x.conn.member.data.Collections[ns]
	ix, err := p.hint.Resolve(ns, c)
	x.conn.set.mu.Unlock()
	if err != nil {
		return err
	}
	x.appendPlan(ns, p, &q.filter, c != nil, ix)
	return nil
}

func (x *exec) verbosity() error {
	for i := range x.command.args {
		e := &x.command.args[i]
		if string(e.Key) != "verbosity" {
			return fields.Unknown("explain", string(e.Key))
		}
		if e.Type == bson.TypeNull {
			continue
		}
		switch level := string(e.Text()); level {
		case "queryPlanner":
		case "executionStats", "allPlansExecution":
			return fields.Unsupported("explain", "verbosity "+level)
		default:
			return mongoerr.Errorf(mongoerr.BadValue, "Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", level)
		}
	}
	return nil
}

// planOf reads the command that is to be explained.
func (x *exec) planOf(command []byte) (*plan, error) {
	it := wire.Elements(command)
	if !it.Next() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "explain command requires a nested object")
	}
	p := &plan{coll: query.Of(it.Element), filter: query.EmptyDocument}
	name := string(it.Key)
	if let := query.Lookup(command, "let"); let.IsDocument() {
		if err := x.letField(name, &wire.Element{Type: let.Type, Value: let.Data}); err != nil {
			return nil, err
		}
	}
	var err error
	switch name {
	case "find":
		err = p.from(command, "filter")
	case "count":
		p.stage = "COUNT"
		err = p.from(command, "query")
	case "distinct":
		err = p.from(command, "query")
	case "findAndModify", "findandmodify":
		p.stage = "UPDATE"
		if remove := query.Lookup(command, "remove"); remove.True() {
			p.stage = "DELETE"
		}
		err = p.from(command, "query")
	case "update":
		p.stage = "UPDATE"
		err = p.fromStatement(command, "updates")
	case "delete":
		p.stage = "DELETE"
		err = p.fromStatement(command, "deletes")
	case "aggregate":
		err = p.fromPipeline(command)
	default:
		if specs[name] == nil {
			return nil, mongoerr.Errorf(mongoerr.CommandNotFound, "Explain failed due to unknown command: %s", name)
		}
		return nil, mongoerr.Errorf(mongoerr.IllegalOperation, "Cannot explain cmd: %s", name)
	}
	return p, err
}

// from takes the filter and the hint from fields of a document.
func (p *plan) from(doc []byte, filter string) error {
	it := wire.Elements(doc)
	for it.Next() {
		switch string(it.Key) {
		case filter:
			if p.filter = it.Document(); p.filter == nil {
				return fields.WrongType("explain", filter, it.Type, "object")
			}
		case "hint":
			if err := p.hint.Parse(&it.Element); err != nil {
				return err
			}
		}
	}
	return it.Err
}

func (p *plan) fromStatement(command []byte, field string) error {
	list := query.Lookup(command, field)
	statements := query.Elements(list.Data)
	if !list.IsArray() || len(statements) != 1 || !statements[0].IsDocument() {
		return mongoerr.Errorf(mongoerr.InvalidLength, "explained write batches must be of size 1")
	}
	return p.from(statements[0].Data, "q")
}

func (p *plan) fromPipeline(command []byte) error {
	if err := p.from(command, ""); err != nil {
		return err
	}
	stages := query.Lookup(command, "pipeline")
	if !stages.IsArray() {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'aggregate.pipeline' is missing but a required field")
	}
	if list := query.Elements(stages.Data); len(list) > 0 && list[0].IsDocument() {
		return p.from(list[0].Data, "$match")
	}
	return nil
}

func (x *exec) appendPlan(ns string, p *plan, f *query.Filter, exists bool, ix *store.Index) {
	dst := wire.AppendString(x.result.out, "explainVersion", "1")
	planner, dst := wire.BeginEmbedded(dst, "queryPlanner")
	dst = wire.AppendString(dst, "namespace", ns)
	dst = wire.AppendDocument(dst, "parsedQuery", p.filter)
	dst = wire.AppendBool(dst, "indexFilterSet", false)
	at, dst := wire.BeginEmbedded(dst, "winningPlan")
	if p.stage != "" && exists {
		dst = wire.AppendString(dst, "stage", p.stage)
		input, d := wire.BeginEmbedded(dst, "inputStage")
		dst = wire.EndDocument(p.appendSearch(d, f, exists, ix), input)
	} else {
		dst = p.appendSearch(dst, f, exists, ix)
	}
	dst = wire.EndDocument(dst, at)
	dst = wire.AppendStrings(dst, "rejectedPlans", nil)
	dst = wire.EndDocument(dst, planner)
	dst = wire.AppendDocument(dst, "command", withDB(x.command.first.Data, x.command.db))
	host, port, _ := net.SplitHostPort(x.conn.member.addr)
	at, dst = wire.BeginEmbedded(dst, "serverInfo")
	n, _ := strconv.Atoi(port)
	dst = wire.AppendInt32(wire.AppendString(dst, "host", host), "port", int32(n))
	dst = wire.AppendString(dst, "version", x.conn.set.config.version.String())
	x.result.out = wire.EndDocument(wire.AppendString(dst, "gitVersion", "mongotest"), at)
}

// appendSearch writes the stages that find documents, as this server does it.
func (p *plan) appendSearch(dst []byte, f *query.Filter, exists bool, ix *store.Index) []byte {
	_, byID := f.ID()
	switch {
	case !exists:
		return wire.AppendString(dst, "stage", "EOF")
	case ix != nil:
		dst = wire.AppendString(dst, "stage", "FETCH")
		if len(p.filter) > len(query.EmptyDocument) {
			dst = wire.AppendDocument(dst, "filter", p.filter)
		}
		at, dst := wire.BeginEmbedded(dst, "inputStage")
		dst = wire.AppendString(dst, "stage", "IXSCAN")
		dst = wire.AppendDocument(dst, "keyPattern", ix.Pattern)
		dst = wire.AppendString(dst, "indexName", ix.Name)
		return wire.EndDocument(wire.AppendString(dst, "direction", "forward"), at)
	case byID && p.hint.Natural == 0:
		return wire.AppendString(dst, "stage", "IDHACK")
	}
	dst = wire.AppendString(dst, "stage", "COLLSCAN")
	if len(p.filter) > len(query.EmptyDocument) {
		dst = wire.AppendDocument(dst, "filter", p.filter)
	}
	direction := "forward"
	if p.hint.Natural < 0 {
		direction = "backward"
	}
	return wire.AppendString(dst, "direction", direction)
}

// withDB returns a command with the database that it is for.
func withDB(command []byte, db string) []byte {
	if !query.Lookup(command, "$db").Missing() {
		return command
	}
	doc := slices.Clone(command[:len(command)-1])
	return wire.EndDocument(wire.AppendString(doc, "$db", db), 0)
}
