package mongotest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func document(t *testing.T, text string) bson.D {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhereMatchesTheDocumentsForWhichItsCodeIsTrue(t *testing.T) {
	for _, c := range []struct{ name, command, reply string }{
		{"find", `{"find": "c", "filter": {"$where": "this.n > 1"}, "projection": {"_id": 1}}`, `"firstBatch": [{"_id": {"$numberInt":"2"}},{"_id": {"$numberInt":"3"}}]`},
		{"find, with code", `{"find": "c", "filter": {"$where": {"$code": "this.n > 1"}}, "limit": 1, "projection": {"_id": 1}}`, `"firstBatch": [{"_id": {"$numberInt":"2"}}]`},
		{"find, sorted and skipped", `{"find": "c", "filter": {"$where": "this.n > 1"}, "sort": {"_id": -1}, "skip": 1, "projection": {"_id": 1}}`, `"firstBatch": [{"_id": {"$numberInt":"2"}}]`},
		{"find, with another condition", `{"find": "c", "filter": {"_id": 3, "$where": "this.n > 1"}, "projection": {"_id": 1}}`, `"firstBatch": [{"_id": {"$numberInt":"3"}}]`},
		{"find, one of several conditions", `{"find": "c", "filter": {"$or": [{"_id": 1}, {"$where": "this.n > 1"}]}, "projection": {"_id": 1}}`, `[{"_id": {"$numberInt":"1"}},{"_id": {"$numberInt":"2"}},{"_id": {"$numberInt":"3"}}]`},
		{"count", `{"count": "c", "query": {"$where": "this.n > 1"}}`, `"n": {"$numberInt":"2"}`},
		{"distinct", `{"distinct": "c", "key": "n", "query": {"$where": "this.n > 1"}}`, `"values": [{"$numberInt":"2"},{"$numberInt":"3"}]`},
		{"a collection that does not exist", `{"find": "other", "filter": {"$where": "nonsense"}}`, `"firstBatch": []`},
		{"an error of the code", `{"find": "c", "filter": {"$where": "nonsense"}}`, `caused by :: ReferenceError: nonsense is not defined`},
		{"a number as code", `{"find": "c", "filter": {"$where": 1}}`, `(BadValue 2) $where got bad type`},
		{"on an element of an array", `{"find": "c", "filter": {"a": {"$elemMatch": {"$where": "this.n > 1"}}}}`, `$where can only be applied to the top-level document`},
		{"more time than maxTimeMS", `{"find": "c", "filter": {"$where": "sleep(2000) || true"}, "maxTimeMS": 100}`, `(MaxTimeMSExpired 50)`},
		{"in $match", `{"aggregate": "c", "pipeline": [{"$match": {"$where": "this.n > 1"}}], "cursor": {}}`, `$where is not allowed in this context`},
		{"an update", `{"update": "c", "updates": [{"q": {"$where": "this.n > 1"}, "u": {"$set": {"n": 0}}, "multi": true}]}`, `"nModified": {"$numberInt":"2"}`},
		{"an update of what an earlier statement changed", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 7}}}, {"q": {"$where": "this.n > 1"}, "u": {"$inc": {"n": 1}}, "multi": true}]}`, `"nModified": {"$numberInt":"4"}`},
		{"an update that inserts", `{"update": "c", "updates": [{"q": {"_id": 9, "$where": "this.n > 1"}, "u": {"$set": {"n": 0}}, "upsert": true}]}`, `"upserted": [{"index": {"$numberInt":"0"},"_id": {"$numberInt":"9"}}]`},
		{"an update whose code has an error", `{"update": "c", "updates": [{"q": {"$where": "nonsense"}, "u": {"$set": {"n": 0}}}]}`, `ReferenceError: nonsense is not defined`},
		{"a delete", `{"delete": "c", "deletes": [{"q": {"$where": "this.n > 1"}, "limit": 1}]}`, `"n": {"$numberInt":"1"}`},
		{"findAndModify", `{"findAndModify": "c", "query": {"$where": "this.n > 1"}, "sort": {"_id": -1}, "update": {"$set": {"n": 0}}}`, `"value": {"_id": {"$numberInt":"3"},"n": {"$numberInt":"3"}}`},
		{"in a transaction", `{"find": "c", "filter": {"$where": "this.n > 2"}, "projection": {"_id": 1}, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false}`, `"firstBatch": [{"_id": {"$numberInt":"3"}}]`},
		{"an update in a transaction", `{"update": "c", "updates": [{"q": {"_id": 1}, "u": {"$set": {"n": 7}}}, {"q": {"$where": "this.n > 1"}, "u": {"$inc": {"n": 1}}, "multi": true}], "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false}`, `"nModified": {"$numberInt":"4"}`},
		{"a syntax error", `{"find": "c", "filter": {"$where": "("}}`, `(JSInterpreterFailure 139) SyntaxError`},
		{"code with a scope", `{"find": "c", "filter": {"$where": {"$code": "1", "$scope": {}}}}`, `no longer supports deprecated BSON type CodeWScope`},
		{"in the filter of listCollections", `{"listCollections": 1, "filter": {"$where": "1"}}`, `$where is not allowed in this context`},
		// The examples of https://www.mongodb.com/docs/manual/reference/operator/query/where/.
		{"a function that compares with this", `{"count": "c", "query": {"$where": "function() { return (hex(this.n) == \"2\"); function hex(n) { return String(n) } }"}}`, `"n": {"$numberInt":"1"}`},
		{"obj is this", `{"count": "c", "query": {"$where": "obj.n == this.n && obj._id == 2"}}`, `"n": {"$numberInt":"1"}`},
		{"$function in $expr", `{"find": "c", "filter": {"$expr": {"$function": {"body": "function(n) { return n == 2 }", "args": ["$n"], "lang": "js"}}}, "projection": {"_id": 1}}`, `"firstBatch": [{"_id": {"$numberInt":"2"}}]`},
		// https://www.mongodb.com/docs/manual/reference/operator/aggregation/function/
		{"$function in $addFields", `{"aggregate": "c", "pipeline": [{"$match": {"_id": 1}}, {"$addFields": {"twice": {"$function": {"body": "function(n, s) { return s + n * 2 }", "args": ["$n", "is "], "lang": "js"}}}}], "cursor": {}}`, `"twice": "is 2"`},
		{"$function with code", `{"aggregate": "c", "pipeline": [{"$match": {"_id": 1}}, {"$project": {"r": {"$function": {"body": {"$code": "function() { return {a: [NumberInt(1)]} }"}, "args": [], "lang": "js"}}}}], "cursor": {}}`, `"r": {"a": [{"$numberInt":"1"}]}`},
		{"$function with arguments that are no array", `{"aggregate": "c", "pipeline": [{"$project": {"r": {"$function": {"body": "function() {}", "args": "$n", "lang": "js"}}}}], "cursor": {}}`, `The args field must be of type array`},
		{"$function that throws", `{"aggregate": "c", "pipeline": [{"$project": {"r": {"$function": {"body": "function() { throw new Error('no') }", "args": [], "lang": "js"}}}}], "cursor": {}}`, `Error: no`},
		{"$function with too little time", `{"aggregate": "c", "pipeline": [{"$project": {"r": {"$function": {"body": "function() { for (;;) sleep(10) }", "args": [], "lang": "js"}}}}], "cursor": {}, "maxTimeMS": 100}`, `(MaxTimeMSExpired 50)`},
		{"$function in an update", `{"update": "c", "updates": [{"q": {}, "u": [{"$set": {"n": {"$function": {"body": "function(n) { sleep(5); return n > 1 ? 0 : n }", "args": ["$n"], "lang": "js"}}}}], "multi": true}]}`, `"nModified": {"$numberInt":"3"}`},
		// https://www.mongodb.com/docs/manual/reference/operator/aggregation/accumulator/: the average, with and without the group's _id.
		{"$accumulator", `{"aggregate": "c", "pipeline": [{"$group": {"_id": null, "r": {"$accumulator": {"init": "function() { return {count: 0, sum: 0} }", "accumulate": "function(state, n) { return {count: state.count + 1, sum: state.sum + n} }", "accumulateArgs": ["$n"], "merge": "function(a, b) { return {count: a.count + b.count, sum: a.sum + b.sum} }", "finalize": "function(state) { return state.sum / state.count }", "lang": "js"}}}}], "cursor": {}}`, `"r": {"$numberDouble":"2.0"}`},
		{"$accumulator with initArgs from the group", `{"aggregate": "c", "pipeline": [{"$group": {"_id": {"odd": {"$mod": ["$n", 2]}}, "r": {"$accumulator": {"init": "function(odd, max) { return {max: odd ? max : 1, list: []} }", "initArgs": ["$odd", 3], "accumulate": "function(state, n) { if (state.list.length < state.max) state.list.push(n); return state }", "accumulateArgs": ["$n"], "merge": "function(a, b) { return a }", "finalize": "function(state) { return state.list }", "lang": "js"}}}}, {"$sort": {"_id": 1}}], "cursor": {}}`, `"r": [{"$numberDouble":"1.0"},{"$numberDouble":"3.0"}]`},
		{"$accumulator without finalize", `{"aggregate": "c", "pipeline": [{"$group": {"_id": null, "r": {"$accumulator": {"init": "function() { return [] }", "accumulate": "function(a, n) { return a.concat([n]) }", "accumulateArgs": ["$none"], "merge": "function(a, b) { return a }"}}}}], "cursor": {}}`, `"r": [null,null,null]`},
		{"$accumulator with initArgs that are no array", `{"aggregate": "c", "pipeline": [{"$group": {"_id": 1, "r": {"$accumulator": {"init": "function() {}", "initArgs": {"$const": 5}, "accumulate": "function() {}", "accumulateArgs": [], "merge": "function() {}", "lang": "js"}}}}], "cursor": {}}`, `$accumulator initArgs must evaluate to an array: 5`},
		{"$accumulator with accumulateArgs that are no array", `{"aggregate": "c", "pipeline": [{"$group": {"_id": 1, "r": {"$accumulator": {"init": "function() {}", "accumulate": "function() {}", "accumulateArgs": "$n", "merge": "function() {}", "lang": "js"}}}}], "cursor": {}}`, `$accumulator accumulateArgs must evaluate to an array: 1`},
		{"$accumulator in $bucketAuto with arguments of the group", `{"aggregate": "c", "pipeline": [{"$bucketAuto": {"groupBy": "$n", "buckets": 2, "output": {"r": {"$accumulator": {"init": "function() {}", "initArgs": ["$n"], "accumulate": "function() {}", "accumulateArgs": [], "merge": "function() {}"}}}}}], "cursor": {}}`, `Can't refer to the group key in $bucketAuto`},
		{"$accumulator in $bucket", `{"aggregate": "c", "pipeline": [{"$bucket": {"groupBy": "$n", "boundaries": [0, 5], "output": {"r": {"$accumulator": {"init": "function() { return 0 }", "accumulate": "function(a, n) { return a + n }", "accumulateArgs": ["$n"], "merge": "function() {}"}}}}}], "cursor": {}}`, `"r": {"$numberDouble":"6.0"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
				for n := 1; n <= 3; n++ {
					if err := rs.Insert("db.c", j(`{"_id": %d, "n": %d}`, n, n)); err != nil {
						t.Fatal(err)
					}
				}
				reply, err := rs.Command(0, "db", document(t, c.command))
				text := reply.String()
				if err != nil {
					text += err.Error()
				}
				if !strings.Contains(text, c.reply) {
					t.Errorf("the reply is %s, want %s", text, c.reply)
				}
			})
		})
	}
}

// The first document is enough, so it takes two seconds. Meanwhile the server answers others.
func TestAServerAnswersOtherCommandsWhileAScriptRuns(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		if err := rs.Insert("db.c", j(`{"_id": 1}`), j(`{"_id": 2}`)); err != nil {
			t.Fatal(err)
		}
		c := connect(t, rs).Database("db").Collection("c")
		start, done := time.Now(), make(chan error)
		go func() { done <- c.FindOne(t.Context(), j(`{"$where": "sleep(2000) || true"}`)).Err() }()
		pass(time.Second)
		if _, err := c.InsertOne(t.Context(), j(`{"_id": 3}`)); err != nil || time.Since(start) > 1100*time.Millisecond {
			t.Errorf("the insert took %v: %v", time.Since(start), err)
		}
		if err := <-done; err != nil || time.Since(start) < 2*time.Second {
			t.Errorf("the find took %v: %v", time.Since(start), err)
		}
	})
}

func TestATailableCursorRunsScripts(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	if _, err := rs.Command(0, "db", j(`{"create": "c", "capped": true, "size": 10000}`)); err != nil {
		t.Fatal(err)
	}
	if err := rs.Insert("db.c", j(`{"_id": 1}`), j(`{"_id": 2}`)); err != nil {
		t.Fatal(err)
	}
	reply, err := rs.Command(0, "db", j(`{"find": "c", "filter": {"$where": "this._id > 1"}, "tailable": true}`))
	if err != nil || !strings.Contains(reply.String(), `"firstBatch": [{"_id": {"$numberInt":"2"}}]`) {
		t.Errorf("the reply is %s, %v", reply, err)
	}
}

func TestAScriptEndsWithItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		if err := rs.Insert("db.c", j(`{"_id": 1}`)); err != nil {
			t.Fatal(err)
		}
		c := connect(t, rs).Database("db").Collection("c")
		start, done := time.Now(), make(chan error)
		go func() { done <- c.FindOne(t.Context(), j(`{"$where": "for (;;) sleep(1000)"}`)).Err() }()
		pass(time.Second)
		rs.Kill(0)
		pass(time.Second)
		if busy := rs.Counters(0).Current; busy != 0 || time.Since(start) > 5*time.Second {
			t.Errorf("after %v there are %d connections", time.Since(start), busy)
		}
		rs.Restart(0)
		pass(time.Minute)
		rs.Close()
		<-done
	})
}
