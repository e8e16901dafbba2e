package explain

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// pushedDown are the stages that a search can do, in the order in which it does them.
var pushedDown = []string{"$match", "$sort", "$skip", "$limit"}

// PushDown makes the query the search that the first stages of a pipeline are, and returns how many these are.
func (q *Query) PushDown(stages []query.Value) int {
	var filters []query.Value
	last := 0 // the kind of the last stage that was taken
	taken := 0
	for _, stage := range stages {
		it := wire.Elements(stage.Data)
		it.Next()
		kind, v := slices.Index(pushedDown, string(it.Key)), query.Of(it.Element)
		if kind < last || kind == last && kind > 0 {
			break
		}
		switch kind {
		case 0:
			filters = append(filters, v)
		case 1:
			q.Sort = v.Data
		case 2:
			q.Skip, _ = v.Integer()
		case 3:
			q.Limit, _ = v.Integer()
		}
		last = kind
		taken++
	}
	q.Filter = allOf(filters)
	if projection := simpleProjection(stages[taken:]); projection != nil {
		q.Projection = projection
		taken++
	}
	return taken
}

// simpleProjection returns the projection of a pipeline's last stage, if it only keeps or leaves out fields.
func simpleProjection(stages []query.Value) []byte {
	if len(stages) != 1 {
		return nil
	}
	v := query.Lookup(stages[0].Data, "$project")
	if !v.IsDocument() {
		return nil
	}
	at, dst := wire.BeginDocument(nil)
	if id := query.Lookup(v.Data, "_id"); id.Missing() {
		dst = wire.AppendBool(dst, "_id", true)
	}
	for it := wire.Elements(v.Data); it.Next(); {
		f := query.Of(it.Element)
		if !f.IsNumber() || strings.Contains(string(it.Key), ".") {
			return nil
		}
		dst = wire.AppendBool(dst, string(it.Key), f.True())
	}
	return wire.EndDocument(dst, at)
}

// allOf returns one filter for several.
func allOf(filters []query.Value) []byte {
	if len(filters) == 1 {
		return filters[0].Data
	}
	at, dst := wire.BeginDocument(nil)
	if len(filters) > 0 {
		list, d := wire.BeginArray(dst, "$and")
		for i, f := range filters {
			d = wire.AppendDocument(d, wire.ArrayKey(i), f.Data)
		}
		dst = wire.EndDocument(d, list)
	}
	return wire.EndDocument(dst, at)
}
