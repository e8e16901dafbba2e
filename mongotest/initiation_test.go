package mongotest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

const initiateThree = `{"replSetInitiate": {"_id": "rs0", "members": [{"_id": 4, "host": "m0.rs0.mongotest:27017"}, ` +
	`{"_id": 5, "host": "m1.rs0.mongotest:27017", "priority": 0}, {"_id": 6, "host": "m2.rs0.mongotest:27017"}], ` +
	`"settings": {"electionTimeoutMillis": 500}}, "$db": "admin"}`

// has reports a reply that lacks a text.
func (c *rawClient) has(want, command string, values ...any) {
	c.t.Helper()
	if got := c.run(command, values...).String(); !strings.Contains(got, want) {
		c.t.Errorf("%s\ngot  %s\nwant %s", fmt.Sprintf(command, values...), got, want)
	}
}

func TestAnUninitiatedServerWaitsForItsConfiguration(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Uninitiated())
	c := dial(t, rs, 0)
	for _, test := range []struct{ rule, command, has string }{
		{"hello names no set", `{"hello": 1, "$db": "admin"}`, `"isWritablePrimary": false,"secondary": false,"info": "Does not have a valid replica set config","isreplicaset": true,"topologyVersion"`},
		{"nor does its older name", `{"isMaster": 1, "$db": "admin"}`, `"ismaster": false,"secondary": false,"info"`},
		{"no writes", `{"insert": "c", "documents": [{}], "$db": "test"}`, `"codeName": "NotWritablePrimary"`},
		{"no users", `{"createUser": "u", "pwd": "p", "roles": [], "$db": "admin"}`, `"codeName": "NotWritablePrimary"`},
		{"no reads", `{"find": "c", "$db": "test"}`, `"codeName": "NotPrimaryNoSecondaryOk"`},
		{"not as of a secondary either", `{"find": "c", "$readPreference": {"mode": "nearest"}, "$db": "test"}`, `"errmsg": "node is not in primary or recovering state","code": {"$numberInt":"13436"},"codeName": "NotPrimaryOrSecondary"`},
		{"no status", `{"replSetGetStatus": 1, "$db": "admin"}`, `"errmsg": "no replset config has been received","code": {"$numberInt":"94"},"codeName": "NotYetInitialized"`},
		{"no configuration", `{"replSetGetConfig": 1, "$db": "admin"}`, `"errmsg": "no replset config has been received","code": {"$numberInt":"94"}`},
		{"none to change", `{"replSetReconfig": {"_id": "rs0"}, "$db": "admin"}`, `"code": {"$numberInt":"94"}`},
		{"no primary to step down", `{"replSetStepDown": 60, "$db": "admin"}`, `"codeName": "NotWritablePrimary"`},
		{"what needs no set works", `{"buildInfo": 1, "$db": "admin"}`, `"ok": {"$numberDouble":"1.0"}}`},
	} {
		if got := c.run("%s", test.command).String(); !strings.Contains(got, test.has) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", test.rule, test.command, got, test.has)
		}
	}
	if rs.Primary() != -1 {
		t.Errorf("the primary is %d", rs.Primary())
	}
}

func TestReplSetInitiateMakesTheSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Uninitiated())
		rs.Kill(1)
		rs.Restart(1)
		pass(time.Minute)
		if p := rs.Primary(); p != -1 {
			t.Errorf("member %d was elected before there was a set", p)
		}
		first, second := dial(t, rs, 0), dial(t, rs, 1)
		first.ok(initiateThree)
		first.ok(`{"insert": "c", "documents": [{"_id": 1}], "writeConcern": {"w": 3}, "$db": "test"}`)
		second.has(`"me": "m1.rs0.mongotest:27017"`, `{"hello": 1, "$db": "admin"}`)
		second.has(`"passives": ["m1.rs0.mongotest:27017"],"setName": "rs0","setVersion": {"$numberInt":"1"}`, `{"hello": 1, "$db": "admin"}`)
		second.has(`"_id": {"$numberInt":"5"},"name": "m1.rs0.mongotest:27017"`, `{"replSetGetStatus": 1, "$db": "admin"}`)
		second.has(`"electionTimeoutMillis": {"$numberInt":"500"}`, `{"replSetGetConfig": 1, "$db": "admin"}`)
		second.has(`"code": {"$numberInt":"23"},"codeName": "AlreadyInitialized","info": "try querying`, initiateThree)
		began := time.Now()
		rs.Kill(0)
		heir, err := rs.WaitPrimary(context.Background())
		if took := time.Since(began); err != nil || heir != 2 || took < 500*time.Millisecond || took > time.Second {
			t.Errorf("member %d is primary after %v (%v), want 2 after the election timeout of 500ms", heir, took, err)
		}
	})
}

func TestTheServerThatIsInitiatedBecomesPrimary(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Uninitiated())
	dial(t, rs, 2).ok(initiateThree)
	if rs.Primary() != 2 {
		t.Errorf("the primary is %d, want 2", rs.Primary())
	}
}

func TestReplSetInitiateWithoutAConfigurationIsForOne(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Uninitiated())
	c := dial(t, rs, 0)
	c.has(`"info2": "no configuration specified. Using a default configuration for the set","me": "m0.rs0.mongotest:27017","ok"`,
		`{"replSetInitiate": {}, "$db": "admin"}`)
	c.ok(`{"insert": "c", "documents": [{}], "$db": "test"}`)
}

func TestReplSetInitiateRefusesWhatIsNoConfiguration(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 2, mongotest.InMemory(), mongotest.Uninitiated())
	c := dial(t, rs, 0)
	const m0, m1 = `{"_id": 0, "host": "m0.rs0.mongotest"}`, `{"_id": 1, "host": "m1.rs0.mongotest:27017"}`
	many := m0
	for i := range 7 {
		many += fmt.Sprintf(`, {"_id": %d, "host": "h%d"}`, i+1, i)
	}
	for _, test := range []struct{ rule, config, has string }{
		{"another set's name", `{"_id": "x", "members": [` + m0 + `]}`, `Attempting to initiate a replica set with name x, but command line reports rs0; rejecting`},
		{"no members", `{"_id": "rs0", "members": []}`, `contains 0 members, but must have at least 1`},
		{"too many members", `{"_id": "rs0", "members": [` + many + `]}`, `contains 8 voting members, but must be at least 1 and no more than 7`},
		{"an id twice", `{"_id": "rs0", "members": [` + m0 + `, {"_id": 0, "host": "x"}]}`, `same _id field, members.0._id == members.1._id == MemberId(0)`},
		{"a host twice", `{"_id": "rs0", "members": [` + m0 + `, {"_id": 1, "host": "m0.rs0.mongotest:27017"}]}`, `same host field, members.0.host == members.1.host == m0.rs0.mongotest:27017`},
		{"a member without a host", `{"_id": "rs0", "members": [{"_id": 0}]}`, `BSON field 'MemberConfig.host' is missing but a required field`},
		{"some local hosts", `{"_id": "rs0", "members": [` + m0 + `, {"_id": 1, "host": "localhost:1"}]}`, `must be localhost references, or none must be; found 1 out of 2`},
		{"nobody electable", `{"_id": "rs0", "members": [{"_id": 0, "host": "m0.rs0.mongotest", "priority": 0}]}`, `must contain at least one non-arbiter member with priority`},
		{"a later version", `{"_id": "rs0", "version": 2, "members": [` + m0 + `]}`, `have version 1, but found 2`},
		{"not this server", `{"_id": "rs0", "members": [` + m1 + `]}`, `No host described in new configuration with {version: 1, term: 0} for replica set rs0 maps to this node`},
		{"this server not electable", `{"_id": "rs0", "members": [{"_id": 3, "host": "m0.rs0.mongotest", "priority": 0}, ` + m1 + `]}`, `This node, m0.rs0.mongotest:27017, with _id MemberId(3) is not electable under the new configuration`},
		{"an unknown field", `{"_id": "rs0", "nonsense": 1}`, `BSON field 'ReplSetConfig.nonsense' is an unknown field.`},
		{"an unknown setting", `{"_id": "rs0", "settings": {"nonsense": 1}}`, `BSON field 'ReplSetConfig.settings.nonsense' is an unknown field.`},
		{"an election timeout of nothing", `{"_id": "rs0", "settings": {"electionTimeoutMillis": 0}}`, `must be a positive number`},
	} {
		got := c.run(`{"replSetInitiate": %s, "$db": "admin"}`, test.config)
		if !strings.Contains(got.String(), test.has) || number(got, "code") != 93 {
			t.Errorf("%s:\ngot  %s\nwant %s", test.rule, got, test.has)
		}
	}
	c.has(`"code": {"$numberInt":"74"},"codeName": "NodeNotFound"`, `{"replSetInitiate": {"_id": "rs0", "members": [%s, %s, {"_id": 2, "host": "h:1"}]}, "$db": "admin"}`, m0, m1)
	c.has(`mongotest: a configuration without the member m1.rs0.mongotest:27017`, `{"replSetInitiate": {"_id": "rs0", "members": [%s]}, "$db": "admin"}`, m0)
	c.has(`"codeName": "Unauthorized"`, `{"replSetInitiate": {}, "$db": "test"}`)
	c.ok(`{"replSetInitiate": {"_id": "rs0", "members": [%s, %s]}, "$db": "admin"}`, m0, m1) // none of this has harmed it
	c.ok(`{"insert": "c", "documents": [{}], "writeConcern": {"w": 2}, "$db": "test"}`)
}

func TestReplSetInitiateWithOtherProcesses(t *testing.T) {
	refuse := errors.New("127.0.0.2:4 failed with Connection refused")
	var joined []mongotest.JoiningMember
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.Uninitiated(), mongotest.Listen("127.0.0.2:1"), mongotest.Accept(l),
		mongotest.WithProcesses(mongotest.Processes{
			IsSelf: func(address string) bool { return address == "localhost:2" },
			Join: func(_ context.Context, members []mongotest.JoiningMember) error {
				joined = members
				return refuse
			},
		}))
	at := func(addr string) *rawClient { return dialAt(t, new(net.Dialer).DialContext, addr) }
	c := at(l.Addr().String())
	const initiate = `{"replSetInitiate": {"_id": "rs0", "members": [{"_id": 0, "host": "127.0.0.2:3"}, ` +
		`{"_id": 1, "host": "localhost:2"}, {"_id": 2, "host": "127.0.0.2:4"}]}, "$db": "admin"}`
	c.has(`responded affirmatively: 127.0.0.2:4 failed with Connection refused`, initiate)
	c.has(`"code": {"$numberInt":"94"}`, `{"replSetGetConfig": 1, "$db": "admin"}`)
	if _, err := net.Dial("tcp", joined[0].Served); err == nil {
		t.Error("the member of a set that was not made is still served")
	}
	refuse = nil
	c.ok(initiate)
	var hosts []string
	for i, j := range joined {
		if j.Member != i+1 || rs.Addr(j.Member) != j.Address {
			t.Errorf("%+v is not member %d, %s", j, j.Member, rs.Addr(j.Member))
		}
		hosts = append(hosts, j.Address)
		at(j.Served).has(`"me": "`+j.Address+`"`, `{"hello": 1, "$db": "admin"}`)
	}
	if want := []string{"127.0.0.2:3", "127.0.0.2:4"}; !slices.Equal(hosts, want) {
		t.Errorf("asked to join were %v, want %v", hosts, want)
	}
	c.has(`"me": "localhost:2"`, `{"hello": 1, "$db": "admin"}`)
	c.ok(`{"insert": "c", "documents": [{}], "writeConcern": {"w": 3}, "$db": "test"}`)
}

func TestWaitStateTellsEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Uninitiated())
		wait := func(known, want string) {
			t.Helper()
			if got, err := rs.WaitState(context.Background(), 0, known); got != want || err != nil {
				t.Errorf("after %s comes %q (%v), want %s", known, got, err, want)
			}
		}
		wait("", "STARTUP")
		dial(t, rs, 2).send(0, j(initiateThree))
		wait("STARTUP", "SECONDARY")
		dial(t, rs, 0).send(0, j(`{"shutdown": 1, "$db": "admin"}`))
		wait("SECONDARY", "DOWN")
		rs.Restart(0)
		wait("DOWN", "SECONDARY")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := rs.WaitState(ctx, 0, "SECONDARY"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait for nothing ends with %v", err)
		}
	})
}

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.SetName("rs0"))
		c := dial(t, rs, 0)
		c.has(`"codeName": "Unauthorized"`, `{"shutdown": 1, "$db": "test"}`)
		c.has(`unknown field`, `{"shutdown": 1, "nonsense": 1, "$db": "admin"}`)
		c.has(`"codeName": "BadValue"`, `{"shutdown": 1, "timeoutSecs": -1, "$db": "admin"}`)
		c.send(0, j(`{"shutdown": 1, "$db": "admin"}`))
		if _, _, err := c.receive(); err == nil {
			t.Error("a server that shuts down has answered")
		}
		began := time.Now()
		if heir, err := rs.WaitPrimary(context.Background()); err != nil || heir == 0 || time.Since(began) > time.Second {
			t.Errorf("the primary is %d (%v) after %v, want that it has handed over", heir, err, time.Since(began))
		}
		left := rs.Primary()
		rs.Kill(3 - left)
		last := dial(t, rs, left)
		last.has(`"codeName": "ExceededTimeLimit"`, `{"shutdown": 1, "timeoutSecs": 1, "$db": "admin"}`)
		last.send(0, j(`{"shutdown": 1, "force": true, "timeoutSecs": 100, "$db": "admin"}`)) // by then it is no primary
		if _, _, err := last.receive(); err == nil {
			t.Error("a primary that loses its majority while it shuts down has answered")
		}
	})
}

func TestRequireAuthLetsTheFirstUserBeCreated(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.RequireAuth())
	c := dial(t, rs, 0)
	c.ok(`{"createUser": "u", "pwd": "p", "roles": ["root"], "$db": "admin"}`)
	c.has(`"codeName": "Unauthorized"`, `{"find": "c", "$db": "test"}`)
}

func TestStartParameters(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.StartParameters(map[string]string{"ttlMonitorEnabled": "false", "logLevel": "2"}))
	dial(t, rs, 1).has(`"logLevel": {"$numberInt":"2"},"ttlMonitorEnabled": false`, `{"getParameter": 1, "logLevel": 1, "ttlMonitorEnabled": 1, "$db": "admin"}`)
	for _, test := range []struct{ name, text, want string }{
		{"nonsense", "1", `there is no parameter "nonsense" to start with`},
		{"featureCompatibilityVersion", "7.0", `there is no parameter "featureCompatibilityVersion" to start with`},
		{"ttlMonitorEnabled", "yes", `ttlMonitorEnabled: "yes" is neither true nor false`},
		{"logLevel", "high", `logLevel: "high" is no whole number of 32 bits`},
		{"logLevel", "-1", "Invalid value for logLevel: logLevel: -1"},
		{"ingressConnectionEstablishmentBurstCapacitySecs", "much", `ingressConnectionEstablishmentBurstCapacitySecs: "much" is no number`},
		{
			"ingressConnectionEstablishmentBurstCapacitySecs", "0",
			"Invalid value for parameter ingressConnectionEstablishmentBurstCapacitySecs: 0 is not greater than 0",
		},
		{"cursorTimeoutMillis", "1.5", `cursorTimeoutMillis: "1.5" is no whole number of 64 bits`},
		{"transactionLifetimeLimitSeconds", "0", "Invalid value for parameter transactionLifetimeLimitSeconds: 0 is not greater than or equal to 1"},
	} {
		_, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.StartParameters(map[string]string{test.name: test.text}))
		if err == nil || err.Error() != "mongotest: StartParameters: "+test.want {
			t.Errorf("%s=%s: %v, want %s", test.name, test.text, err, test.want)
		}
	}
	must[any](t)(nil, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.StartParameters(map[string]string{"cursorTimeoutMillis": "3000000000"})).Close())
}

func TestAParameterThatIsTooSmallIsRefused(t *testing.T) {
	c := dial(t, mongotest.RunReplicaSetT(t, 1, mongotest.InMemory()), 0)
	const lifetime = "Invalid value for parameter transactionLifetimeLimitSeconds: %s is not greater than or equal to 1"
	for setting, want := range map[string]string{
		`"transactionLifetimeLimitSeconds": 0`:   fmt.Sprintf(lifetime, "0"),
		`"transactionLifetimeLimitSeconds": -4`:  fmt.Sprintf(lifetime, "-4"),
		`"transactionLifetimeLimitSeconds": 0.5`: fmt.Sprintf(lifetime, "0"),
		`"logLevel": -1`:                         "Invalid value for logLevel: logLevel: -1",
	} {
		reply := c.run(`{"setParameter": 1, %s, "$db": "admin"}`, setting)
		if got, _ := reply.Lookup("errmsg").StringValueOK(); got != want || number(reply, "code") != 2 {
			t.Errorf("%s: %v, want %s", setting, reply, want)
		}
	}
	c.ok(`{"setParameter": 1, "transactionLifetimeLimitSeconds": 1, "$db": "admin"}`)
}

func TestServerVersion(t *testing.T) {
	for v, want := range map[string]string{"": "7.0.25", "8.0": "8.0.15", "4.2.8": "4.2.8"} {
		if got, err := mongotest.ServerVersion(v); got != want || err != nil {
			t.Errorf("version %q is %s (%v), want %s", v, got, err, want)
		}
	}
	if _, err := mongotest.ServerVersion("1.0"); err == nil {
		t.Error("version 1.0 is known")
	}
}
