package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// front connects to a mongos.
func front(t *testing.T, rs *mongotest.Deployment, mongos int) *rawClient {
	t.Helper()
	return dialAt(t, rs.Dialer().DialContext, rs.MongosAddr(mongos))
}

func TestHelloOfAMongos(t *testing.T) {
	bubbleSharded(t, 2, func(t *testing.T, rs *mongotest.Deployment) {
		hello := front(t, rs, 0).ok(`{"hello": 1, "$db": "admin"}`)
		if hello.Lookup("msg").StringValue() != "isdbgrid" || !hello.Lookup("isWritablePrimary").Boolean() ||
			hello.Lookup("topologyVersion").Type != bson.TypeEmbeddedDocument {
			t.Errorf("the hello is %v", hello)
		}
		for _, name := range []string{"setName", "hosts", "secondary", "me", "electionId", "lastWrite"} {
			if _, err := hello.LookupErr(name); err == nil {
				t.Errorf("the hello has %s", name)
			}
		}
		if want := "mongodb://" + rs.MongosAddr(0) + "," + rs.MongosAddr(1) + "/"; rs.URI() != want || rs.Mongos() != 2 {
			t.Errorf("the URI is %s, want %s", rs.URI(), want)
		}
	})
}

func TestCommandsOfAMongos(t *testing.T) {
	bubbleSharded(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
		for _, test := range []struct{ command, has string }{
			{`{"replSetGetStatus": 1, "$db": "admin"}`, `"errmsg": "no such command: 'replSetGetStatus'","code": {"$numberInt":"59"}`},
			{`{"replSetStepDown": 1, "$db": "admin"}`, `{"$numberInt":"59"}`},
			{`{"isdbgrid": 1, "$db": "admin"}`, `"isdbgrid": {"$numberInt":"1"}`},
			{`{"listShards": 1, "$db": "admin"}`, `"shards": [{"_id": "rs0","host": "rs0/` + rs.Addr(0)},
			{`{"find": "shards", "$db": "config"}`, `"_id": "rs0","host": "rs0/` + rs.Addr(0)},
			{`{"getShardMap": 1, "$db": "admin"}`, `"map": {"rs0": "rs0/` + rs.Addr(0)},
			{`{"balancerStop": 1, "$db": "admin"}`, `"ok": {"$numberDouble":"1.0"}`},
			{`{"listShards": 1, "$db": "test"}`, `"codeName": "Unauthorized"`},
			{`{"enableSharding": "test", "$db": "admin"}`, `"ok": {"$numberDouble":"1.0"}`},
			{`{"find": "databases", "$db": "config"}`, `"_id": "test","partitioned": true,"primary": "rs0"`},
			{`{"shardCollection": "test.c", "key": {"a": 1, "b": 1}, "unique": true, "$db": "admin"}`, `"collectionsharded": "test.c"`},
			{`{"listIndexes": "c", "$db": "test"}`, `"name": "a_1_b_1","unique": true`},
			{`{"find": "collections", "$db": "config"}`, `"_id": "test.c","key": {"a": {"$numberInt":"1"},"b": {"$numberInt":"1"}},"unique": true`},
			{`{"shardCollection": "test.d", "$db": "admin"}`, `"errmsg": "BSON field 'shardCollection.key' is missing`},
			{`{"shardCollection": "test.d", "key": {"a": -1}, "$db": "admin"}`, `"errmsg": "Unsupported shard key pattern`},
			{`{"serverStatus": 1, "$db": "admin"}`, `"process": "mongos"`},
			{`{"getParameter": 1, "quiet": 1, "$db": "admin"}`, `"quiet": false`},
			{`{"getCmdLineOpts": 1, "$db": "admin"}`, `"argv": ["mongos"`},
			{`{"startSession": 1, "$db": "admin"}`, `"timeoutMinutes"`},
			{`{"killAllSessions": [], "$db": "admin"}`, `"ok": {"$numberDouble":"1.0"}`},
			{`{"aggregate": "shards", "pipeline": [{"$count": "n"}], "cursor": {}, "$readPreference": {"mode": "secondary"}, "$db": "config"}`, `"n": {"$numberInt":"1"}`},
			{`{"count": "shards", "$db": "config"}`, `"n": {"$numberInt":"1"}`},
			{`{"buildInfo": 1, "$db": "admin"}`, `"version": "7.0.25"`},
		} {
			if got := front(t, rs, 0).run("%s", test.command).String(); !strings.Contains(got, test.has) {
				t.Errorf("%s\ngot  %s\nwant %s", test.command, got, test.has)
			}
		}
		if got := dial(t, rs, 0).run(`{"listShards": 1, "$db": "admin"}`); number(got, "code") != 59 {
			t.Errorf("a member lists shards: %v", got)
		}
	})
}

func TestWhereAMongosSendsACommand(t *testing.T) {
	for _, test := range []struct {
		rule, preference string
		kill             []int
		want             string // the members that answer four reads; "none"
	}{
		{"none: the primary", ``, nil, "0"},
		{"primary", `, "$readPreference": {"mode": "primary"}`, nil, "0"},
		{"primary, without one", `, "$readPreference": {"mode": "primary"}`, []int{0, 1}, "none"},
		{"primaryPreferred", `, "$readPreference": {"mode": "primaryPreferred"}`, nil, "0"},
		{"primaryPreferred, without one", `, "$readPreference": {"mode": "primaryPreferred"}`, []int{0, 1}, "2"},
		{"secondary: each in its turn", `, "$readPreference": {"mode": "secondary"}`, nil, "1 2"},
		{"secondary, with tags", `, "$readPreference": {"mode": "secondary", "tags": [{"dc": "b"}]}`, nil, "2"},
		{"secondary, with a tag that nobody has", `, "$readPreference": {"mode": "secondary", "tags": [{"dc": "x"}]}`, nil, "none"},
		{"secondary, with a tag that nobody has, or any", `, "$readPreference": {"mode": "secondary", "tags": [{"dc": "x"}, {}]}`, nil, "1 2"},
		{"secondaryPreferred, without one", `, "$readPreference": {"mode": "secondaryPreferred"}`, []int{1, 2}, "0"},
		{"nearest", `, "$readPreference": {"mode": "nearest"}`, nil, "0 1 2"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubbleSharded(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
				c := front(t, rs, 0)
				for _, m := range test.kill {
					rs.Kill(m)
				}
				seen, began := make(map[int]bool), time.Now()
				for range 4 {
					reply := c.run(`{"find": "c", "$db": "test"%s}`, test.preference)
					if test.want == "none" && number(reply, "code") == 133 && time.Since(began) == 15*time.Second {
						return
					}
				}
				for _, e := range rs.Journal() {
					seen[e.Member] = true
				}
				var got []string
				for m := range 3 {
					if seen[m] {
						got = append(got, fmt.Sprint(m))
					}
				}
				if strings.Join(got, " ") != test.want {
					t.Errorf("answered by %v, want %s", got, test.want)
				}
			}, mongotest.ElectionTimeout(time.Minute), mongotest.Member(2, mongotest.Tags(map[string]string{"dc": "b"})))
		})
	}
}

func TestAMongosRepeatsWhatIsSafe(t *testing.T) {
	plain := inc + `}`
	find := `{"find": "c", "$db": "test"}`
	for _, test := range []struct {
		rule, command string
		after         bool // the primary dies after it was applied, else before
		code          int64
		n             int64
	}{
		{"a retryable write, applied or not", retryable(1, ""), true, -1, 1},
		{"a retryable write that was not applied", retryable(1, ""), false, -1, 1},
		{"another write is not repeated", plain, true, 6, -1},
		{"a read", find, false, -1, -1},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubbleSharded(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
				kill := func() { rs.Kill(0) }
				if test.after {
					rs.Use("update", mongotest.FaultOnce(mongotest.Fault{AfterApply: func() { time.AfterFunc(time.Millisecond, kill) }}))
					rs.SetLag(1, time.Second)
					rs.SetLag(2, time.Second)
				} else {
					kill()
				}
				reply := front(t, rs, 0).run("%s", test.command)
				if number(reply, "code") != test.code || reply.Lookup("topologyVersion").Type != 0 {
					t.Errorf("the reply is %v, want code %d", reply, test.code)
				}
				must[int](t)(rs.WaitPrimary(context.Background()))
				if n := lastN(rs); test.n >= 0 && n != test.n {
					t.Errorf("n = %d, want %d", n, test.n)
				}
			}, mongotest.ElectionTimeout(time.Second))
		})
	}
}

func TestCursorsOfAMongos(t *testing.T) {
	bubbleSharded(t, 2, func(t *testing.T, rs *mongotest.Deployment) {
		c, other := front(t, rs, 0), front(t, rs, 1)
		c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}], "writeConcern": {"w": 3}, "$db": "test"}`)
		open := func() int64 {
			return number(c.ok(`{"find": "c", "batchSize": 1, "$db": "test", "$readPreference": {"mode": "secondary"}}`), "cursor", "id")
		}
		more := `{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "test"}`
		id := open()
		if got := c.ok(more, id); number(got, "cursor", "nextBatch", "0", "_id") != 2 {
			t.Errorf("the second batch is %v", got)
		}
		if got := other.run(more, id); number(got, "code") != 43 {
			t.Errorf("through another mongos: %v", got)
		}
		kill := `{"killCursors": "c", "cursors": [{"$numberLong": "%d"}], "$db": "test"}`
		if got := other.ok(kill, id); number(got, "cursorsNotFound", "0") != id {
			t.Errorf("killed through another mongos: %v", got)
		}
		if got := c.ok(kill, id); number(got, "cursorsKilled", "0") != id {
			t.Errorf("killed: %v", got)
		}
		if got := c.run(more, id); number(got, "code") != 43 {
			t.Errorf("a killed cursor: %v", got)
		}
		id = open()
		rs.Kill(1)
		rs.Kill(2)
		if got := c.run(more, id); number(got, "code") != 43 {
			t.Errorf("after its member died: %v", got)
		}
		rs.Restart(1)
		rs.Restart(2)
		id = open()
		rs.KillMongos(0)
		rs.RestartMongos(0)
		if got := front(t, rs, 0).run(more, id); number(got, "code") != 43 {
			t.Errorf("after the mongos was restarted: %v", got)
		}
	})
}

func TestTheConnectionsOfAMongosAreDropped(t *testing.T) {
	bubbleSharded(t, 2, func(t *testing.T, rs *mongotest.Deployment) {
		dropped, other := front(t, rs, 0), front(t, rs, 1)
		dropped.ok(`{"ping": 1, "$db": "admin"}`)
		rs.DropMongosConnections(0)
		if _, _, err := dropped.receive(); err == nil {
			t.Error("the connection is open")
		}
		other.ok(`{"ping": 1, "$db": "admin"}`)
		front(t, rs, 0).ok(`{"ping": 1, "$db": "admin"}`)
	})
}

func TestFailPointsOfAMongosAreItsOwn(t *testing.T) {
	bubbleSharded(t, 2, func(t *testing.T, rs *mongotest.Deployment) {
		c := front(t, rs, 0)
		point := `{"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {"failCommands": ["find"], "errorCode": 91, "errorLabels": ["x"]}, "$db": "admin"}`
		c.ok("%s", point)
		if got := front(t, rs, 1).run(`{"find": "c", "$db": "test"}`); number(got, "ok") != 1 {
			t.Errorf("the other mongos answers %v", got)
		}
		if got := c.run(`{"find": "c", "$db": "test"}`); number(got, "code") != 91 || !labelled(got, "x") {
			t.Errorf("the mongos answers %v", got)
		}
		dial(t, rs, 0).ok("%s", point)
		if got := c.run(`{"find": "c", "$db": "test"}`); number(got, "ok") != 1 {
			t.Errorf("with the member's fail point the mongos answers %v", got)
		}
	})
}

func TestTransactionsThroughMongos(t *testing.T) {
	bubbleSharded(t, 2, func(t *testing.T, rs *mongotest.Deployment) {
		c, other := front(t, rs, 0), front(t, rs, 1)
		session := `"lsid": {"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}, "txnNumber": {"$numberLong": "1"}, "autocommit": false`
		begun := c.ok(`{"insert": "c", "documents": [{"_id": 1}], "startTransaction": true, %s, "$db": "test"}`, session)
		token := begun.Lookup("recoveryToken").String()
		if got := other.run(`{"find": "c", %s, "$db": "test"}`, session); number(got, "code") != 251 || !labelled(got, "TransientTransactionError") {
			t.Errorf("another mongos goes on with it: %v", got)
		}
		if got := other.run(`{"commitTransaction": 1, %s, "$db": "admin"}`, session); number(got, "code") != 251 {
			t.Errorf("another mongos commits it without its token: %v", got)
		}
		c.ok(`{"find": "c", %s, "$db": "test"}`, session)
		c.ok(`{"commitTransaction": 1, "recoveryToken": %s, %s, "$db": "admin"}`, token, session)
		outcome := `{"commitTransaction": 1, "recoveryToken": %s, %s, "$db": "admin"}`
		other.ok(outcome, token, session)
		if docs := rs.ReadAll("test.c"); len(docs) != 1 {
			t.Errorf("committed: %v", docs)
		}
		session = strings.Replace(session, `"1"`, `"2"`, 1)
		c.ok(`{"insert": "c", "documents": [{"_id": 2}], "startTransaction": true, %s, "$db": "test"}`, session)
		if got := other.run(outcome, token, session); number(got, "code") != 251 {
			t.Errorf("another mongos finds the outcome of what was not committed: %v", got)
		}
		if got := c.run(outcome, token, session); number(got, "code") != 251 {
			t.Errorf("what was recovered is committed after all: %v", got)
		}
	})
}

func TestTheOfficialDriverAndMongos(t *testing.T) {
	for name, opts := range map[string][]mongotest.Option{"tcp": nil, "memory": {mongotest.InMemory()}} {
		t.Run(name, func(t *testing.T) {
			rs := mongotest.RunShardedT(t, 3, 2, append(opts, mongotest.ElectionTimeout(200*time.Millisecond))...)
			ctx := within(t)
			coll := connect(t, rs).Database("test").Collection("c")
			for i := range 20 {
				if i == 10 {
					rs.Kill(rs.Primary())
				}
				must[any](t)(coll.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"n": 1}}, options.UpdateOne().SetUpsert(true)))
			}
			if n := lastN(rs); n != 20 {
				t.Errorf("n = %d, want 20", n)
			}
		})
	}
}

func TestAShardedClusterNeedsAnAddressForEachServer(t *testing.T) {
	_, err := mongotest.RunSharded(1, 1, mongotest.Listen("127.0.0.1:0"))
	if want := "mongotest: Listen: 1 addresses for 1 members and 1 mongos"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// TestDocumentKeysOfShardedCollections checks by what change streams name the documents of a sharded collection.
func TestDocumentKeysOfShardedCollections(t *testing.T) {
	for _, test := range []struct{ rule, key, command, want string }{
		{"the shard key, then _id", `{"k": 1}`, `{"insert": "c", "documents": [{"_id": 1, "k": 5}]}`, `{"k":5,"_id":1}`},
		{"in the order of the key", `{"b": 1, "a.x": 1}`, `{"insert": "c", "documents": [{"_id": 1, "a": {"x": 2}, "b": 3}]}`, `{"b":3,"a.x":2,"_id":1}`},
		{"_id once", `{"k": 1, "_id": 1, "l": 1}`, `{"insert": "c", "documents": [{"_id": 1, "l": 2, "k": 5}]}`, `{"k":5,"_id":1,"l":2}`},
		{"what a hashed key is of", `{"k": "hashed"}`, `{"insert": "c", "documents": [{"_id": 1, "k": 5}]}`, `{"k":5,"_id":1}`},
		{"without what the document has not", `{"k": 1, "a.x": 1}`, `{"insert": "c", "documents": [{"_id": 1, "a": 2}]}`, `{"_id":1}`},
		{"of an update, as it is then", `{"k": 1}`, `{"update": "c", "updates": [{"q": {"_id": 0}, "u": {"$set": {"k": 8}}}]}`, `{"k":8,"_id":0}`},
		{"of a replacement", `{"k": 1}`, `{"update": "c", "updates": [{"q": {"_id": 0}, "u": {"k": 8}}]}`, `{"k":8,"_id":0}`},
		{"of a delete, as it was", `{"k": 1}`, `{"delete": "c", "deletes": [{"q": {"_id": 0}, "limit": 1}]}`, `{"k":7,"_id":0}`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubbleSharded(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
				c := front(t, rs, 0)
				c.ok(`{"shardCollection": "db.c", "key": %s, "$db": "admin"}`, test.key)
				c.ok(`{"insert": "c", "documents": [{"_id": 0, "k": 7}], "$db": "db"}`)
				s, _ := watch(c, "db.c", `{}`)
				c.ok("%s", strings.TrimSuffix(test.command, "}")+`, "$db": "db"}`)
				key, err := bson.MarshalExtJSON(s.more()[0].Lookup("documentKey").Document(), false, false)
				if err != nil || string(key) != test.want {
					t.Errorf("the key is %s (%v), want %s", key, err, test.want)
				}
			})
		})
	}
}
