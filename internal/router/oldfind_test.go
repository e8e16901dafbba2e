package router

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// raw is a document from extended JSON.
func raw(t testing.TB, text string) []byte {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// same reports whether two documents have the same fields in the same order.
func same(t *testing.T, got []byte, want string) bool {
	t.Helper()
	return bson.Raw(got).String() == bson.Raw(raw(t, want)).String()
}

func TestAnOldFindBecomesACommand(t *testing.T) {
	for _, c := range []struct {
		name     string
		flags    uint32
		skip, n  int32
		document string
		selector string
		want     string
	}{
		{"a filter alone", 0, 0, 0, `{"a": 1}`, "", `{"find": "c.d", "filter": {"a": 1}}`},
		{"slaveOk is not a field", wire.SecondaryOk, 0, 0, `{}`, "", `{"find": "c.d", "filter": {}}`},
		{"a field selector is the projection", 0, 0, 0, `{}`, `{"a": 1}`, `{"find": "c.d", "filter": {}, "projection": {"a": 1}}`},
		{"numberToReturn is the batch", 0, 0, 5, `{}`, "", `{"find": "c.d", "filter": {}, "batchSize": 5}`},
		{"1 is one document and no cursor", 0, 0, 1, `{}`, "", `{"find": "c.d", "filter": {}, "limit": 1, "singleBatch": true, "batchSize": 1}`},
		{"-1 is the same", 0, 0, -1, `{}`, "", `{"find": "c.d", "filter": {}, "limit": 1, "singleBatch": true, "batchSize": 1}`},
		{"a negative one is a limit, and no cursor", 0, 7, -500, `{}`, "", `{"find": "c.d", "filter": {}, "skip": 7, "limit": 500, "singleBatch": true, "batchSize": 500}`},
		{"a negative skip is for the server to refuse", 0, -1, 0, `{}`, "", `{"find": "c.d", "filter": {}, "skip": -1}`},
		{
			"flags", wire.TailableCursor | wire.OplogReplay | wire.NoCursorTimeout | wire.AwaitData | wire.Partial, 0, 0, `{}`, "",
			`{"find": "c.d", "filter": {}, "tailable": true, "oplogReplay": true, "noCursorTimeout": true, "awaitData": true, "allowPartialResults": true}`,
		},
		{"$query is a wrapper", 0, 0, 0, `{"$query": {"a": 1}}`, "", `{"find": "c.d", "filter": {"a": 1}}`},
		{"so is query", 0, 0, 0, `{"query": {"a": 1}, "orderby": {"b": -1}}`, "", `{"find": "c.d", "filter": {"a": 1}, "sort": {"b": -1}}`},
		{"it may stand anywhere", 0, 0, 0, `{"$orderby": {"b": 1}, "$query": {"a": 1}}`, "", `{"find": "c.d", "filter": {"a": 1}, "sort": {"b": 1}}`},
		{"a field query that is not a document is not a wrapper", 0, 0, 0, `{"query": "a", "$comment": "b"}`, "", `{"find": "c.d", "filter": {"query": "a", "$comment": "b"}}`},
		{
			"modifiers", 0, 0, 0,
			`{"$query": {}, "$hint": "a_1", "$min": {"a": 1}, "$max": {"a": 9}, "$comment": "x", "$collation": {"locale": "de"}, "$maxScan": 3, "unknown": 1}`, "",
			`{"find": "c.d", "filter": {}, "hint": "a_1", "min": {"a": 1}, "max": {"a": 9}, "comment": "x", "collation": {"locale": "de"}, "maxScan": 3}`,
		},
		{
			"switches that are on", 0, 0, 0, `{"$query": {}, "$returnKey": true, "$showDiskLoc": 1, "$snapshot": true}`, "",
			`{"find": "c.d", "filter": {}, "returnKey": true, "showRecordId": true, "snapshot": true}`,
		},
		{
			"switches that are off", 0, 0, 0, `{"$query": {}, "$returnKey": false, "$showDiskLoc": 0, "$snapshot": false, "$explain": false}`, "",
			`{"find": "c.d", "filter": {}}`,
		},
		{
			"the time and the preference come last", 0, 0, 0, `{"$query": {}, "$maxTimeMS": 5, "$readPreference": {"mode": "nearest"}, "$hint": {"a": 1}}`, "",
			`{"find": "c.d", "filter": {}, "hint": {"a": 1}, "maxTimeMS": 5, "$readPreference": {"mode": "nearest"}}`,
		},
		{
			"explain has the find, and the time and the preference itself", 0, 0, -2,
			`{"$query": {"a": 1}, "$explain": true, "$maxTimeMS": 5, "$readPreference": {"mode": "nearest"}}`, "",
			`{"explain": {"find": "c.d", "filter": {"a": 1}, "limit": 2, "singleBatch": true, "batchSize": 2}, "verbosity": "allPlansExecution",
			"maxTimeMS": 5, "$readPreference": {"mode": "nearest"}}`,
		},
	} {
		q := wire.Query{Flags: c.flags, Collection: []byte("app.c.d"), Skip: c.skip, Return: c.n, Document: raw(t, c.document)}
		if c.selector != "" {
			q.Selector = raw(t, c.selector)
		}
		got, err := new(parser).parse(q.Append(nil, 1))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !same(t, got.Body, c.want) || got.Database != "app" || got.slaveOk != (c.flags&wire.SecondaryOk != 0) {
			t.Errorf("%s: %s in %q, slaveOk %t; want %s", c.name, bson.Raw(got.Body), got.Database, got.slaveOk, c.want)
		}
	}
}

func TestOldMessagesThatAreRefused(t *testing.T) {
	query := func(collection string, flags uint32, n int32) []byte {
		q := wire.Query{Flags: flags, Collection: []byte(collection), Return: n, Document: raw(t, `{}`)}
		return q.Append(nil, 1)
	}
	more := wire.GetMore{Collection: []byte("app.c"), Return: -1, Cursor: 1}
	for name, c := range map[string]struct {
		message []byte
		code    int32
	}{
		"exhaust":                             {query("app.c", wire.Exhaust, 0), 18526},
		"a limit that has no positive number": {query("app.c", 0, math.MinInt32), 2},
		"no collection":                       {query("app", 0, 0), 73},
		"an empty collection":                 {query("app.", 0, 0), 73},
		"an empty database":                   {query(".c", 0, 0), 73},
		"a negative batch":                    {more.Append(nil, 1), 2},
		"OP_INSERT":                           {withOpCode(wire.OpInsert), 352},
		"OP_UPDATE":                           {withOpCode(wire.OpUpdate), 352},
		"OP_DELETE":                           {withOpCode(wire.OpDelete), 352},
	} {
		got, err := new(parser).parse(c.message)
		if err != nil || got.old == nil || got.old.refused == nil || got.old.refused.code != c.code {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if c, err := new(parser).parse(withOpCode(2010)); err == nil {
		t.Errorf("an unknown message: %+v", c)
	}
}

// withOpCode returns a message with an operation code and nothing else of meaning.
func withOpCode(opCode int32) []byte {
	b := wire.AppendKillCursors(nil, 1, nil)
	b[12], b[13] = byte(opCode), byte(opCode>>8)
	return b
}
