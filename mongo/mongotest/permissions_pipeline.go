package mongotest

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// inFull is the collection, or the database, that a text names in full.
func inFull(ns string) account.Resource {
	db, coll, _ := strings.Cut(ns, ".")
	return account.Resource{DB: db, Collection: coll}
}

func needsOfAggregate(x *exec) []need { return x.needsOfPipeline(x.named(), x.arg("pipeline")) }

// needsOfExplain are those of the command that is explained.
func needsOfExplain(x *exec) []need {
	doc := x.command.first
	if !doc.IsDocument() || len(query.ObjectOf(doc.Data)) == 0 {
		return nil
	}
	first := query.ObjectOf(doc.Data)[0]
	inner := &exec{conn: x.conn, command: command{name: first.Name, first: first.Value, db: x.command.db, raw: doc.Data}}
	for it := wire.Elements(doc.Data); it.Next(); {
		inner.command.args = append(inner.command.args, it.Element)
	}
	if s := specs[first.Name]; s != nil {
		return s.may(inner)
	}
	return nil
}

// needsOfPipeline are those of an aggregation on a collection or, without one, on a database.
func (x *exec) needsOfPipeline(on account.Resource, stages query.Value) []need {
	if !stages.IsArray() {
		return []need{{on, []string{"find"}}}
	}
	list := query.Elements(stages.Data)
	needs := needsOfSource(on, list)
	for _, v := range list {
		if !v.IsDocument() {
			continue
		}
		for _, f := range query.ObjectOf(v.Data) {
			needs = append(needs, x.needsOfStage(on, f.Name, f.Value)...)
		}
	}
	return needs
}

// needsOfSource are those of the documents that the first stage gets or makes.
func needsOfSource(on account.Resource, stages []query.Value) []need {
	var first query.Field
	if len(stages) > 0 && stages[0].IsDocument() && len(query.ObjectOf(stages[0].Data)) > 0 {
		first = query.ObjectOf(stages[0].Data)[0]
	}
	option := func(name string) query.Value {
		if !first.Value.IsDocument() {
			return query.Value{}
		}
		return query.Lookup(first.Value.Data, name)
	}
	switch first.Name {
	case "$collStats":
		return []need{{on, []string{"collStats"}}}
	case "$indexStats":
		return []need{{on, []string{"indexStats"}}}
	case "$planCacheStats":
		return []need{{on, []string{"planCacheRead"}}}
	case "$listSearchIndexes":
		return []need{{on, []string{"listSearchIndexes"}}}
	case "$documents":
		return nil
	case "$currentOp":
		if option("allUsers").True() {
			return []need{{account.Cluster, []string{"inprog"}}}
		}
		return nil
	case "$listLocalSessions", "$listSessions":
		if option("allUsers").True() || !option("users").Missing() {
			return []need{{account.Cluster, []string{"listSessions"}}}
		}
		return nil
	case "$changeStream":
		if option("allChangesForCluster").True() {
			on = account.Resource{}
		}
		return []need{{on, []string{"find", "changeStream"}}}
	}
	return []need{{on, []string{"find"}}}
}

// needsOfStage are those of the other collections that a stage reads or writes.
func (x *exec) needsOfStage(on account.Resource, name string, spec query.Value) []need {
	get := func(field string) query.Value {
		if !spec.IsDocument() {
			return query.Value{}
		}
		return query.Lookup(spec.Data, field)
	}
	switch name {
	case "$lookup", "$graphLookup":
		return x.needsOfJoin(on, get("from"), get("pipeline"))
	case "$unionWith":
		if spec.Type == bson.TypeString {
			return x.needsOfJoin(on, spec, query.Value{})
		}
		return x.needsOfJoin(on, get("coll"), get("pipeline"))
	case "$facet":
		if !spec.IsDocument() {
			return nil
		}
		var list []need
		for _, f := range query.ObjectOf(spec.Data) {
			list = append(list, x.needsOfPipeline(on, f.Value)...)
		}
		return list
	case "$out":
		return []need{{x.target(spec, "coll"), x.withBypass("insert", "remove")}}
	case "$merge":
		into := spec
		if spec.IsDocument() {
			into = get("into")
		}
		return []need{{x.target(into, "coll"), x.withBypass(mergeActions(get("whenMatched"), get("whenNotMatched"))...)}}
	}
	return nil
}

// needsOfJoin are those of a collection that a stage reads, and of the stages on it.
func (x *exec) needsOfJoin(on account.Resource, from, stages query.Value) []need {
	source := account.Resource{DB: on.DB}
	switch {
	case from.IsDocument():
		source = x.target(from, "coll")
	case from.Type == bson.TypeString:
		source.Collection = string(from.Text())
	case stages.IsArray(): // it begins with $documents
		return x.needsOfPipeline(source, stages)
	default:
		return nil
	}
	return x.needsOfPipeline(source, stages)
}

// target is the collection that a name, or {db, coll}, stands for.
func (x *exec) target(v query.Value, field string) account.Resource {
	if v.IsDocument() {
		coll := query.Lookup(v.Data, field)
		return x.inDatabase(query.Lookup(v.Data, "db"), string(coll.Text()))
	}
	return x.inDatabase(query.Value{}, string(v.Text()))
}

// mergeActions are what a $merge does in its collection.
func mergeActions(matched, notMatched query.Value) []string {
	var actions []string
	if mode := string(matched.Text()); mode != "keepExisting" && mode != "fail" {
		actions = append(actions, "update")
	}
	if mode := string(notMatched.Text()); mode != "discard" && mode != "fail" {
		actions = append(actions, "insert")
	}
	return actions
}
