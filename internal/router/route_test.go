package router

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// list returns a command with one array.
func list(command, field string, elements ...any) bson.D {
	return bson.D{{Key: command, Value: "c"}, {Key: field, Value: bson.A(elements)}}
}

func e(name string, value any) bson.D { return bson.D{{Key: name, Value: value}} }

// The fields of a command decide its route where its name alone does not.
func TestRoutes(t *testing.T) {
	many := func(more ...bson.E) bson.D { return append(list("update", "updates", e("multi", true)), more...) }
	for name, c := range map[string]struct {
		command  bson.D
		flags    wire.MsgFlags
		sequence string
		element  bson.D
		want     route
	}{
		"an aggregation":                   {list("aggregate", "pipeline", e("$match", bson.D{})), 0, "", nil, readsAnywhere},
		"one without stages":               {list("aggregate", "pipeline"), 0, "", nil, readsAnywhere},
		"$out":                             {list("aggregate", "pipeline", e("$match", bson.D{}), e("$out", "o")), 0, "", nil, once},
		"$merge":                           {list("aggregate", "pipeline", e("$merge", "o")), 0, "", nil, once},
		"$out before another stage":        {list("aggregate", "pipeline", e("$out", "o"), e("$match", bson.D{})), 0, "", nil, readsAnywhere},
		"$out before an empty stage":       {list("aggregate", "pipeline", e("$out", "o"), bson.D{}), 0, "", nil, readsAnywhere},
		"an inline mapReduce":              {bson.D{{Key: "mapReduce", Value: "c"}, {Key: "out", Value: e("inline", 1)}}, 0, "", nil, readsAnywhere},
		"a mapReduce into a collection":    {bson.D{{Key: "mapreduce", Value: "c"}, {Key: "out", Value: "o"}}, 0, "", nil, once},
		"a read in a transaction":          {append(list("find", "x"), e("autocommit", false)...), 0, "", nil, once},
		"a commit":                         {append(list("commitTransaction", "x"), e("autocommit", false)...), 0, "", nil, ends},
		"an insert":                        {list("insert", "documents"), 0, "", nil, writesOne},
		"an insert with w: 0":              {append(list("insert", "documents"), e("writeConcern", e("w", 0))...), 0, "", nil, once},
		"an insert with w: 1":              {append(list("insert", "documents"), e("writeConcern", e("w", 1))...), 0, "", nil, writesOne},
		"an insert without an answer":      {list("insert", "documents"), wire.MoreToCome, "", nil, once},
		"an update of one":                 {list("update", "updates", e("multi", false), e("u", 1)), 0, "", nil, writesOne},
		"an update of many":                {list("update", "updates", e("multi", false), e("multi", 1)), 0, "", nil, once},
		"a numbered one, which is refused": {many(e("txnNumber", int64(1))...), 0, "", nil, writesOne},
		"many in a sequence":               {e("update", "c"), 0, "updates", e("multi", true), once},
		"one in a sequence":                {e("update", "c"), 0, "updates", e("multi", false), writesOne},
		"another sequence":                 {e("update", "c"), 0, "other", e("multi", true), writesOne},
		"a delete of one":                  {list("delete", "deletes", e("limit", 1)), 0, "", nil, writesOne},
		"a delete of all":                  {list("delete", "deletes", e("limit", 0)), 0, "", nil, once},
		"a delete without a limit":         {list("delete", "deletes", e("q", 1)), 0, "", nil, once},
		"many in a bulkWrite":              {list("bulkWrite", "ops", e("insert", 0), bson.D{{Key: "update", Value: 0}, {Key: "multi", Value: true}}), 0, "", nil, once},
		"a bulkWrite":                      {list("bulkWrite", "ops", e("insert", 0), e("update", 0)), 0, "", nil, writesOne},
		"what nobody knows":                {e("noSuchCommand", 1), 0, "", nil, once},
	} {
		at, b := wire.BeginMsg(nil, 1, 0, c.flags)
		b = append(b, marshal(t, c.command)...)
		if c.sequence != "" {
			b = wire.AppendSequence(b, c.sequence, marshal(t, c.element))
		}
		var p parser
		q, err := p.parse(wire.EndMessage(b, at))
		if err != nil {
			t.Fatal(err)
		}
		if got := routeOf(q); got != c.want {
			t.Errorf("%s: the route %d, want %d", name, got, c.want)
		}
	}
}
