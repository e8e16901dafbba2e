package mongotest_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// fewScripts evaluates a few texts. It has no JavaScript engine.
func fewScripts(ctx context.Context, code string, document bson.Raw) (bool, error) {
	n, _ := document.Lookup("n").AsInt64OK()
	switch code {
	case "this.n > 1":
		return n > 1, nil
	case "sleep(2000) || true":
		select {
		case <-time.After(2 * time.Second):
			return true, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, errors.New("ReferenceError: " + code + " is not defined")
}

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
		{"an error of the code", `{"find": "c", "filter": {"$where": "nonsense"}}`, `(JSInterpreterFailure 139) ReferenceError: nonsense is not defined`},
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
		{"in a transaction", `{"find": "c", "filter": {"$where": "this.n > 1"}, "lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "startTransaction": true, "autocommit": false}`, `$where in a transaction is not supported`},
		{"with a collation", `{"find": "c", "filter": {"$where": "this.n > 1"}, "collation": {"locale": "en"}}`, `a collation with a filter with $where is not supported`},
		{"on a tailable cursor", `{"find": "c", "filter": {"$where": "this.n > 1"}, "tailable": true}`, `$where on a tailable cursor is not supported`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.JavaScript(fewScripts))
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

func TestWithoutAnEvaluatorWhereIsRefused(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	_, err := rs.Command(0, "db", j(`{"find": "c", "filter": {"$where": "true"}}`))
	if err == nil || !strings.Contains(err.Error(), "$where is not supported") {
		t.Errorf("the error is %v", err)
	}
}

// Two documents, so four seconds. Meanwhile the server answers others.
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
		if err := <-done; err != nil || time.Since(start) < 4*time.Second {
			t.Errorf("the find took %v: %v", time.Since(start), err)
		}
	}, mongotest.JavaScript(fewScripts))
}

func TestAScriptEndsWithItsConnection(t *testing.T) {
	var ended atomic.Int64
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		if err := rs.Insert("db.c", j(`{"_id": 1}`)); err != nil {
			t.Fatal(err)
		}
		c := connect(t, rs).Database("db").Collection("c")
		start, done := time.Now(), make(chan error)
		go func() { done <- c.FindOne(t.Context(), j(`{"$where": "for ever"}`)).Err() }()
		pass(time.Second)
		rs.Kill(0)
		pass(time.Second)
		if n := ended.Load(); n != 1 || time.Since(start) > 5*time.Second {
			t.Errorf("%d scripts ended in %v", n, time.Since(start))
		}
		rs.Restart(0)
		pass(time.Minute)
		rs.Close()
		<-done
	}, mongotest.JavaScript(func(ctx context.Context, _ string, _ bson.Raw) (bool, error) {
		<-ctx.Done()
		ended.Add(1)
		return false, ctx.Err()
	}))
}
