package mongotest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// placed are three members in the data centers a, a and b, two of them with a rack.
var placed = []mongotest.Option{
	mongotest.Member(0, mongotest.Tags(map[string]string{"dc": "a", "rack": "1"})),
	mongotest.Member(1, mongotest.Tags(map[string]string{"dc": "a", "rack": "2"})),
	mongotest.Member(2, mongotest.Tags(map[string]string{"dc": "b"})),
	mongotest.WriteConcernMode("both", map[string]int{"dc": 2}),
	mongotest.ElectionTimeout(time.Hour),
}

const (
	wBoth       = `, "writeConcern": {"w": {"dc": 2}}`
	wBothInTime = `, "writeConcern": {"w": {"dc": 2}, "wtimeout": 100}`
)

// concerned returns the code of a reply's write concern error, or of its error, and the text; -1 if it has none.
func concerned(reply bson.Raw) (int64, string) {
	if code := number(reply, "code"); code != -1 {
		text, _ := reply.Lookup("errmsg").StringValueOK()
		return code, text
	}
	text, _ := reply.Lookup("writeConcernError", "errmsg").StringValueOK()
	return number(reply, "writeConcernError", "code"), text
}

func TestTagsOfAWriteConcern(t *testing.T) {
	for _, test := range []struct {
		rule, concern string
		kill          []int
		code          int64
		text          string
	}{
		{"as many values as asked for", `{"w": {"dc": 2}}`, nil, -1, ""},
		{"one member for each value does", `{"w": {"dc": 2}, "wtimeout": 10}`, []int{1}, -1, ""},
		{"members of one value do not do", `{"w": {"dc": 2}, "wtimeout": 10}`, []int{2}, 64, "waiting for replication timed out"},
		{"one value is that of the primary", `{"w": {"dc": 1}}`, []int{1, 2}, -1, ""},
		{"each of several tags", `{"w": {"dc": 2, "rack": 2}}`, nil, -1, ""},
		{"not only one of several tags", `{"w": {"dc": 2, "rack": 2}, "wtimeout": 10}`, []int{1}, 64, "waiting for replication timed out"},
		{"of a tag that is named twice the first number counts", `{"w": {"dc": 1, "dc": 3}}`, nil, -1, ""},
		{"no value", `{"w": {"dc": 0}}`, []int{1, 2}, -1, ""},
		{"a fraction is cut off", `{"w": {"dc": 1.9}}`, []int{1, 2}, -1, ""},
		{"more values than there are", `{"w": {"dc": 3}}`, nil, 100, `Not enough nodes match write concern mode "{"dc": 3}"`},
		{"more values of one tag than there are", `{"w": {"dc": 1, "rack": 3}}`, nil, 100, `Not enough nodes match write concern mode "{"dc": 1, "rack": 3}"`},
		{"more than any number", `{"w": {"dc": {"$numberLong": "99999999999"}}}`, nil, 100, `Not enough nodes match write concern mode "{"dc": 2147483647}"`},
		{"a tag of nobody", `{"w": {"zone": 1}}`, nil, 4, "No replica set tag key zone in config"},
		{"a tag of nobody among others", `{"w": {"dc": 1, "zone": 0}}`, nil, 4, "No replica set tag key zone in config"},
		{"no tags", `{"w": {}}`, nil, 9, "tagged write concern requires tags"},
		{"a value instead of a number", `{"w": {"dc": "a"}}`, nil, 9, `tags must be a single level document with only number values; found: dc: "a"`},
		{"a document instead of a number", `{"w": {"dc": {"a": 1}}}`, nil, 9, `tags must be a single level document with only number values; found: dc: { a: 1 }`},
		{"a list", `{"w": [{"dc": 2}]}`, nil, 9, "w has to be a number, string, or object; found: array"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				for _, m := range test.kill {
					rs.Kill(m)
				}
				reply := dial(t, rs, 0).run(`%s, "writeConcern": %s}`, inc, test.concern)
				if code, text := concerned(reply); code != test.code || text != test.text {
					t.Errorf("the reply is %v, want the error %d %q", reply, test.code, test.text)
				}
			}, placed...)
		})
	}
}

func TestAnErrorTellsTheTagsOfTheWriteConcern(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Kill(2)
		reply := dial(t, rs, 0).ok(`%s%s}`, inc, wBothInTime)
		got := string(must[[]byte](t)(bson.MarshalExtJSON(reply.Lookup("writeConcernError", "errInfo").Document(), false, false)))
		if want := `{"wtimeout":true,"writeConcern":{"w":{"dc":2},"wtimeout":100,"provenance":"clientSupplied"}}`; got != want {
			t.Errorf("errInfo is %s, want %s", got, want)
		}
	}, placed...)
}

func TestTagsOfAWriteConcernAreNewIn5(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		reply := dial(t, rs, 0).run(`%s%s}`, inc, wBoth)
		if code, text := concerned(reply); code != 9 || text != "w has to be a number or a string" {
			t.Errorf("the reply is %v", reply)
		}
	}, append(placed, mongotest.Version("4.4"))...)
}

func TestAWriteWaitsAsLongAsTheMembersWithTheTagsNeed(t *testing.T) {
	for _, concern := range []string{`{"w": {"dc": 2}}`, `{"w": "both"}`} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			began := time.Now()
			reply := dial(t, rs, 0).ok(`%s, "writeConcern": %s}`, inc, concern)
			if code, _ := concerned(reply); code != -1 || time.Since(began) != 3*time.Second {
				t.Errorf("%s: %v after %v, want no error after 3 s", concern, reply, time.Since(began))
			}
		}, append(placed, mongotest.Member(2, mongotest.Lag(3*time.Second)))...)
	}
}

func TestARepeatedWriteWaitsAgainForTheTags(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Partition([]int{2})
		c := dial(t, rs, 0)
		for range 2 {
			if code, _ := concerned(c.ok("%s", retryable(1, wBothInTime))); code != 64 {
				t.Errorf("while one value is missing the code is %d, want 64", code)
			}
		}
		rs.Heal()
		if reply := c.ok("%s", retryable(1, wBothInTime)); number(reply, "n") != 1 || number(reply, "writeConcernError", "code") != -1 {
			t.Errorf("the repeated write is answered %v", reply)
		}
		if n := lastN(rs); n != 1 {
			t.Errorf("n is %d, want 1", n)
		}
	}, placed...)
}

func TestAStepDownEndsTheWaitForTags(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		go func() {
			pass(time.Second)
			must[any](t)(nil, rs.StepDown())
		}()
		reply := c.ok("%s", retryable(1, wBoth))
		if code, _ := concerned(reply); code != 11602 || !strings.Contains(reply.String(), "RetryableWriteError") {
			t.Errorf("the write that waited is answered %v", reply)
		}
		must[int](t)(rs.WaitPrimary(t.Context()))
		again := dial(t, rs, rs.Primary())
		if code, _ := concerned(again.ok("%s", retryable(1, wBothInTime))); code != 64 {
			t.Errorf("the repeated write's error has the code %d, want 64", code)
		}
		rs.SetLag(2, 0)
		if code, _ := concerned(again.ok("%s", retryable(1, wBoth))); code != -1 {
			t.Errorf("the repeated write's error has the code %d, want none", code)
		}
		if n := lastN(rs); n != 1 {
			t.Errorf("n is %d, want 1", n)
		}
	}, append(placed, mongotest.Member(2, mongotest.Priority(0), mongotest.Lag(time.Hour)))...)
}

func TestACommitWaitsForTheTags(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		p := newPlayers(t, rs)
		p.play(`- | PUT 1 1 | n 1`)
		rs.Partition([]int{2})
		p.play(`A+ | {"insert": "c", "documents": [{"_id": 2}], "writeConcern": {"w": {"dc": 2}}} | 72`)
		const commit = `{"commitTransaction": 1, "$db": "admin"` + wBothInTime + `}`
		p.play(`B+ | SET 1 2 | n 1`)
		for range 2 {
			if code, _ := concerned(p.run("B", commit)); code != 64 {
				t.Errorf("the commit's error has the code %d, want 64", code)
			}
		}
		rs.Heal()
		if code, _ := concerned(p.run("B", commit)); code != -1 {
			t.Errorf("the repeated commit's error has the code %d, want none", code)
		}
		p.play(`- | FIND | 1:2`)
	}, placed...)
}

func TestAReconfigurationMayEndTheWaitForTags(t *testing.T) {
	const modes = `"getLastErrorModes": {"both": {"dc": 2}}`
	for _, test := range []struct {
		rule, concern, settings, tags string
		code                          int64
	}{
		{"the value is there no more", `{"dc": 2}`, modes, "a", 100},
		{"the tag has another value", `{"dc": 2}`, modes, "c", 64},
		{"the mode needs what nobody has", `"both"`, modes, "a", 100},
		{"the mode is gone", `"both"`, "", "b", 79},
	} {
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			rs.Partition([]int{2})
			writer := dial(t, rs, 0)
			answered := make(chan bson.Raw)
			go func() {
				answered <- writer.run(`%s, "writeConcern": {"w": %s, "wtimeout": 2000}}`, inc, test.concern)
			}()
			pass(time.Second)
			tags := func(dc string) string { return fmt.Sprintf(`, "tags": {"dc": "%s"}`, dc) }
			dial(t, rs, 0).ok(`%s, "$db": "admin"}`, of(rs, 2, test.settings, map[int]string{0: tags("a"), 1: tags("a"), 2: tags(test.tags)}))
			if code, text := concerned(<-answered); code != test.code {
				t.Errorf("%s: the error is %d %s, want %d", test.rule, code, text, test.code)
			}
		}, placed...)
	}
}

func TestWhichWriteConcernModesAConfigurationMayHave(t *testing.T) {
	for _, test := range []struct{ rule, modes, text string }{
		{"several tags", `{"m": {"dc": 1, "rack": 2}}`, ""},
		{"no tags", `{"m": {}}`, ""},
		{"more values than there are", `{"m": {"dc": 7}}`, ""},
		{"no document", `1`, "Expected getLastErrorModes to be an Object, it actually had type int"},
		{"a list", `[]`, "Expected getLastErrorModes to be an Object, it actually had type array"},
		{"a mode that is no document", `{"m": 1}`, "Expected getLastErrorModes.m to be an Object, not int"},
		{"a mode twice", `{"m": {"dc": 1}, "m": {"dc": 2}}`, "getLastErrorModes contains multiple fields named m"},
		{"a value instead of a number", `{"m": {"dc": "a"}}`, "Expected getLastErrorModes.m.dc to be a number, not string"},
		{"no values", `{"m": {"dc": 0}}`, "Value of getLastErrorModes.m.dc must be positive, but found 0"},
		{"a negative number", `{"m": {"dc": 1, "rack": -3}}`, "Value of getLastErrorModes.m.rack must be positive, but found -3"},
		{"a tag of nobody", `{"m": {"dc": 1, "zone": 1}}`, "No replica set tag key zone in config"},
	} {
		want := int64(93)
		if test.text == "" {
			want = -1
		}
		bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
			members := map[int]string{0: `, "tags": {"dc": "a", "rack": "1"}`, 1: "", 2: ""}
			got := dial(t, rs, 0).run(`%s, "$db": "admin"}`, of(rs, 2, `"getLastErrorModes": `+test.modes, members))
			if code, text := concerned(got); code != want || text != test.text {
				t.Errorf("%s: a reconfiguration is answered %v, want %d %q", test.rule, got, want, test.text)
			}
		})
		rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Uninitiated())
		got := dial(t, rs, 0).run(`{"replSetInitiate": {"_id": "rs0", "members": [{"_id": 0, "host": "%s", "tags": {"dc": "a", "rack": "1"}}],
			"settings": {"getLastErrorModes": %s}}, "$db": "admin"}`, rs.Addr(0), test.modes)
		if code, text := concerned(got); code != want || text != test.text {
			t.Errorf("%s: replSetInitiate is answered %v, want %d %q", test.rule, got, want, test.text)
		}
	}
}

func TestAnInitialConfigurationMayNameWriteConcerns(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Uninitiated())
	c := dial(t, rs, 0)
	c.ok(`{"replSetInitiate": {"_id": "rs0", "members": [{"_id": 0, "host": "%s", "tags": {"dc": "a"}}],
		"settings": {"getLastErrorModes": {"one": {"dc": 1}, "two": {"dc": 2}}}}, "$db": "admin"}`, rs.Addr(0))
	for mode, want := range map[string]int64{"one": -1, "two": 100, "three": 79} {
		if code, text := concerned(c.ok(`%s, "writeConcern": {"w": "%s"}}`, inc, mode)); code != want {
			t.Errorf("w: %q is answered %d %s, want %d", mode, code, text, want)
		}
	}
}

func TestTheDefaultWriteConcernMayHaveTags(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		for concern, want := range map[string]int64{`{"w": {"dc": 3}}`: 100, `{"w": {"zone": 1}}`: 4, `{"w": "three"}`: 79, `{"w": {}}`: 9} {
			got := c.run(`{"setDefaultRWConcern": 1, "defaultWriteConcern": %s, "$db": "admin"}`, concern)
			if number(got, "code") != want {
				t.Errorf("%s is answered %v, want %d", concern, got, want)
			}
		}
		got := c.ok(`{"setDefaultRWConcern": 1, "defaultWriteConcern": {"w": {"dc": 2}, "wtimeout": 100}, "$db": "admin"}`)
		if number(got, "defaultWriteConcern", "w", "dc") != 2 {
			t.Errorf("the default is %v", got)
		}
		rs.Kill(2)
		if code, _ := concerned(c.ok(`%s}`, inc)); code != 64 {
			t.Errorf("a write without a concern has the error %d, want 64", code)
		}
	}, placed...)
}

func TestTheModeOfTheDefaultWriteConcernStays(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`{"setDefaultRWConcern": 1, "defaultWriteConcern": {"w": "both"}, "$db": "admin"}`)
		members := map[int]string{0: `, "tags": {"dc": "a"}`, 1: "", 2: ""}
		if got := c.run(`%s, "$db": "admin"}`, of(rs, 2, "", members)); number(got, "code") != 79 {
			t.Errorf("a configuration without the mode is answered %v, want 79", got)
		}
		c.ok(`%s, "$db": "admin"}`, of(rs, 2, `"getLastErrorModes": {"both": {"dc": 1}}`, members))
	}, placed...)
}
