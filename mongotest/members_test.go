package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestMemberOptionsThatBreakARule(t *testing.T) {
	of := mongotest.Member
	for want, opts := range map[string][]mongotest.Option{
		"Member(3): there is no such member":                             {of(3, mongotest.Hidden(), mongotest.Priority(0))},
		"Member(2): priority must be 0 when hidden=true":                 {of(2, mongotest.Hidden())},
		"Member(2): priority must be 0 when non-voting (votes:0)":        {of(2, mongotest.Votes(0))},
		"Member(2): priority must be 0 when secondaryDelaySecs is used":  {of(2, mongotest.SecondaryDelay(time.Hour))},
		"Member(2): priority must be between 0 and 1000; found -1":       {priority(2, -1)},
		"Member(2): votes must be 0 or 1; found 2":                       {of(2, mongotest.Votes(2))},
		"Member(2): secondaryDelaySecs must be a number of whole second": {of(2, mongotest.Priority(0), mongotest.SecondaryDelay(time.Millisecond))},
		"Member(2): Arbiter must vote":                                   {of(2, mongotest.Arbiter(), mongotest.Votes(0))},
		"Member(2): Cannot set tags on arbiters":                         {of(2, mongotest.Arbiter(), mongotest.Tags(map[string]string{"dc": "a"}))},
		"Member(2): Arbiter priority must be 0; found 5":                 {of(2, mongotest.Arbiter(), mongotest.Priority(5))},
		"Member(2): Lag must not be negative":                            {of(2, mongotest.Lag(-1))},
		"Member(2): MemberLatency must not be negative":                  {of(2, mongotest.MemberLatency(-1))},
		"at least one non-arbiter member with priority > 0":              {priority(0, 0), priority(1, 0), priority(2, 0)},
		"every set has the mode majority":                                {mongotest.WriteConcernMode("majority", map[string]int{"dc": 1})},
		"WriteConcernMode: the name is empty":                            {mongotest.WriteConcernMode("", map[string]int{"dc": 1})},
		`WriteConcernMode("both"): it names no tag`:                      {mongotest.WriteConcernMode("both", nil)},
		`WriteConcernMode("both"): the tag "dc" needs a number above 0`:  {mongotest.WriteConcernMode("both", map[string]int{"dc": 0})},
	} {
		rs, err := mongotest.RunReplicaSet(3, append(opts, mongotest.InMemory())...)
		if err == nil {
			must[any](t)(nil, rs.Close())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	if _, err := mongotest.RunReplicaSet(8); err == nil || !strings.Contains(err.Error(), "contains 8 voting members, but must be at least 1 and no more") {
		t.Errorf("with eight members the error is %v", err)
	}
	if _, err := mongotest.RunReplicaSet(3, of(1, mongotest.MemberLatency(1))); err == nil || !strings.Contains(err.Error(), "Member(1): MemberLatency needs InMemory") {
		t.Errorf("a latency on TCP: %v", err)
	}
	if _, err := mongotest.RunStandalone(priority(0, 2)); err == nil || !strings.Contains(err.Error(), "Member(0): there is no such member of a set") {
		t.Errorf("the error of a standalone is %v", err)
	}
}

func TestWriteConcernOfSuchMembers(t *testing.T) {
	arbiter := mongotest.Member(2, mongotest.Arbiter())
	tagged := func(i int, dc string) mongotest.Option {
		return mongotest.Member(i, mongotest.Tags(map[string]string{"dc": dc}))
	}
	modes := []mongotest.Option{
		tagged(0, "a"), tagged(1, "a"), tagged(2, "b"), mongotest.WriteConcernMode("both", map[string]int{"dc": 2}),
		mongotest.WriteConcernMode("three", map[string]int{"dc": 3}),
	}
	mute := mongotest.Member(2, mongotest.Votes(0), mongotest.Priority(0))
	for _, test := range []struct {
		rule, concern string
		kill          []int
		code          int64
		opts          []mongotest.Option
	}{
		{"an arbiter acknowledges nothing", `{"w": "majority", "wtimeout": 10}`, []int{1}, 64, []mongotest.Option{arbiter}},
		{"nor does it count", `{"w": 3}`, nil, 100, []mongotest.Option{arbiter}},
		{"with it the default is w:1", `{}`, []int{1}, -1, []mongotest.Option{arbiter}},
		{"before 5.0 the default is w:1", `{}`, []int{1, 2}, -1, []mongotest.Option{mongotest.Version("4.4")}},
		{"who does not vote is not in a majority", `{"w": "majority", "wtimeout": 10}`, []int{1}, 64, []mongotest.Option{mute, mongotest.ElectionTimeout(time.Hour)}},
		{"but counts by number", `{"w": 2}`, []int{1}, -1, []mongotest.Option{mute}},
		{"a mode asks for values of a tag", `{"w": "both", "wtimeout": 10}`, []int{1}, -1, modes},
		{"members of one value do not do", `{"w": "both", "wtimeout": 10}`, []int{2}, 64, modes},
		{"a mode that there are too few values for", `{"w": "three"}`, nil, 100, modes},
		{"another mode", `{"w": "four"}`, nil, 79, modes},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				for _, m := range test.kill {
					rs.Kill(m)
				}
				reply := dial(t, rs, 0).ok(`%s, "writeConcern": %s}`, inc, test.concern)
				if code := number(reply, "writeConcernError", "code"); code != test.code {
					t.Errorf("the write concern error's code is %d, want %d: %v", code, test.code, reply)
				}
			}, test.opts...)
		})
	}
}

func TestHelloOfSuchMembers(t *testing.T) {
	bubbleOf(t, 6, func(t *testing.T, rs *mongotest.Deployment) {
		addr := func(members ...int) string {
			var list []string
			for _, m := range members {
				list = append(list, fmt.Sprintf("%q", rs.Addr(m)))
			}
			return "[" + strings.Join(list, ",") + "]"
		}
		shown := `"hosts": ` + addr(0, 1) + `, "passives": ` + addr(2) + `, "arbiters": ` + addr(3)
		for i, want := range []string{
			`{"isWritablePrimary": true, "secondary": false, "tags": {"dc": "a", "rack": "1"}, ` + shown + `}`,
			`{"isWritablePrimary": false, "secondary": true, ` + shown + `}`,
			`{"secondary": true, "passive": true, ` + shown + `}`,
			`{"secondary": false, "arbiterOnly": true, ` + shown + `}`,
			`{"secondary": true, "passive": true, "hidden": true, "secondaryDelaySecs": {"$numberLong": "3600"}, ` + shown + `}`,
			`{"isWritablePrimary": false, "secondary": false, "isreplicaset": true, "info": "Does not have a valid replica set config"}`,
		} {
			hello := dial(t, rs, i).ok(`{"hello": 1, "$db": "admin"}`)
			for _, e := range must[[]bson.RawElement](t)(raw(t, want).Elements()) {
				if got := hello.Lookup(e.Key()); !got.Equal(e.Value()) {
					t.Errorf("member %d says %s of %s, want %s", i, got, e.Key(), e.Value())
				}
			}
			for _, name := range []string{"hidden", "passive", "arbiterOnly", "secondaryDelaySecs", "tags", "isreplicaset"} {
				if _, err := hello.LookupErr(name); err == nil && !strings.Contains(want, name) {
					t.Errorf("member %d has %s", i, name)
				}
			}
		}
		if want := "mongodb://" + rs.Addr(0) + "," + rs.Addr(1) + "," + rs.Addr(2) + "/?replicaSet=rs0"; rs.URI() != want {
			t.Errorf("the URI is %s, want %s", rs.URI(), want)
		}
		for i, code := range map[int]int64{2: -1, 3: 13436, 5: 13436} {
			got := dial(t, rs, i).run(`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`)
			if number(got, "code") != code {
				t.Errorf("member %d answers a read with %v, want %d", i, got, code)
			}
		}
		if got := dial(t, rs, 3).run(`{"find": "c", "$db": "test"}`); number(got, "code") != 13435 {
			t.Errorf("an arbiter answers a read of the primary with %v", got)
		}
	}, mongotest.Member(0, mongotest.Tags(map[string]string{"rack": "1", "dc": "a"})), priority(2, 0),
		mongotest.Member(3, mongotest.Arbiter()), mongotest.Member(4, mongotest.Hidden(), mongotest.Priority(0), mongotest.SecondaryDelay(time.Hour)),
		mongotest.Member(5, mongotest.Spare()))
}

func TestADelayedMemberStaysBehind(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		dial(t, rs, 0).ok(`%s}`, inc)
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		c := dial(t, rs, 2)
		for _, want := range []int64{-1, 1} {
			got := c.ok(`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`)
			if n := number(got, "cursor", "firstBatch", "0", "n"); n != want {
				t.Errorf("it has n = %d, want %d", n, want)
			}
			pass(time.Minute + time.Second)
		}
	}, mongotest.Member(2, mongotest.Priority(0), mongotest.SecondaryDelay(time.Minute)))
}

// The latency of a member is added to that of the whole network, in each direction.
func TestTheLatencyOfAMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Latency(time.Second, time.Second), mongotest.Member(1, mongotest.MemberLatency(2*time.Second)))
		for member, want := range []time.Duration{2 * time.Second, 6 * time.Second, 2 * time.Second} {
			c := dial(t, rs, member)
			began := time.Now()
			c.ok(`{"hello": 1, "$db": "admin"}`)
			if took := time.Since(began); took != want {
				t.Errorf("member %d answers after %v, want %v", member, took, want)
			}
		}
	})
}
