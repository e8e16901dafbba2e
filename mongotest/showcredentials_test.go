package mongotest_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// https://www.mongodb.com/docs/manual/reference/command/usersInfo/
func TestUsersInfoShowsCredentials(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok(`{"createUser": "both", "pwd": "x", "roles": [], "$db": "app"}`)
	c.ok(`{"createUser": "one", "pwd": "x", "roles": [], "mechanisms": ["SCRAM-SHA-256"], "$db": "other"}`)
	c.ok(`{"createUser": "CN=a", "roles": [], "$db": "$external"}`)
	for _, test := range []struct{ rule, command, shown, refusal string }{
		{"the default is false", `{"usersInfo": "both", "$db": "app"}`, "-", ""},
		{"", `{"usersInfo": "both", "showCredentials": false, "$db": "app"}`, "-", ""},
		{"each mechanism of the user has its own", `{"usersInfo": "both", "showCredentials": true, "$db": "app"}`, "SCRAM-SHA-1 SCRAM-SHA-256", ""},
		{"a mechanism that the user has not has none", `{"usersInfo": {"user": "one", "db": "other"}, "showCredentials": true, "$db": "app"}`, "SCRAM-SHA-256", ""},
		{"a user of $external has no password here", `{"usersInfo": "CN=a", "showCredentials": true, "$db": "$external"}`, "external", ""},
		{"all users of a database show theirs", `{"usersInfo": 1, "showCredentials": true, "$db": "app"}`, "SCRAM-SHA-1 SCRAM-SHA-256", ""},
		{"so do those of all databases", `{"usersInfo": {"forAllDBs": true}, "showCredentials": true, "$db": "admin"}`, "SCRAM-SHA-1 SCRAM-SHA-256, SCRAM-SHA-256, external", ""},
		{"the field is a boolean", `{"usersInfo": "both", "showCredentials": 1, "$db": "app"}`, "", `'usersInfo.showCredentials' is the wrong type 'int', expected type 'bool'`},
	} {
		if reply := c.run("%s", test.command); test.refusal != "" {
			if got := reply.String(); !strings.Contains(got, test.refusal) {
				t.Errorf("%s\ngot  %s\nwant %s", test.command, got, test.refusal)
			}
		} else if got := credentialNames(t, reply); got != test.shown {
			t.Errorf("%s: %s\ngot  %s\nwant %s", test.rule, test.command, got, test.shown)
		}
	}
}

// credentialNames returns the names of the fields in the credentials of each user, "-" for one that shows none.
func credentialNames(t *testing.T, reply bson.Raw) string {
	t.Helper()
	var list []string
	for _, u := range must[[]bson.RawValue](t)(reply.Lookup("users").Array().Values()) {
		credentials, shown := u.Document().Lookup("credentials").DocumentOK()
		if !shown {
			list = append(list, "-")
			continue
		}
		var names []string
		for _, e := range must[[]bson.RawElement](t)(credentials.Elements()) {
			names = append(names, e.Key())
		}
		list = append(list, strings.Join(names, " "))
	}
	return strings.Join(list, ", ")
}

// RFC 5802, section 3: who knows the password can compute what the server keeps of it. SCRAM-SHA-1 in MongoDB begins with an MD5 sum.
func TestShownCredentialsAreThoseOfThePassword(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.ok(`{"createUser": "ann", "pwd": "old", "roles": [], "$db": "app"}`)
	c.ok(`{"updateUser": "ann", "pwd": "new", "$db": "app"}`)
	sum := md5.Sum([]byte("ann:mongo:new")) //nolint:gosec // as the mechanism has it
	credentials := c.ok(`{"usersInfo": "ann", "showCredentials": true, "$db": "app"}`).Lookup("users", "0", "credentials").Document()
	checkVerifier(t, credentials.Lookup("SCRAM-SHA-1").Document(), sha1.New, hex.EncodeToString(sum[:]), 10000, 16)
	checkVerifier(t, credentials.Lookup("SCRAM-SHA-256").Document(), sha256.New, "new", 15000, 28)
}

func checkVerifier(t *testing.T, shown bson.Raw, newHash func() hash.Hash, password string, iterations, saltLength int) {
	t.Helper()
	salt := must[[]byte](t)(base64.StdEncoding.DecodeString(shown.Lookup("salt").StringValue()))
	if n := int(shown.Lookup("iterationCount").Int32()); n != iterations || len(salt) != saltLength {
		t.Fatalf("%d iterations and a salt of %d bytes, want %d and %d", n, len(salt), iterations, saltLength)
	}
	salted := must[[]byte](t)(pbkdf2.Key(newHash, password, salt, iterations, newHash().Size()))
	keyed := func(text string) []byte {
		mac := hmac.New(newHash, salted)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	stored := newHash()
	stored.Write(keyed("Client Key"))
	if got, want := shown.Lookup("storedKey").StringValue(), base64.StdEncoding.EncodeToString(stored.Sum(nil)); got != want {
		t.Errorf("storedKey is %s, want %s", got, want)
	}
	if got, want := shown.Lookup("serverKey").StringValue(), base64.StdEncoding.EncodeToString(keyed("Server Key")); got != want {
		t.Errorf("serverKey is %s, want %s", got, want)
	}
}
