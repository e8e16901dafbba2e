package mongotest_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// streamed reads the replies to one message, and checks that each answers the one before it.
func streamed(t *testing.T, c *rawClient, most int) []bson.Raw {
	t.Helper()
	var replies []bson.Raw
	to := c.id
	for len(replies) < most {
		h, m, err := c.receive()
		if err != nil {
			t.Fatal(err)
		}
		if h.ResponseTo != to {
			t.Errorf("reply %d is to message %d, want %d", len(replies), h.ResponseTo, to)
		}
		to = h.RequestID
		replies = append(replies, m.Body)
		if m.Flags&wire.MoreToCome == 0 {
			break
		}
	}
	return replies
}

func openCursor(c *rawClient) int64 {
	c.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}, {"_id": 5}], "$db": "db"}`)
	return number(c.ok(`{"find": "c", "batchSize": 1, "$db": "db"}`), "cursor", "id")
}

// The rule is that of the specification OP_MSG.
func TestAnExhaustGetMoreStreamsTheBatches(t *testing.T) {
	for _, test := range []struct {
		name    string
		version string
		flags   wire.MsgFlags
		want    []string // the _id of the batches
	}{
		{"with exhaustAllowed", "8.0", wire.ExhaustAllowed, []string{"2", "3", "4", "5", ""}},
		{"without", "8.0", 0, []string{"2"}},
		{"before 4.2", "4.0", wire.ExhaustAllowed, []string{"2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version(test.version))
			c := dial(t, rs, 0)
			id := openCursor(c)
			c.send(test.flags, j(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "db"}`, id))
			replies := streamed(t, c, 10)
			var got []string
			for _, r := range replies {
				one := ""
				if n := number(r, "cursor", "nextBatch", "0", "_id"); n >= 0 {
					one = fmt.Sprint(n)
				}
				got = append(got, one)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("the batches have %q, want %q", got, test.want)
			}
			last := number(replies[len(replies)-1], "cursor", "id")
			if streams := len(test.want) > 1; streams != (last == 0) {
				t.Errorf("the last reply has the cursor %d", last)
			}
			c.ok(`{"ping": 1, "$db": "db"}`)
		})
	}
}

func TestAMongosAnswersAnExhaustGetMoreOnce(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	c := front(t, rs, 0)
	id := openCursor(c)
	c.send(wire.ExhaustAllowed, j(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "db"}`, id))
	if got := len(streamed(t, c, 10)); got != 1 {
		t.Errorf("there are %d replies, want 1", got)
	}
}

func TestAStreamOfBatchesEndsWithTheErrorOfOne(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	id := openCursor(c)
	c.ok(`{"configureFailPoint": "failCommand", "mode": {"skip": 2}, "data": {"failCommands": ["getMore"], "errorCode": 91}, "$db": "admin"}`)
	c.send(wire.ExhaustAllowed, j(`{"getMore": {"$numberLong": "%d"}, "collection": "c", "batchSize": 1, "$db": "db"}`, id))
	replies := streamed(t, c, 10)
	if len(replies) != 3 || number(replies[2], "code") != 91 {
		t.Errorf("the replies are %v", replies)
	}
}

func TestAStreamOfAChangeStreamEndsWhenItsCursorIsKilled(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c, other := dial(t, rs, 0), dial(t, rs, 0)
	for _, test := range []struct{ name, db, ns, open string }{
		{"of a collection", "db", "c", `{"aggregate": "c", "pipeline": [{"$changeStream": {}}], "cursor": {}, "$db": "db"}`},
		{"of a database", "db", "$cmd.aggregate", `{"aggregate": 1, "pipeline": [{"$changeStream": {}}], "cursor": {}, "$db": "db"}`},
		{
			"of the client", "admin", "$cmd.aggregate",
			`{"aggregate": 1, "pipeline": [{"$changeStream": {"allChangesForCluster": true}}], "cursor": {}, "$db": "admin"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := number(c.ok("%s", test.open), "cursor", "id")
			c.send(wire.ExhaustAllowed, j(`{"getMore": {"$numberLong": "%d"}, "collection": "%s", "maxTimeMS": 10000, "$db": "%s"}`, id, test.ns, test.db))
			other.ok(`{"insert": "c", "documents": [{}], "$db": "db"}`)
			if got := streamed(t, c, 1)[0]; got.Lookup("cursor", "nextBatch", "0", "operationType").StringValue() != "insert" {
				t.Errorf("the first batch is %v", got)
			}
			killed := other.ok(`{"killCursors": "%s", "cursors": [{"$numberLong": "%d"}], "$db": "%s"}`, test.ns, id, test.db)
			if number(killed, "cursorsKilled", "0") != id {
				t.Errorf("killCursors is answered %v", killed)
			}
			_, m, err := c.receive()
			if err != nil || m.Flags&wire.MoreToCome != 0 || number(m.Body, "code") != 237 && number(m.Body, "code") != 43 {
				t.Errorf("the last reply is %v, %v", m.Body, err)
			}
		})
	}
}
