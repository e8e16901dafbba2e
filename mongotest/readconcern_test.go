package mongotest_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// stamp writes a reply's timestamp as a command has it, moved by some seconds.
func stamp(reply bson.Raw, seconds uint32, path ...string) string {
	t, i := reply.Lookup(path...).Timestamp()
	return fmt.Sprintf(`{"$timestamp": {"t": %d, "i": %d}}`, t+seconds, i)
}

const insertOne = `{"insert": "c", "documents": [{"_id": 1}], "writeConcern": {"w": 1}, "$db": "test"}`

func TestAReadOfAMajorityWaitsForWhatItIsToSee(t *testing.T) {
	for _, level := range []string{"majority", "snapshot"} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			c := dial(t, rs, 0)
			after := stamp(c.ok(insertOne), 0, "operationTime")
			began := time.Now()
			reply := c.ok(`{"find": "c", "readConcern": {"level": "%s", "afterClusterTime": %s}, "$db": "test"}`, level, after)
			if n := length(reply); n != 1 || time.Since(began) != 700*time.Millisecond {
				t.Errorf("%s: %d documents after %v, want 1 after 700ms", level, n, time.Since(began))
			}
		}, mongotest.ReplicationDelay(700*time.Millisecond))
	}
}

func TestASnapshotWaitsForItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		at := stamp(c.ok(insertOne), 0, "operationTime")
		rs.Isolate(1)
		rs.Isolate(2)
		reply := c.run(`{"find": "c", "readConcern": {"level": "snapshot", "atClusterTime": %s}, "maxTimeMS": 200, "$db": "test"}`, at)
		if number(reply, "code") != 50 {
			t.Errorf("without a majority it is answered %v, want 50", reply)
		}
	}, mongotest.ReplicationDelay(time.Second))
}

func TestAReadOfAMajorityTellsItsTime(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		written := c.ok(insertOne)
		for level, want := range map[string]bool{"local": true, "majority": false} {
			reply := c.ok(`{"find": "c", "readConcern": {"level": "%s"}, "$db": "test"}`, level)
			if got := reply.Lookup("operationTime").Equal(written.Lookup("operationTime")); got != want {
				t.Errorf("%s: that the operationTime is that of the newest entry is %v, want %v", level, got, want)
			}
		}
	}, mongotest.ReplicationDelay(time.Second))
}

func TestTimesThatNobodyKnowsOf(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		written := c.ok(insertOne)
		later, never := stamp(written, 5, "operationTime"), stamp(written, 10, "operationTime")
		heard := fmt.Sprintf(`"$clusterTime": {"clusterTime": %s}`, later)
		c.ok(`{"ping": 1, %s, "$db": "admin"}`, heard)
		for i := range 2 {
			reply := dial(t, rs, i).ok(`{"find": "c", "readConcern": {"afterClusterTime": %s}, "$readPreference": {"mode": "nearest"}, "$db": "test"}`, later)
			if length(reply) != 1 || stamp(reply, 0, "$clusterTime", "clusterTime") < later {
				t.Errorf("member %d answers a time that a client told it with %v", i, reply)
			}
			reply = dial(t, rs, i).run(`{"find": "c", "readConcern": {"afterClusterTime": %s}, "$readPreference": {"mode": "nearest"}, "$db": "test"}`, never)
			if number(reply, "code") != 72 {
				t.Errorf("member %d answers a time that nobody told it with %v, want 72", i, reply)
			}
		}
		far := stamp(written, 2*365*24*3600, "operationTime")
		if reply := c.run(`{"ping": 1, "$clusterTime": {"clusterTime": %s}, "$db": "admin"}`, far); number(reply, "code") != 209 {
			t.Errorf("a time in two years is answered %v, want 209", reply)
		}
	})
}

// length returns how many documents the first batch has.
func length(reply bson.Raw) int {
	values, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	return len(values)
}
