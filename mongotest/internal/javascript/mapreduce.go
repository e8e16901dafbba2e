package javascript

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

// MapReduce is a mapReduce as stages of an aggregation.
type MapReduce struct {
	Map, Reduce, Finalize string      // Finalize is "" for none
	Query, Sort, Scope    query.Value // Missing for none
	Limit                 int64       // 0 for none
}

// Stages returns the stages that give the results, in the order of their keys.
func (m *MapReduce) Stages() []query.Value {
	var stages []query.Value
	for _, given := range []query.Field{{Name: "$match", Value: m.Query}, {Name: "$sort", Value: m.Sort}, {Name: "$limit", Value: query.Int64(m.Limit)}} {
		if empty := given.Value.IsNullish() || given.Value.IsDocument() && query.Count(given.Value.Data) == 0; !empty && (given.Name != "$limit" || m.Limit > 0) {
			stages = append(stages, object(given.Name, given.Value))
		}
	}
	group := query.Object{}.Set("_id", query.Text("$emits.k")).Set("values", object("$push", query.Text("$emits.v")))
	// A key that has only one value is not reduced.
	one := query.Array([]query.Value{query.Text("$values"), query.Int32(0)})
	several := object("$gt", query.Array([]query.Value{object("$size", query.Text("$values")), query.Int32(1)}))
	value := object("$cond", query.Array([]query.Value{several, m.reduced(query.Text("$values")), object("$arrayElemAt", one)}))
	stages = append(stages,
		object("$project", object("emits", m.call(`var emitted = [];
			globalThis.emit = function(k, v) {
				if (arguments.length !== 2) throw new Error("emit takes 2 args");
				emitted.push({k: k === undefined ? null : k, v: v});
			};
			(`+m.Map+`
			).call(arguments[1]);
			return emitted`, query.Text("$$ROOT")))),
		object("$unwind", query.Text("$emits")), object("$group", group.Document()), object("$sort", object("_id", query.Int32(1))),
		object("$project", object("value", value)))
	return append(stages, m.finalized()...)
}

// Again returns the stages that join the value of a document with the one in $$new, which has the same key.
func (m *MapReduce) Again() []query.Value {
	both := query.Array([]query.Value{query.Text("$value"), query.Text("$$new.value")})
	return append([]query.Value{object("$project", object("value", m.reduced(both)))}, m.finalized()...)
}

func (m *MapReduce) finalized() []query.Value {
	if m.Finalize == "" {
		return nil
	}
	return []query.Value{object("$project", object("value", m.of(m.Finalize, query.Text("$_id"), query.Text("$value"))))}
}

func (m *MapReduce) reduced(values query.Value) query.Value {
	return m.of(m.Reduce, query.Text("$_id"), values)
}

// of calls a function of two arguments.
func (m *MapReduce) of(code string, a, b query.Value) query.Value {
	return m.call("return (\n"+code+"\n)(arguments[1], arguments[2])", a, b)
}

// call runs the body of a function whose first argument is the scope, with the variables of the scope.
func (m *MapReduce) call(body string, args ...query.Value) query.Value {
	scope := m.Scope
	if !scope.IsDocument() {
		scope = query.Document(query.EmptyDocument)
	}
	all := append([]query.Value{object("$literal", scope)}, args...)
	code := "function() { Object.assign(globalThis, arguments[0]);\n" + body + " }"
	return object("$function", query.Object{}.Set("body", query.Text(code)).Set("args", query.Array(all)).Set("lang", query.Text("js")).Document())
}

func object(name string, v query.Value) query.Value { return query.Object{}.Set(name, v).Document() }
