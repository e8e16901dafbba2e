package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// of returns a configuration of some members, each with its settings.
func of(rs *mongotest.Deployment, version int, settings string, members map[int]string) string {
	var list []string
	for i := range rs.Members() {
		if more, ok := members[i]; ok {
			list = append(list, fmt.Sprintf(`{"_id": %d, "host": "%s"%s}`, i, rs.Addr(i), more))
		}
	}
	return fmt.Sprintf(`{"replSetReconfig": {"_id": "rs0", "version": %d, "members": [%s], "settings": {%s}}`, version,
		strings.Join(list, ", "), settings)
}

func TestWhichReconfigurationsAreLegal(t *testing.T) {
	all := map[int]string{0: "", 1: "", 2: ""}
	with := func(i int, more string) map[int]string {
		m := map[int]string{0: "", 1: "", 2: ""}
		m[i] = more
		return m
	}
	for _, test := range []struct {
		rule, has string
		version   int
		settings  string
		members   map[int]string
		more      string
	}{
		{"the version grows", `"errmsg": "New replica set configuration version and term must be greater than old, but {version: 1, term: 1} is not greater than {version: 1, term: 1} for replica set rs0","code": {"$numberInt":"103"}`, 1, "", all, ""},
		{"unless it is forced", `"ok": {"$numberDouble":"1.0"}`, 1, "", all, `, "force": true`},
		{"one voting member at a time", `"errmsg": "Non force replica set reconfig can only add or remove at most 1 voting member.","code": {"$numberInt":"103"},"codeName": "NewReplicaSetConfigurationIncompatible"`, 2, "", map[int]string{0: ""}, ""},
		{"unless it is forced", `"ok": {"$numberDouble":"1.0"}`, 2, "", map[int]string{0: ""}, `, "force": true`},
		{"without itself", `"errmsg": "No host described in new configuration with {version: 2, term: 1} for replica set rs0 maps to this node"`, 2, "", map[int]string{1: "", 2: ""}, ""},
		{"not electable itself", `is not electable under the new configuration with {version: 2, term: 1} for replica set rs0`, 2, "", with(0, `, "priority": 0`), ""},
		{"an arbiter that was none", `"errmsg": "New and old configurations differ in the setting of the arbiterOnly field for member`, 2, "", with(2, `, "arbiterOnly": true`), ""},
		{"another id", `"errmsg": "New and old configurations both have members with host of`, 2, "", map[int]string{0: "", 1: "", 2: `, "_id": 7`}, ""},
		{"votes without priority 0", `"errmsg": "priority must be 0 when non-voting (votes:0)","code": {"$numberInt":"93"}`, 2, "", with(2, `, "votes": 0`), ""},
		{"votes", `"ok": {"$numberDouble":"1.0"}`, 2, "", with(2, `, "votes": 0, "priority": 0`), ""},
		{"a delay without priority 0", `"errmsg": "priority must be 0 when secondaryDelaySecs is used"`, 2, "", with(2, `, "secondaryDelaySecs": 5`), ""},
		{"a tag that is no string", `"errmsg": "tags.a field has non-string value of type int"`, 2, "", with(2, `, "tags": {"a": 1}`), ""},
		{"a setting that cannot be had", `"errmsg": "mongotest: the field 'settings.chainingAllowed' of replSetReconfig is not supported"`, 2, `"chainingAllowed": false`, all, ""},
		{"an election timeout of 0", `= 1, actual value '0'","code": {"$numberInt":"93"}`, 2, `"electionTimeoutMillis": 0`, all, ""},
		{"an unknown setting", `"code": {"$numberInt":"40415"}`, 2, `"frob": 0`, all, ""},
	} {
		t.Run(test.rule, func(t *testing.T) {
			bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
				if got := dial(t, rs, 0).run("%s%s, \"$db\": \"admin\"}", of(rs, test.version, test.settings, test.members), test.more).String(); !strings.Contains(got, test.has) {
					t.Errorf("the reply is %s, want %s", got, test.has)
				}
			})
		})
	}
}

func TestAMemberIsRemovedAndAddedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c, removed := dial(t, rs, 0), dial(t, rs, 2)
		c.ok(`%s, "writeConcern": {"w": 3}}`, inc)
		c.ok(`%s, "$db": "admin"}`, of(rs, 2, "", map[int]string{0: "", 1: ""}))
		if hello := removed.ok(`{"hello": 1, "$db": "admin"}`); !hello.Lookup("isreplicaset").Boolean() || hello.Lookup("secondary").Boolean() {
			t.Errorf("a removed member's hello is %v", hello)
		}
		for command, want := range map[string]int64{
			`{"replSetGetStatus": 1, "$db": "admin"}`: 93, `{"replSetGetConfig": 1, "$db": "admin"}`: 93,
			`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`: 13436, inc + `}`: 10107,
		} {
			if got := removed.run("%s", command); number(got, "code") != want {
				t.Errorf("a removed member answers %s with %v, want %d", command, got, want)
			}
		}
		if reply := c.ok(`%s, "writeConcern": {"w": 3}}`, inc); number(reply, "writeConcernError", "code") != 100 {
			t.Errorf("it counts: %v", reply)
		}
		if status := c.ok(`{"replSetGetStatus": 1, "$db": "admin"}`); number(status, "votingMembersCount") != 2 || number(status, "members", "2", "_id") != -1 {
			t.Errorf("the status has it: %v", status)
		}
		rs.Kill(1)
		c.ok(`%s, "force": true, "$db": "admin"}`, of(rs, 3, "", map[int]string{0: "", 2: ""}))
		if reply := c.ok(`%s, "writeConcern": {"w": 2, "wtimeout": 100}}`, inc); number(reply, "writeConcernError", "code") != -1 {
			t.Errorf("added again it acknowledges nothing: %v", reply)
		}
		got := removed.ok(`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`)
		if n := number(got, "cursor", "firstBatch", "0", "n"); n != 3 {
			t.Errorf("added again it has n = %d, want 3", n)
		}
	})
}

func TestAReconfigurationNeedsAQuorum(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		rs.Partition([]int{0})
		got := dial(t, rs, 0).run(`%s, "$db": "admin"}`, of(rs, 2, "", map[int]string{0: "", 1: "", 2: ""}))
		if number(got, "code") != 74 || !strings.Contains(got.String(), "required 2 but only the following 1 voting nodes responded: "+rs.Addr(0)) {
			t.Errorf("the reply is %v", got)
		}
	})
}

func TestAForcedReconfigurationEndsAPrimary(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		dial(t, rs, 0).ok(`%s, "force": true, "$db": "admin"}`, of(rs, 2, `"electionTimeoutMillis": 1000`, map[int]string{0: `, "priority": 0`, 1: "", 2: ""}))
		if p := rs.Primary(); p != -1 {
			t.Errorf("the primary is %d", p)
		}
		if p, took := elected(t, rs); p == 0 || !between(took, time.Second) {
			t.Errorf("member %d is elected after %v, want another one after the new timeout", p, took)
		}
	})
}

func TestASpareJoins(t *testing.T) {
	bubbleOf(t, 4, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 0)
		c.ok(`%s}`, inc)
		c.ok(`%s, "$db": "admin"}`, of(rs, 2, `"getLastErrorModes": {"one": {"dc": 1}}`, map[int]string{0: "", 1: "", 2: "", 3: `, "tags": {"dc": "a"}`}))
		must[any](t)(nil, rs.WaitIdle(context.Background()))
		got := dial(t, rs, 3).ok(`{"find": "c", "$db": "test", "$readPreference": {"mode": "nearest"}}`)
		if n := number(got, "cursor", "firstBatch", "0", "n"); n != 1 {
			t.Errorf("it has n = %d, want 1", n)
		}
		if reply := c.ok(`%s, "writeConcern": {"w": "one"}}`, inc); number(reply, "writeConcernError", "code") != -1 {
			t.Errorf("the new mode: %v", reply)
		}
		shown := c.ok(`{"replSetGetConfig": 1, "$db": "admin"}`).Lookup("config").Document()
		if number(shown, "settings", "getLastErrorModes", "one", "dc") != 1 || number(shown, "members", "3", "votes") != 1 {
			t.Errorf("the configuration is %v", shown)
		}
	}, mongotest.Member(3, mongotest.Spare()))
}
