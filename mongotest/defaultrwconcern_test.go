package mongotest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// defaultsOf returns what getDefaultRWConcern answers, without the times.
func defaultsOf(t *testing.T, reply bson.Raw) string {
	t.Helper()
	var doc bson.D
	if err := bson.Unmarshal(reply, &doc); err != nil {
		t.Fatal(err)
	}
	doc = slices.DeleteFunc(doc, func(e bson.E) bool { return !strings.HasPrefix(e.Key, "default") })
	text := must[[]byte](t)(bson.MarshalExtJSON(doc, false, false))
	return string(text)
}

const majorityDefaults = `{"defaultReadConcern":{"level":"majority"},"defaultWriteConcern":{"w":"majority","wtimeout":0},` +
	`"defaultWriteConcernSource":"global","defaultReadConcernSource":"global"}`

func TestDefaultConcerns(t *testing.T) {
	const get = `{"getDefaultRWConcern": 1, "$db": "admin"}`
	for _, test := range []struct {
		rule    string
		set     []string // the fields of setDefaultRWConcern, one command after the other
		want    string
		options []mongotest.Option
	}{
		{
			"implicit ones", nil,
			`{"defaultReadConcern":{"level":"local"},"defaultWriteConcern":{"w":"majority","wtimeout":0},"defaultWriteConcernSource":"implicit","defaultReadConcernSource":"implicit"}`, nil,
		},
		{
			"no implicit write concern where it is w:1", nil,
			`{"defaultReadConcern":{"level":"local"},"defaultWriteConcernSource":"implicit","defaultReadConcernSource":"implicit"}`,
			[]mongotest.Option{mongotest.Member(2, mongotest.Arbiter())},
		},
		{"none before 5.0", nil, `{}`, []mongotest.Option{mongotest.Version("4.4")}},
		{"both", []string{`"defaultReadConcern": {"level": "majority"}, "defaultWriteConcern": {"w": "majority"}`}, majorityDefaults, nil},
		{"one after the other", []string{`"defaultReadConcern": {"level": "majority"}`, `"defaultWriteConcern": {"w": "majority"}`}, majorityDefaults, nil},
		{
			"a read concern may be unset",
			[]string{`"defaultReadConcern": {"level": "majority"}, "defaultWriteConcern": {"j": true, "wtimeout": 7}`, `"defaultReadConcern": {}`},
			`{"defaultReadConcern":{"level":"local"},"defaultWriteConcern":{"w":1,"j":true,"wtimeout":7},"defaultWriteConcernSource":"global","defaultReadConcernSource":"implicit"}`, nil,
		},
	} {
		t.Run(test.rule, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 3, append(test.options, mongotest.InMemory())...)
			c := dial(t, rs, 0)
			for _, fields := range test.set {
				set := c.ok(`{"setDefaultRWConcern": 1, %s, "writeConcern": {"w": 3}, "$db": "admin"}`, fields)
				if got := c.ok(get); defaultsOf(t, set) != defaultsOf(t, got) || number(got, "updateWallClockTime") != number(set, "updateWallClockTime") {
					t.Errorf("set is answered %v, get %v", set, got)
				}
			}
			for member := range 2 {
				if got := defaultsOf(t, dial(t, rs, member).ok(get)); got != test.want {
					t.Errorf("member %d has %s, want %s", member, got, test.want)
				}
			}
		})
	}
}

func TestRefusedDefaultConcerns(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c, other := dial(t, rs, 0), dial(t, rs, 1)
	old := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Version("4.2")), 0)
	alone := dial(t, mongotest.RunStandaloneT(t, mongotest.InMemory()), 0)
	c.ok(`{"setDefaultRWConcern": 1, "defaultWriteConcern": {"w": 2}, "$db": "admin"}`)
	for _, test := range []struct {
		rule   string
		c      *rawClient
		fields string
		code   int64
		text   string
	}{
		{"something is set", c, ``, 2, `At least one of the "defaultReadConcern" or "defaultWriteConcern" fields must be present`},
		{"no snapshot", c, `, "defaultReadConcern": {"level": "snapshot"}`, 2, "level: 'snapshot' is not suitable for the default read concern"},
		{"nor a time", c, `, "defaultReadConcern": {"afterClusterTime": {"$timestamp": {"t": 1, "i": 1}}}`, 2, "'afterClusterTime' is not suitable"},
		{"acknowledged", c, `, "defaultWriteConcern": {"w": 0}`, 2, "Unacknowledged write concern is not suitable for the default write concern"},
		{"by members that there are", c, `, "defaultWriteConcern": {"w": 4}`, 100, ""},
		{"and modes", c, `, "defaultWriteConcern": {"w": "x"}`, 79, ""},
		{"set once and for all", c, `, "defaultWriteConcern": {}`, 20, "The global default write concern cannot be unset once it is set."},
		{"known fields", c, `, "depth": 1`, 40415, "setDefaultRWConcern.depth"},
		{"at the primary", other, `, "defaultReadConcern": {}`, 10107, ""},
		{"of a set", alone, `, "defaultReadConcern": {}`, 51300, "'setDefaultRWConcern' is not supported on standalone nodes."},
		{"since 4.4", old, `, "defaultReadConcern": {}`, 59, ""},
	} {
		got := test.c.run(`{"setDefaultRWConcern": 1%s, "$db": "admin"}`, test.fields)
		if number(got, "code") != test.code || !strings.Contains(got.Lookup("errmsg").StringValue(), test.text) {
			t.Errorf("%s: %v, want %d with %q", test.rule, got, test.code, test.text)
		}
	}
	if got := c.run(`{"getDefaultRWConcern": 1, "$db": "test"}`); number(got, "code") != 13 {
		t.Errorf("in another database: %v", got)
	}
}

// TestWhatDefaultConcernsApplyTo cuts the primary off, so that a majority has nothing of what it writes.
func TestWhatDefaultConcernsApplyTo(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play(`- | PUT 1 1 | n 1
		        - | {"setDefaultRWConcern": 1, "defaultReadConcern": {"level": "majority"}, "defaultWriteConcern": {"w": 1}, "$db": "admin"} | ok`)
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		rs.Partition([]int{0})
		p.play(`-  | SET 1 2 | n 1
		        -  | FIND | 1:1
		        -  | {"find": "c", "readConcern": {"level": "local"}} | 1:2
		        A+ | FIND | 1:2
		        A  | SET 1 3 | n 1
		        A  | COMMIT | ok
		        -  | FIND | 1:1`)
		for concern, want := range map[string]int64{`{"w": 2, "wtimeout": 10}`: 64, `{"wtimeout": 10}`: -1, `{}`: -1} {
			reply := p.run("-", `{"insert": "c", "documents": [{}], "writeConcern": `+concern+`}`)
			if got := number(reply, "writeConcernError", "code"); got != want {
				t.Errorf("with %s the write concern error is %d, want %d", concern, got, want)
			}
		}
		p.play(`- | {"setDefaultRWConcern": 1, "defaultWriteConcern": {"w": 3, "wtimeout": 50}, "$db": "admin"} | ok`)
		began := time.Now()
		if got := number(p.run("-", expand("PUT 4 4")), "writeConcernError", "code"); got != 64 || time.Since(began) != 50*time.Millisecond {
			t.Errorf("the write concern error is %d after %v", got, time.Since(began))
		}
		rs.Heal()
		must[any](t)(nil, rs.WaitIdle(t.Context()))
		rs.Kill(0)
		next := dial(t, rs, must[int](t)(rs.WaitPrimary(t.Context())))
		if got := next.ok(`{"getDefaultRWConcern": 1, "$db": "admin"}`); number(got, "defaultWriteConcern", "w") != 3 {
			t.Errorf("the next primary has %v", got)
		}
	})
}

func TestDefaultConcernsOfAShardedCluster(t *testing.T) {
	rs := mongotest.RunShardedT(t, 3, 2, mongotest.InMemory())
	front(t, rs, 0).ok(`{"setDefaultRWConcern": 1, "defaultReadConcern": {"level": "majority"}, "defaultWriteConcern": {"w": "majority"}, "$db": "admin"}`)
	if got := defaultsOf(t, front(t, rs, 1).ok(`{"getDefaultRWConcern": 1, "$db": "admin"}`)); got != majorityDefaults {
		t.Errorf("another mongos has %s", got)
	}
	for _, command := range []string{"getDefaultRWConcern", "setDefaultRWConcern"} {
		if got := dial(t, rs, 0).run(`{"%s": 1, "$db": "admin"}`, command); number(got, "code") != 51301 {
			t.Errorf("a member of the shard answers %s with %v", command, got)
		}
	}
}
