package mongotest_test

import (
	"context"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

func as(name, password, mechanism string) *options.ClientOptions {
	return options.Client().SetAuth(options.Credential{Username: name, Password: password, AuthMechanism: mechanism, AuthSource: "admin"})
}

func ping(t testing.TB, client *mongo.Client) error {
	t.Helper()
	_, err := client.Database("db").Collection("c").InsertOne(within(t), bson.D{})
	return err
}

func TestTheOfficialDriverAuthenticates(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Users(
		mongotest.User{Name: "alice", Password: "s3cret"},
		mongotest.User{Name: "old", Password: "s3cret", Mechanisms: []string{"SCRAM-SHA-1"}},
		mongotest.User{Name: "new,=", Password: "\u2168 \u00aa", Mechanisms: []string{"SCRAM-SHA-256"}},
	))
	for _, c := range []struct {
		name, user, password, mechanism string
		code                            int32 // 0: gets in
	}{
		{"by SCRAM-SHA-1", "alice", "s3cret", "SCRAM-SHA-1", 0},
		{"by SCRAM-SHA-256", "alice", "s3cret", "SCRAM-SHA-256", 0},
		{"by what the hello offers", "alice", "s3cret", "", 0},
		{"by what the hello offers, only the old one", "old", "s3cret", "", 0},
		{"with a name and a password that need preparing", "new,=", "IX a", "SCRAM-SHA-256", 0},
		{"not with a wrong password", "alice", "secret", "", 18},
		{"not with a mechanism that the user has not", "old", "s3cret", "SCRAM-SHA-256", 18},
		{"not an unknown user", "bob", "s3cret", "", 18},
		{"not by PLAIN, which no user has", "alice", "s3cret", "PLAIN", 334},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := ping(t, connect(t, rs, as(c.user, c.password, c.mechanism)))
			var refused mongo.CommandError
			if c.code == 0 && err != nil || c.code != 0 && (!errors.As(err, &refused) || refused.Code != c.code) {
				t.Errorf("%v, want code %d", err, c.code)
			}
		})
	}
}

// The password goes over the wire as it is, to users of $external only.
func TestThePlainMechanism(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Users(
		mongotest.User{Name: "bob", Password: "s3cret", Database: "$external", Mechanisms: []string{"PLAIN"}},
		mongotest.User{Name: "alice", Password: "s3cret"},
		mongotest.User{Name: "CN=carol", Database: "$external"},
	))
	for _, c := range []struct {
		name, user, password string
		code                 int32 // 0: gets in
	}{
		{"the right password", "bob", "s3cret", 0},
		{"a wrong password", "bob", "secret", 18},
		{"an unknown user", "dora", "s3cret", 18},
		{"a user of SCRAM", "alice", "s3cret", 18},
		{"a user of X.509", "CN=carol", "s3cret", 18},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := ping(t, connect(t, rs, options.Client().SetAuth(options.Credential{
				Username: c.user, Password: c.password, AuthMechanism: "PLAIN", AuthSource: "$external",
			})))
			var refused mongo.CommandError
			if c.code == 0 && err != nil || c.code != 0 && (!errors.As(err, &refused) || refused.Code != c.code) {
				t.Errorf("%v, want code %d", err, c.code)
			}
		})
	}
	c := dial(t, rs, 0)
	for name, payload := range map[string]string{
		"another identity": "alice\x00bob\x00s3cret", "no password": "\x00bob", "four parts": "\x00bob\x00s3cret\x00", "nothing": "",
	} {
		encoded := base64.StdEncoding.EncodeToString([]byte(payload))
		reply := c.run(`{"saslStart": 1, "mechanism": "PLAIN", "payload": {"$binary": {"base64": "%s", "subType": "00"}}, "$db": "$external"}`, encoded)
		if code, _ := reply.Lookup("code").AsInt64OK(); code != 18 {
			t.Errorf("%s: %v", name, reply)
		}
	}
}

func TestWhoHasNotAuthenticatedIsRefused(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "alice", Password: "s3cret"}))
	var refused mongo.CommandError
	if err := ping(t, connect(t, rs)); !errors.As(err, &refused) || refused.Code != 13 ||
		!strings.Contains(refused.Message, "Command insert requires authentication") {
		t.Errorf("%v", err)
	}
	c := dial(t, rs, 0)
	for _, open := range []string{`{"hello": 1, "$db": "admin"}`, `{"ping": 1, "$db": "admin"}`, `{"buildInfo": 1, "$db": "admin"}`} {
		c.ok("%s", open)
	}
}

func TestTheOptionUsersIsChecked(t *testing.T) {
	for name, u := range map[string][]mongotest.User{
		"name is empty":   {{Password: "x"}},
		"has no pass":     {{Name: "a"}},
		"is unknown":      {{Name: "a", Password: "x", Mechanisms: []string{"SCRAM"}}},
		"of $external":    {{Name: "a", Password: "x", Mechanisms: []string{"PLAIN"}}},
		`"b" has no pass`: {{Name: "b", Database: "$external", Mechanisms: []string{"PLAIN"}}},
		"is there twice":  {{Name: "a", Password: "x"}, {Name: "a", Password: "y"}},
		"has a password":  {{Name: "CN=a", Password: "x", Database: "$external"}},
	} {
		if _, err := mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Users(u...)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUsersOverTheWire(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "root", Password: "root"}))
	ctx := within(t)
	db := connect(t, rs, as("root", "root", "")).Database("app")
	role := bson.D{{Key: "role", Value: "readWriteAnyDatabase"}, {Key: "db", Value: "admin"}}
	create := bson.D{{Key: "createUser", Value: "carol"}, {Key: "pwd", Value: "pw"}, {Key: "roles", Value: bson.A{role}}}
	if err := db.RunCommand(ctx, create).Err(); err != nil {
		t.Fatal(err)
	}
	var again mongo.CommandError
	if err := db.RunCommand(ctx, create).Err(); !errors.As(err, &again) || again.Code != 51003 {
		t.Errorf("created again: %v", err)
	}
	carol := options.Client().SetAuth(options.Credential{Username: "carol", Password: "pw", AuthSource: "app"})
	client := connect(t, rs, carol)
	if err := ping(t, client); err != nil {
		t.Error(err)
	}
	status := must[bson.Raw](t)(client.Database("app").RunCommand(ctx, bson.D{{Key: "connectionStatus", Value: 1}}).Raw())
	if got := status.Lookup("authInfo", "authenticatedUsers", "0", "user").StringValue(); got != "carol" {
		t.Errorf("connectionStatus says %s", got)
	}
	info := must[bson.Raw](t)(db.RunCommand(ctx, bson.D{{Key: "usersInfo", Value: 1}}).Raw())
	if users := must[[]bson.RawValue](t)(info.Lookup("users").Array().Values()); len(users) != 1 {
		t.Errorf("usersInfo says %v", info)
	}
	if err := db.RunCommand(ctx, bson.D{{Key: "dropUser", Value: "carol"}}).Err(); err != nil {
		t.Fatal(err)
	}
	if err := ping(t, connect(t, rs, carol)); err == nil {
		t.Error("a dropped user got in")
	}
}

// A hello that carries the first step saves one round trip; one that is wrong is answered without it.
func TestSpeculativeAuthentication(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Users(mongotest.User{Name: "alice", Password: "s3cret"}))
	c := dial(t, rs, 0)
	hello := func(user string) bson.Raw {
		first := base64.StdEncoding.EncodeToString([]byte("n,,n=" + user + ",r=rOprNGfwEbeRWgbNEkqO"))
		return c.ok(`{"hello": 1, "saslSupportedMechs": "admin.%s", "speculativeAuthenticate": {"saslStart": 1,
			"mechanism": "SCRAM-SHA-256", "payload": {"$binary": {"base64": "%s", "subType": "00"}}, "db": "admin"}, "$db": "admin"}`,
			user, first)
	}
	reply := hello("alice")
	if got := reply.Lookup("saslSupportedMechs").String(); got != `["SCRAM-SHA-1","SCRAM-SHA-256"]` {
		t.Errorf("saslSupportedMechs is %s", got)
	}
	_, payload := reply.Lookup("speculativeAuthenticate", "payload").Binary()
	if !strings.HasPrefix(string(payload), "r=rOprNGfwEbeRWgbNEkqO") || !strings.Contains(string(payload), ",i=15000") {
		t.Errorf("the payload is %s", payload)
	}
	reply = hello("nobody")
	if _, err := reply.LookupErr("speculativeAuthenticate"); err == nil {
		t.Errorf("an unknown user's hello is answered by %v", reply)
	}
}

func TestTLSAndX509(t *testing.T) {
	subject := pkix.Name{CommonName: "client", Organization: []string{"holdfast"}}
	for _, memory := range []bool{true, false} {
		opts := []mongotest.Option{mongotest.TLS(), mongotest.Users(mongotest.User{Name: subject.String(), Database: "$external"})}
		if memory {
			opts = append(opts, mongotest.InMemory())
		}
		rs := mongotest.RunReplicaSetT(t, 3, opts...)
		config, err := rs.ClientTLS(subject)
		if err != nil {
			t.Fatal(err)
		}
		x509 := options.Client().SetTLSConfig(config).SetAuth(options.Credential{AuthMechanism: "MONGODB-X509"})
		if err := ping(t, connect(t, rs, x509)); err != nil {
			t.Errorf("in memory %v: %v", memory, err)
		}
		other, err := rs.ClientTLS(pkix.Name{CommonName: "stranger"})
		if err != nil {
			t.Fatal(err)
		}
		stranger := options.Client().SetTLSConfig(other).SetAuth(options.Credential{AuthMechanism: "MONGODB-X509"})
		if err := ping(t, connect(t, rs, stranger)); err == nil {
			t.Error("a stranger got in")
		}
		plain, _ := rs.ClientTLS()
		none := options.Client().SetTLSConfig(plain)
		var refused mongo.CommandError
		if err := ping(t, connect(t, rs, none)); !errors.As(err, &refused) || refused.Code != 13 {
			t.Errorf("without a certificate: %v", err)
		}
	}
}

// A client without TLS gets nowhere, and a fake clock is no obstacle to TLS and SCRAM together.
func TestTLSOnAFakeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.TLS(), mongotest.Users(mongotest.User{Name: "alice", Password: "s3cret"}))
		config, err := rs.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		if err := ping(t, connect(t, rs, as("alice", "s3cret", "").SetTLSConfig(config))); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		plain := must[*mongo.Client](t)(mongo.Connect(options.Client().SetHosts([]string{rs.Addr(0)}).SetReplicaSet("rs0").
			SetDialer(rs.Dialer()).SetHeartbeatInterval(500 * time.Millisecond)))
		defer func() { _ = plain.Disconnect(t.Context()) }()
		if err := plain.Ping(ctx, nil); err == nil {
			t.Error("a client without TLS got in")
		}
	})
}

func TestUpdateUser(t *testing.T) {
	for _, c := range []struct {
		name, update string // the elements of the command, besides its name
		want         string // in the answer
		password     string // the one that the user has then
		mechanism    string // one that lets the user in then
		refused      string // one that does not
	}{
		{"a password", `, "pwd": "new"`, `"ok": {"$numberDouble":"1.0"}`, "new", "SCRAM-SHA-1", ""},
		{"roles only", `, "roles": ["read"]`, `"ok": {"$numberDouble":"1.0"}`, "old", "SCRAM-SHA-1", ""},
		{"fewer mechanisms", `, "mechanisms": ["SCRAM-SHA-256"]`, `"ok": {"$numberDouble":"1.0"}`, "old", "SCRAM-SHA-256", "SCRAM-SHA-1"},
		{"a mechanism that the user has not", `, "mechanisms": ["PLAIN"]`, `must be a subset`, "old", "SCRAM-SHA-1", ""},
		{"nothing", ``, `Must specify at least one field to update in updateUser`, "old", "SCRAM-SHA-256", ""},
		{"an unknown field", `, "name": "x"`, `BSON field 'updateUser.name' is an unknown field.`, "old", "SCRAM-SHA-1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := mongotest.RunStandaloneT(t, mongotest.InMemory())
			admin := dial(t, rs, 0)
			admin.ok(`{"createUser": "carol", "pwd": "old", "roles": [], "$db": "admin"}`)
			if got := admin.run(`{"updateUser": "carol"%s, "$db": "admin"}`, c.update).String(); !strings.Contains(got, c.want) {
				t.Errorf("answer %s, want %s", got, c.want)
			}
			login := func(mechanism string) error {
				return ping(t, connect(t, rs, options.Client().SetAuth(options.Credential{Username: "carol", Password: c.password, AuthMechanism: mechanism})))
			}
			if err := login(c.mechanism); err != nil {
				t.Error(err)
			}
			if c.refused != "" && login(c.refused) == nil {
				t.Errorf("the user got in by %s", c.refused)
			}
		})
	}
}

func TestUpdateUserOfNobody(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.InMemory())
	if got := dial(t, rs, 0).run(`{"updateUser": "nobody", "pwd": "x", "$db": "admin"}`).String(); !strings.Contains(got, "UserNotFound") {
		t.Errorf("answer %s", got)
	}
}
