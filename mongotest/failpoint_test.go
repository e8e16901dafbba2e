package mongotest_test

import (
	"context"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The official driver retries an insert once; the fail point ends the connection each time that it acts.
func TestOnPrimaryTransactionalWrite(t *testing.T) {
	for _, c := range []struct {
		name, point string
		inserted    bool
		attempts    int
		applied     int // how many attempts were, before any was undone
	}{
		{"committed, and the answer lost", `"mode": {"times": 1}`, true, 2, 1},
		{"not committed at the first attempt", `"mode": {"times": 1}, "data": {"failBeforeCommitExceptionCode": 1}`, true, 2, 2},
		{"never committed", `"mode": {"times": 2}, "data": {"failBeforeCommitExceptionCode": 1}`, false, 2, 2},
		{"always, but there is nothing to write at the retry", `"mode": "alwaysOn"`, true, 2, 1},
		{"with no probability", `"mode": {"activationProbability": {"$numberDouble": "0.0"}}`, true, 1, 1},
		{"with all probability", `"mode": {"activationProbability": {"$numberDouble": "1.0"}}`, true, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
			client := connect(t, rs)
			ctx := within(t)
			coll := client.Database("db").Collection("c")
			must[*mongo.InsertOneResult](t)(coll.InsertOne(ctx, bson.D{{Key: "_id", Value: 0}}))
			dial(t, rs, 0).ok(`{"configureFailPoint": "onPrimaryTransactionalWrite", %s, "$db": "admin"}`, c.point)
			_, err := coll.InsertOne(context.Background(), bson.D{{Key: "_id", Value: 1}}) // with a deadline it retries until that
			if (err == nil) != c.inserted {
				t.Errorf("the insert's error is %v", err)
			}
			if err := rs.WaitIdle(ctx); err != nil {
				t.Fatal(err)
			}
			want := 1
			if c.inserted {
				want = 2
			}
			if n := len(rs.ReadAll("db.c")); n != want {
				t.Errorf("%d documents are there, want %d", n, want)
			}
			attempts, applied := 0, 0
			for _, e := range rs.Journal()[1:] {
				attempts++
				if e.Applied {
					applied++
				}
			}
			if attempts != c.attempts || applied != c.applied {
				t.Errorf("%d attempts, %d applied; want %d, %d", attempts, applied, c.attempts, c.applied)
			}
		})
	}
}

func TestFailGetMoreAfterCursorCheckout(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok(`{"insert": "c", "documents": [{}, {}, {}], "$db": "db"}`)
	id := number(c.ok(`{"find": "c", "batchSize": 1, "$db": "db"}`), "cursor", "id")
	c.ok(`{"configureFailPoint": "failGetMoreAfterCursorCheckout", "mode": {"times": 1}, "data": {"errorCode": 280}, "$db": "admin"}`)
	for i, want := range []int64{280, 43} { // then the cursor is gone
		if got := number(c.run(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, id), "code"); got != want {
			t.Errorf("getMore %d fails with %d, want %d", i, got, want)
		}
	}
}

func TestBadFailPointsAreRefused(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	for command, code := range map[string]int64{
		`{"configureFailPoint": "hangForEver", "mode": "alwaysOn", "$db": "admin"}`:                                          238,
		`{"configureFailPoint": "failCommand", "mode": "sometimes", "$db": "admin"}`:                                         2,
		`{"configureFailPoint": "failCommand", "mode": {"times": -1}, "$db": "admin"}`:                                       2,
		`{"configureFailPoint": "failCommand", "mode": {"activationProbability": 1}, "$db": "admin"}`:                        14,
		`{"configureFailPoint": "failCommand", "mode": {"activationProbability": {"$numberDouble": "1.5"}}, "$db": "admin"}`: 2,
		`{"configureFailPoint": "failCommand", "data": {"failCommands": ["find"]}, "$db": "admin"}`:                          20,
	} {
		if got := number(c.run("%s", command), "code"); got != code {
			t.Errorf("%s fails with %d, want %d", command, got, code)
		}
	}
}

func TestFailCommandNames(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok(`{"insert": "c", "documents": [{}, {}, {}], "$db": "db"}`)
	id := number(c.ok(`{"find": "c", "batchSize": 1, "$db": "db"}`), "cursor", "id")
	more := fmt.Sprintf(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "$db": "db"}`, id)
	for _, test := range []struct{ data, command string }{
		{`"failCommands": ["isMaster"]`, `{"ismaster": 1, "$db": "admin"}`},
		{`"failCommands": ["ismaster"]`, `{"isMaster": 1, "$db": "admin"}`},
		{`"failCommands": ["findAndModify"]`, `{"findandmodify": "c", "remove": true, "$db": "db"}`},
		{`"failCommands": ["find"], "namespace": "db.c"`, `{"find": "c", "$db": "db"}`},
		{`"failCommands": ["getMore"], "namespace": "db.c"`, more},
		{`"failCommands": ["find"], "errmsg": "x", "unknown": {}`, `{"find": "c", "$db": "db"}`},
	} {
		c.ok(`{"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {%s, "errorCode": 8}, "appName": "x", "$db": "admin"}`, test.data)
		if got := number(c.run("%s", test.command), "code"); got != 8 {
			t.Errorf("%s: %s fails with %d, want 8", test.data, test.command, got)
		}
	}
}

func TestAMongosLabelsNothingOfItsOwn(t *testing.T) {
	rs := mongotest.RunShardedT(t, 3, 1, mongotest.InMemory())
	front := front(t, rs, 0)
	for labels, want := range map[string]bool{``: false, `, "errorLabels": ["RetryableWriteError"]`: true} {
		front.ok(`{"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {"failCommands": ["update"], "errorCode": 10107%s}, `+
			`"$db": "admin"}`, labels)
		if reply := front.run("%s", retryable(1, "")); labelled(reply, "RetryableWriteError") != want {
			t.Errorf("with %q it answers %v", labels, reply)
		}
	}
}
