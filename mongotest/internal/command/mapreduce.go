package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/mapReduce/

// cmdMapReduce runs an aggregation that does the same, as real servers do since 4.4.
func cmdMapReduce(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	a := aggregation{cursor: true}
	var m javascript.MapReduce
	var out mapReduceOut
	for i := range x.Command.Args {
		if err := mapReduceField(x, &a, &m, &out, &x.Command.Args[i]); err != nil {
			return err
		}
	}
	stages := query.Array(append(m.Stages(), out.stages(x.Command.DB, &m)...))
	a.stages = stages.Data
	err := a.parse(pipelineOptions(x, x.Command.DB, x.Command.Coll))
	if err != nil {
		return err
	}
	if x.Result.Vars.Values, err = a.Vars(x.Context()); err != nil {
		return err
	}
	return answerMapReduce(x, &a, &out)
}

func answerMapReduce(x *call.Call, a *aggregation, out *mapReduceOut) error {
	if t := a.Target(); t != nil {
		if err := checkTarget(x, t); err != nil {
			return err
		}
	}
	docs, err := aggregate(x, a)
	if err != nil {
		return err
	}
	if a.Target() == nil {
		results := make([]query.Value, len(docs))
		for i, doc := range docs {
			results[i] = query.Document(doc)
		}
		x.Result.Out = appendValues(x.Result.Out, "results", results)
		return nil
	}
	if err := writeResults(x, a, docs); err != nil {
		return err
	}
	result := query.Text(out.coll)
	if out.db != "" {
		result = query.Object{}.Set("db", query.Text(out.db)).Set("collection", result).Document()
	}
	x.Result.Out = wire.AppendValue(x.Result.Out, "result", result.Type, result.Data)
	return nil
}

func mapReduceField(x *call.Call, a *aggregation, m *javascript.MapReduce, out *mapReduceOut, e *wire.Element) (err error) {
	v := query.Of(*e)
	switch name := string(e.Key); name {
	case "map":
		m.Map, err = mapReduceCode(name, v)
	case "reduce":
		m.Reduce, err = mapReduceCode(name, v)
	case "finalize":
		m.Finalize, err = mapReduceCode(name, v)
	case "out":
		err = out.parse(v)
	case "query":
		m.Query = v
	case "sort":
		m.Sort = v
	case "limit":
		m.Limit, _ = v.Integer()
	case "scope":
		m.Scope = v
	case "collation", "bypassDocumentValidation":
		err = a.field(x, e)
	}
	return err
}

func mapReduceCode(name string, v query.Value) (string, error) {
	if !v.IsString() && v.Type != bson.TypeJavaScript {
		return "", mongoerr.Errorf(mongoerr.BadValue, "'%s' must be of string or code type", name)
	}
	code := string(query.Value{Type: bson.TypeString, Data: v.Data}.Text())
	return code, javascript.Check(code)
}

// mapReduceOut is where the results go.
type mapReduceOut struct {
	action   string // inline, replace, merge or reduce
	db, coll string // db is "" for the command's
}

func (o *mapReduceOut) parse(v query.Value) error {
	switch {
	case v.IsString():
		o.action, o.coll = "replace", string(v.Text())
		return nil
	case !v.IsDocument():
		return mongoerr.Errorf(mongoerr.BadValue, "'out' must be either a string or an object")
	}
	for _, f := range query.ObjectOf(v.Data) {
		switch f.Name {
		case "inline", "replace", "merge", "reduce":
			if o.action != "" {
				return mongoerr.Errorf(mongoerr.BadValue, "'out' has both '%s' and '%s'", o.action, f.Name)
			}
			if o.action = f.Name; f.Name != "inline" && !f.Value.IsString() {
				return mongoerr.Errorf(mongoerr.BadValue, "'out.%s' must be a string", f.Name)
			}
			o.coll = string(f.Value.Text())
		case "db":
			if !f.Value.IsString() {
				return mongoerr.Errorf(mongoerr.BadValue, "'out.db' must be a string")
			}
			o.db = string(f.Value.Text())
		case "sharded", "nonAtomic": // deprecated, and without effect but for false, which is refused
			if !f.Value.True() {
				return mongoerr.Errorf(mongoerr.BadValue, "'out.%s' cannot be false", f.Name)
			}
		default:
			return mongoerr.Errorf(mongoerr.UnknownField, "BSON field 'mapReduce.out.%s' is an unknown field.", f.Name)
		}
	}
	if o.action == "" {
		return mongoerr.Errorf(mongoerr.BadValue, "'out' must have one of 'inline', 'replace', 'merge' and 'reduce'")
	}
	return nil
}

// stages returns the stage that writes the results, none for results in the reply.
func (o *mapReduceOut) stages(db string, m *javascript.MapReduce) []query.Value {
	if o.db != "" {
		db = o.db
	}
	into := query.Object{}.Set("db", query.Text(db)).Set("coll", query.Text(o.coll))
	merge := query.Object{}.Set("into", into.Document()).Set("on", query.Text("_id"))
	switch o.action {
	case "replace":
		return []query.Value{query.Object{}.Set("$out", into.Document()).Document()}
	case "merge":
		merge = merge.Set("whenMatched", query.Text("replace"))
	case "reduce":
		merge = merge.Set("whenMatched", query.Array(m.Again()))
	default:
		return nil
	}
	return []query.Value{query.Object{}.Set("$merge", merge.Set("whenNotMatched", query.Text("insert")).Document()).Document()}
}
