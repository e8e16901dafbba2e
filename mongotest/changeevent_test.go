package mongotest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

var uuids = regexp.MustCompile(`{"\$binary":{"base64":"[^"]*","subType":"04"}}`)

var temporaries = regexp.MustCompile(`tmp[0-9a-f]{5}\.renameCollection`)

// told returns events as text, without what differs from run to run.
func told(events []bson.Raw) []string {
	var list []string
	for _, e := range events {
		var doc bson.D
		if err := bson.Unmarshal(e, &doc); err != nil {
			panic(err)
		}
		doc = slices.DeleteFunc(doc, func(f bson.E) bool { return f.Key == "_id" || f.Key == "clusterTime" || f.Key == "wallTime" })
		text, err := bson.MarshalExtJSON(doc, false, false)
		if err != nil {
			panic(err)
		}
		list = append(list, temporaries.ReplaceAllString(uuids.ReplaceAllString(string(text), "UUID"), "tmp.renameCollection"))
	}
	return list
}

const (
	ofC         = `"ns":{"db":"db","coll":"c"}`
	ofTemporary = `"ns":{"db":"other","coll":"tmp.renameCollection"}`
)

// changesOf are what commands do and what a stream tells of it.
var changesOf = []struct {
	rule     string
	on, spec string
	before   []string // the commands that run before the stream begins, all on db
	commands []string
	want     []string
}{
	{
		"an insert has the document and its key", "db.c", `{}`, nil,
		[]string{`{"insert": "c", "documents": [{"_id": 1, "a": 1}, {"_id": 2}]}`},
		[]string{
			`{"operationType":"insert","fullDocument":{"_id":1,"a":1},` + ofC + `,"documentKey":{"_id":1}}`,
			`{"operationType":"insert","fullDocument":{"_id":2},` + ofC + `,"documentKey":{"_id":2}}`,
		},
	},
	{
		"an update has the fields that changed", "db.c", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1, "a": {"x": 1, "y": 1}, "l": [1, {"z": 1}, 3], "b": 1}]}`},
		[]string{
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a.x": 2, "n": 1, "l.1.z": 2, "l.3": 4}, "$unset": {"b": 1, "a.y": 1}}}]}`,
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"l": [1, 2]}}}]}`,
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}]}`,
			`{"findAndModify": "c", "query": {"_id": 1}, "update": [{"$set": {"n": 2}}]}`,
		},
		[]string{
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":1,"a.x":2,"l.1.z":2,"l.3":4},` +
				`"removedFields":["b","a.y"],"truncatedArrays":[]}}`,
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"l.1":2},` +
				`"removedFields":[],"truncatedArrays":[{"field":"l","newSize":2}]}}`,
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":2},` +
				`"removedFields":[],"truncatedArrays":[]}}`,
		},
	},
	{
		"paths that could be read in two ways are told part by part", "db.c", `{"showExpandedEvents": true}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1, "a": {"1": 1}, "l": [{"x.y": 1, "2": [1, 2]}], "0": 1}]}`},
		[]string{`{"update": "c", "updates": [{"q": {}, "u": [{"$replaceWith": {"$literal": {"_id": 1, "a": {"1": 2}, "l": [{"x.y": 2, "2": [1]}], "0": 2}}}]}]}`},
		[]string{`{"operationType":"update","collectionUUID":UUID,` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"0":2,"a.1":2,"l.0.x.y":2},` +
			`"removedFields":[],"truncatedArrays":[{"field":"l.0.2","newSize":1}],` +
			`"disambiguatedPaths":{"a.1":["a","1"],"l.0.x.y":["l",0,"x.y"],"l.0.2":["l",0,"2"]}}}`},
	},
	{
		"a replacement is told as one", "db.c", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{`{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"b": 1}}]}`, `{"findAndModify": "c", "query": {}, "update": {"b": 2}}`},
		[]string{
			`{"operationType":"replace","fullDocument":{"_id":1,"b":1},` + ofC + `,"documentKey":{"_id":1}}`,
			`{"operationType":"replace","fullDocument":{"_id":1,"b":2},` + ofC + `,"documentKey":{"_id":1}}`,
		},
	},
	{
		"an upsert is an insert", "db.c", `{}`, nil,
		[]string{`{"update": "c", "updates": [{"q": {"_id": 5}, "u": {"a": 1}, "upsert": true}]}`},
		[]string{`{"operationType":"insert","fullDocument":{"_id":5,"a":1},` + ofC + `,"documentKey":{"_id":5}}`},
	},
	{
		"a delete has the key", "db.c", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{`{"delete": "c", "deletes": [{"q": {}, "limit": 0}]}`},
		[]string{`{"operationType":"delete",` + ofC + `,"documentKey":{"_id":1}}`},
	},
	{
		"a drop ends the stream of a collection", "db.c", `{}`,
		[]string{`{"create": "c"}`},
		[]string{`{"drop": "c"}`, `{"insert": "c", "documents": [{}]}`},
		[]string{`{"operationType":"drop",` + ofC + `}`, `{"operationType":"invalidate"}`},
	},
	{
		"a rename ends the stream of a collection", "db.c", `{}`,
		[]string{`{"create": "c"}`},
		[]string{`{"renameCollection": "db.c", "to": "db.d", "$db": "admin"}`},
		[]string{`{"to":{"db":"db","coll":"d"},"operationType":"rename",` + ofC + `}`, `{"operationType":"invalidate"}`},
	},
	{
		"a rename to another database is a drop for the source's (SERVER-62594)", "db", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{`{"renameCollection": "db.c", "to": "other.d", "$db": "admin"}`},
		[]string{`{"operationType":"drop",` + ofC + `}`},
	},
	{
		"which ends the stream of the collection", "db.c", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{`{"renameCollection": "db.c", "to": "other.d", "$db": "admin"}`},
		[]string{`{"operationType":"drop",` + ofC + `}`, `{"operationType":"invalidate"}`},
	},
	{
		"and for the target's a copy that is renamed (SERVER-62556)", "other", `{"showExpandedEvents": true}`,
		[]string{
			`{"insert": "c", "documents": [{"_id": 2, "a": 1}, {"_id": 1}]}`, `{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}]}`,
			`{"insert": "d", "documents": [{"_id": 3}], "$db": "other"}`,
		},
		[]string{`{"renameCollection": "db.c", "to": "other.d", "dropTarget": true, "$db": "admin"}`},
		[]string{
			`{"operationType":"create","collectionUUID":UUID,` + ofTemporary + `,"operationDescription":{"idIndex":{"v":2,"key":{"_id":1},"name":"_id_"}}}`,
			`{"operationType":"createIndexes","collectionUUID":UUID,` + ofTemporary + `,"operationDescription":{"indexes":[{"v":2,"key":{"a":1},"name":"a"}]}}`,
			`{"operationType":"insert","collectionUUID":UUID,"fullDocument":{"_id":2,"a":1},` + ofTemporary + `,"documentKey":{"_id":2}}`,
			`{"operationType":"insert","collectionUUID":UUID,"fullDocument":{"_id":1},` + ofTemporary + `,"documentKey":{"_id":1}}`,
			`{"to":{"db":"other","coll":"d"},"operationType":"rename","collectionUUID":UUID,` + ofTemporary +
				`,"operationDescription":{"to":{"db":"other","coll":"d"},"dropTarget":UUID}}`,
		},
	},
	{
		"of which the stream of the target sees the name", "other.d", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{`{"renameCollection": "db.c", "to": "other.d", "$db": "admin"}`},
		[]string{`{"to":{"db":"other","coll":"d"},"operationType":"rename",` + ofTemporary + `}`, `{"operationType":"invalidate"}`},
	},
	{
		"a rename ends the stream of the collection that it replaces", "db.c", `{"showExpandedEvents": true}`,
		[]string{`{"create": "c"}`, `{"create": "d"}`},
		[]string{`{"renameCollection": "db.d", "to": "db.c", "dropTarget": true, "$db": "admin"}`},
		[]string{
			`{"to":{"db":"db","coll":"c"},"operationType":"rename","collectionUUID":UUID,"ns":{"db":"db","coll":"d"},` +
				`"operationDescription":{"to":{"db":"db","coll":"c"},"dropTarget":UUID}}`,
			`{"operationType":"invalidate"}`,
		},
	},
	{
		"the end of a database ends its stream", "db", `{}`,
		[]string{`{"create": "c"}`, `{"create": "d"}`},
		[]string{`{"dropDatabase": 1}`},
		[]string{
			`{"operationType":"drop",` + ofC + `}`, `{"operationType":"drop","ns":{"db":"db","coll":"d"}}`,
			`{"operationType":"dropDatabase","ns":{"db":"db"}}`, `{"operationType":"invalidate"}`,
		},
	},
	{
		"nothing ends the stream of a cluster, which does not see internal databases", "", `{}`,
		[]string{`{"create": "c"}`},
		[]string{
			`{"insert": "c", "documents": [{"_id": 1}], "$db": "admin"}`, `{"dropDatabase": 1}`, `{"insert": "e", "documents": [{"_id": 1}], "$db": "other"}`,
		},
		[]string{
			`{"operationType":"drop",` + ofC + `}`, `{"operationType":"dropDatabase","ns":{"db":"db"}}`,
			`{"operationType":"insert","fullDocument":{"_id":1},"ns":{"db":"other","coll":"e"},"documentKey":{"_id":1}}`,
		},
	},
	{
		"other collections are not seen", "db.c", `{}`, nil, []string{`{"insert": "cc", "documents": [{"_id": 1}]}`, `{"insert": "c", "documents": [{"_id": 1}], "$db": "dbb"}`}, nil,
	},
	{
		"what is done to collections is told to who asks for it", "db", `{"showExpandedEvents": true}`, nil,
		[]string{
			`{"create": "c", "capped": true, "size": 4096}`,
			`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a_1"}, {"key": {"b": 1}, "name": "b_1"}]}`,
			`{"collMod": "c", "index": {"name": "a_1", "hidden": true}}`,
			`{"dropIndexes": "c", "index": "*"}`,
		},
		[]string{
			`{"operationType":"create","collectionUUID":UUID,` + ofC + `,"operationDescription":{"capped":true,"size":4096,"idIndex":{"v":2,"key":{"_id":1},"name":"_id_"}}}`,
			`{"operationType":"createIndexes","collectionUUID":UUID,` + ofC + `,"operationDescription":{"indexes":[{"v":2,"key":{"a":1},"name":"a_1"},` +
				`{"v":2,"key":{"b":1},"name":"b_1"}]}}`,
			`{"operationType":"modify","collectionUUID":UUID,` + ofC + `,"operationDescription":{"index":{"name":"a_1","hidden":true}},` +
				`"stateBeforeChange":{"collectionOptions":{"uuid":UUID,"capped":true,"size":4096},"indexOptions":{"hidden":false}}}`,
			`{"operationType":"dropIndexes","collectionUUID":UUID,` + ofC + `,"operationDescription":{"indexes":[{"v":2,"key":{"a":1},"name":"a_1","hidden":true}]}}`,
			`{"operationType":"dropIndexes","collectionUUID":UUID,` + ofC + `,"operationDescription":{"indexes":[{"v":2,"key":{"b":1},"name":"b_1"}]}}`,
		},
	},
	{
		"what is done to views is told to nobody else", "db", `{}`,
		[]string{`{"create": "c"}`},
		[]string{
			`{"create": "v", "viewOn": "c"}`, `{"collMod": "v", "viewOn": "d", "pipeline": []}`, `{"drop": "v"}`, `{"create": "w", "viewOn": "c"}`, `{"dropDatabase": 1}`,
		},
		[]string{`{"operationType":"drop",` + ofC + `}`, `{"operationType":"dropDatabase","ns":{"db":"db"}}`, `{"operationType":"invalidate"}`},
	},
	{
		"nor to the stream of a collection of that name", "db.v", `{"showExpandedEvents": true}`, nil,
		[]string{`{"create": "v", "viewOn": "c"}`, `{"drop": "v"}`},
		nil,
	},
	{
		"views have no UUID", "db", `{"showExpandedEvents": true}`,
		[]string{`{"create": "c"}`},
		[]string{`{"create": "v", "viewOn": "c"}`, `{"collMod": "v", "viewOn": "d", "pipeline": []}`, `{"drop": "v"}`},
		[]string{
			`{"operationType":"create","ns":{"db":"db","coll":"v"},"operationDescription":{"viewOn":"c","pipeline":[]}}`,
			`{"operationType":"modify","ns":{"db":"db","coll":"v"},"operationDescription":{"viewOn":"d","pipeline":[]}}`,
			`{"operationType":"drop","ns":{"db":"db","coll":"v"}}`,
		},
	},
	{
		"what a majority has now", "db.c", `{"fullDocument": "updateLookup"}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`},
		[]string{
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}, "multi": true}]}`, `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"z": 9}}]}`,
			`{"delete": "c", "deletes": [{"q": {"_id": 2}, "limit": 1}]}`,
		},
		[]string{
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":1},"removedFields":[],"truncatedArrays":[]},"fullDocument":{"_id":1,"z":9}}`,
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":2},"updateDescription":{"updatedFields":{"n":1},"removedFields":[],"truncatedArrays":[]},"fullDocument":null}`,
			`{"operationType":"replace","fullDocument":{"_id":1,"z":9},` + ofC + `,"documentKey":{"_id":1}}`,
			`{"operationType":"delete",` + ofC + `,"documentKey":{"_id":2}}`,
		},
	},
	{
		"a field that moved is told as set", "db.c", `{}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1, "a": 1, "b": 2}]}`},
		[]string{`{"update": "c", "updates": [{"q": {}, "u": [{"$replaceWith": {"_id": 1, "b": 2, "a": 1}}]}]}`},
		[]string{`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"a":1},"removedFields":[],"truncatedArrays":[]}}`},
	},
	{
		"a document of a new collection is not looked up", "db", `{"fullDocument": "updateLookup"}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}]}`, `{"drop": "c"}`, `{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":1},"removedFields":[],"truncatedArrays":[]},"fullDocument":null}`,
			`{"operationType":"drop",` + ofC + `}`, `{"operationType":"insert","fullDocument":{"_id":1},` + ofC + `,"documentKey":{"_id":1}}`,
		},
	},
	{
		"images, from when on the collection keeps them", "db.c", `{"fullDocument": "whenAvailable", "fullDocumentBeforeChange": "whenAvailable"}`,
		[]string{`{"insert": "c", "documents": [{"_id": 1}]}`},
		[]string{
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}]}`, `{"collMod": "c", "changeStreamPreAndPostImages": {"enabled": true}}`,
			`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 2}}}]}`, `{"update": "c", "updates": [{"q": {}, "u": {"n": 3}}]}`, `{"delete": "c", "deletes": [{"q": {}, "limit": 1}]}`,
		},
		[]string{
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":1},"removedFields":[],"truncatedArrays":[]},"fullDocumentBeforeChange":null,"fullDocument":null}`,
			`{"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":2},"removedFields":[],"truncatedArrays":[]},"fullDocumentBeforeChange":{"_id":1,"n":1},"fullDocument":{"_id":1,"n":2}}`,
			`{"operationType":"replace","fullDocument":{"_id":1,"n":3},` + ofC + `,"documentKey":{"_id":1},"fullDocumentBeforeChange":{"_id":1,"n":2}}`,
			`{"operationType":"delete",` + ofC + `,"documentKey":{"_id":1},"fullDocumentBeforeChange":{"_id":1,"n":3}}`,
		},
	},
	{
		"a transaction's events come together, with its session and number", "db.c", `{}`,
		[]string{`{"create": "c"}`},
		[]string{
			`{"insert": "c", "documents": [{"_id": 1}], "startTransaction": true` + transactionFields + `}`,
			`{"insert": "other", "documents": [{"_id": 1}]` + transactionFields + `}`, `{"update": "c", "updates": [{"q": {}, "u": {"$set": {"n": 1}}}]` + transactionFields + `}`,
			`{"commitTransaction": 1, "$db": "admin"` + transactionFields + `}`,
		},
		[]string{
			`{"txnNumber":3,"lsid":{"id":UUID},"operationType":"insert","fullDocument":{"_id":1},` + ofC + `,"documentKey":{"_id":1}}`,
			`{"txnNumber":3,"lsid":{"id":UUID},"operationType":"update",` + ofC + `,"documentKey":{"_id":1},"updateDescription":{"updatedFields":{"n":1},"removedFields":[],"truncatedArrays":[]}}`,
		},
	},
	{
		"a capped collection gives up documents by deletes", "db.c", `{}`,
		[]string{`{"create": "c", "capped": true, "size": 4096, "max": 1}`},
		[]string{`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}]}`},
		[]string{
			`{"operationType":"insert","fullDocument":{"_id":1},` + ofC + `,"documentKey":{"_id":1}}`,
			`{"operationType":"insert","fullDocument":{"_id":2},` + ofC + `,"documentKey":{"_id":2}}`,
			`{"operationType":"delete",` + ofC + `,"documentKey":{"_id":1}}`,
		},
	},
}

const transactionFields = `, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "3"}, "autocommit": false`

func TestChangeEvents(t *testing.T) {
	for _, c := range changesOf {
		t.Run(c.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				client := dial(t, rs, 0)
				run := func(commands []string) {
					for _, command := range commands {
						if !strings.Contains(command, `"$db"`) {
							command = strings.TrimSuffix(command, "}") + `, "$db": "db"}`
						}
						if reply := client.ok("%s", command); reply.Lookup("writeErrors").Type != 0 {
							t.Fatalf("%s: %s", command, reply)
						}
					}
				}
				run(c.before)
				s, got := watch(client, c.on, c.spec)
				run(c.commands)
				got = append(got, s.rest()...)
				if list := told(got); !slices.Equal(list, c.want) {
					t.Errorf("the events are\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(c.want, "\n"))
				}
				last := ""
				for _, e := range got {
					token := e.Lookup("_id", "_data").StringValue()
					if token <= last {
						t.Errorf("the token %s comes behind %s", token, last)
					}
					last = token
				}
				ended := len(c.want) > 0 && strings.Contains(c.want[len(c.want)-1], "invalidate")
				if ended != (s.id == 0) {
					t.Errorf("the cursor's id is %d at the end; the stream was invalidated: %v", s.id, ended)
				}
			})
		})
	}
}
