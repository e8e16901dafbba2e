package mongotest_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The limits are those of the specification of the handshake.
func TestTheMetadataOfAClientAreLimited(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	client := func(app string, size int) bson.D {
		of := func(filler string) bson.D {
			return bson.D{
				{Key: "application", Value: bson.D{{Key: "name", Value: app}}},
				{Key: "driver", Value: bson.D{{Key: "name", Value: "d"}, {Key: "version", Value: "1"}}},
				{Key: "os", Value: bson.D{{Key: "type", Value: "t"}}},
				{Key: "platform", Value: filler},
			}
		}
		b, err := bson.Marshal(of(""))
		if err != nil {
			t.Fatal(err)
		}
		return of(strings.Repeat("x", size-len(b)))
	}
	for _, test := range []struct {
		name   string
		client bson.D
		want   int64
	}{
		{"a document of 512 bytes", client("a", 512), -1},
		{"a document of 513 bytes", client("a", 513), 185},
		{"a name of 128 bytes", client(strings.Repeat("a", 128), 400), -1},
		{"a name of 129 bytes", client(strings.Repeat("a", 129), 400), 184},
	} {
		c := dial(t, rs, 0)
		c.send(0, bson.D{{Key: "hello", Value: 1}, {Key: "client", Value: test.client}, {Key: "$db", Value: "admin"}})
		_, m, err := c.receive()
		if err != nil {
			t.Fatal(err)
		}
		if got := number(m.Body, "code"); got != test.want {
			t.Errorf("%s: the error is %d, want %d: %v", test.name, got, test.want, m.Body)
		}
	}
}

// The rule is that of the specification of maximum staleness; the codes are those that a real server answers.
func TestAMaximumStalenessUnder90SecondsIsRefused(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	const find = `{"find": "c", "$readPreference": {"mode": "primaryPreferred", "maxStalenessSeconds": %d}, "$db": "db"}`
	for seconds, want := range map[int]int64{89: 160, 1: 160, 90: -1, 0: -1, -1: 2} {
		for name, client := range map[string]*rawClient{"a mongos": front(t, rs, 0), "a member": dial(t, rs, 0)} {
			if got := number(client.run(find, seconds), "code"); got != want {
				t.Errorf("%s answers %d seconds with the error %d, want %d", name, seconds, got, want)
			}
		}
	}
}

// TestWhatARealServerIgnoresInHello has rules that a standalone server showed: hello takes any $readPreference.
func TestWhatARealServerIgnoresInHello(t *testing.T) {
	client := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	for _, preference := range []string{`1`, `{"mode": "x"}`, `{"mode": "primary", "hedge": {}}`} {
		client.ok(`{"hello": 1, "$readPreference": %s, "$db": "db"}`, preference)
	}
}

// TestATagSetThatIsNoneMatchesNobody checks that a mongos reads the member of the next tag set.
func TestATagSetThatIsNoneMatchesNobody(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 1, mongotest.InMemory())
	front(t, rs, 0).ok(`{"find": "c", "$readPreference": {"mode": "nearest", "tags": ["x", {}]}, "$db": "db"}`)
	reply := front(t, rs, 0).run(`{"find": "c", "$readPreference": {"mode": "nearest", "tags": ["x"]}, "maxTimeMS": 1, "$db": "db"}`)
	if number(reply, "ok") == 1 {
		t.Errorf("a mongos read for a tag set that is none: %s", reply)
	}
}
