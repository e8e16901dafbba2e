package permission

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// InFull is the collection, or the database, that a text names in full.
func InFull(ns string) account.Resource {
	db, coll, _ := strings.Cut(ns, ".")
	return account.Resource{DB: db, Collection: coll}
}

func needsOfAggregate(c *Command) []Need { return c.needsOfPipeline(c.named(), c.arg("pipeline")) }

// needsOfExplain are those of the command that is explained.
func needsOfExplain(c *Command) []Need {
	inner := *c
	inner.Body = c.first().Data
	it := wire.Elements(inner.Body)
	if !c.first().IsDocument() || !it.Next() {
		return nil
	}
	inner.Name = string(it.Key)
	inner.Documents = func(field string) [][]byte {
		var docs [][]byte
		for _, v := range query.Elements(inner.arg(field).Data) {
			docs = append(docs, v.Data)
		}
		return docs
	}
	return Of(&inner)
}

// needsOfPipeline are those of an aggregation on a collection or, without one, on a database.
func (c *Command) needsOfPipeline(on account.Resource, stages query.Value) []Need {
	if !stages.IsArray() {
		return []Need{{on, []string{"find"}}}
	}
	list := query.Elements(stages.Data)
	needs := needsOfSource(on, list)
	for _, v := range list {
		if !v.IsDocument() {
			continue
		}
		for _, f := range query.ObjectOf(v.Data) {
			needs = append(needs, c.needsOfStage(on, f.Name, f.Value)...)
		}
	}
	return needs
}

// needsOfSource are those of the documents that the first stage gets or makes.
func needsOfSource(on account.Resource, stages []query.Value) []Need {
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
		return []Need{{on, []string{"collStats"}}}
	case "$indexStats":
		return []Need{{on, []string{"indexStats"}}}
	case "$planCacheStats":
		return []Need{{on, []string{"planCacheRead"}}}
	case "$listSearchIndexes":
		return []Need{{on, []string{"listSearchIndexes"}}}
	case "$documents":
		return nil
	case "$currentOp":
		if option("allUsers").True() {
			return []Need{{account.Cluster, []string{"inprog"}}}
		}
		return nil
	case "$listLocalSessions", "$listSessions":
		if option("allUsers").True() || !option("users").Missing() {
			return []Need{{account.Cluster, []string{"listSessions"}}}
		}
		return nil
	case "$changeStream":
		if option("allChangesForCluster").True() {
			on = account.Resource{}
		}
		return []Need{{on, []string{"find", "changeStream"}}}
	}
	return []Need{{on, []string{"find"}}}
}

// needsOfStage are those of the other collections that a stage reads or writes.
func (c *Command) needsOfStage(on account.Resource, name string, spec query.Value) []Need {
	get := func(field string) query.Value {
		if !spec.IsDocument() {
			return query.Value{}
		}
		return query.Lookup(spec.Data, field)
	}
	switch name {
	case "$lookup", "$graphLookup":
		return c.needsOfJoin(on, get("from"), get("pipeline"))
	case "$unionWith":
		if spec.Type == bson.TypeString {
			return c.needsOfJoin(on, spec, query.Value{})
		}
		return c.needsOfJoin(on, get("coll"), get("pipeline"))
	case "$facet":
		if !spec.IsDocument() {
			return nil
		}
		var list []Need
		for _, f := range query.ObjectOf(spec.Data) {
			list = append(list, c.needsOfPipeline(on, f.Value)...)
		}
		return list
	case "$out":
		return []Need{{c.target(spec, "coll"), c.withBypass("insert", "remove")}}
	case "$merge":
		into := spec
		if spec.IsDocument() {
			into = get("into")
		}
		return []Need{{c.target(into, "coll"), c.withBypass(mergeActions(get("whenMatched"), get("whenNotMatched"))...)}}
	}
	return nil
}

// needsOfJoin are those of a collection that a stage reads, and of the stages on it.
func (c *Command) needsOfJoin(on account.Resource, from, stages query.Value) []Need {
	source := account.Resource{DB: on.DB}
	switch {
	case from.IsDocument():
		source = c.target(from, "coll")
	case from.Type == bson.TypeString:
		source.Collection = string(from.Text())
	case stages.IsArray(): // it begins with $documents
		return c.needsOfPipeline(source, stages)
	default:
		return nil
	}
	return c.needsOfPipeline(source, stages)
}

// target is the collection that a name, or {db, coll}, stands for.
func (c *Command) target(v query.Value, field string) account.Resource {
	if v.IsDocument() {
		coll := query.Lookup(v.Data, field)
		return c.inDatabase(query.Lookup(v.Data, "db"), string(coll.Text()))
	}
	return c.inDatabase(query.Value{}, string(v.Text()))
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
