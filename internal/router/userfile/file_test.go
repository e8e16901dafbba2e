package userfile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// What MongoDB's usersInfo with showCredentials shows: the form, with a salt and keys of secret bytes.
const (
	salt        = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmU="
	storedKey   = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U="
	credentials = `{"SCRAM-SHA-256": {"iterationCount": 15000, "salt": "` + salt + `", "storedKey": "` + storedKey + `", "serverKey": "` + storedKey + `"}}`
)

func file(entries ...string) []byte {
	return []byte(`{"users": [` + strings.Join(entries, ",\n") + `]}`)
}

func TestAFile(t *testing.T) {
	f, err := Parse(file(
		`{"user": "app", "credentials": `+credentials+`}`,
		`{"user": "app", "db": "shop", "operator": true, "credentials": `+credentials+`}`,
		`{"user": "CN=worker,O=Example", "db": "$external", "operator": false}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	if u := f.User("admin", "app"); u == nil || u.Operator || u.DB != "admin" || u.Credentials[auth.SCRAMSHA256].Iterations != 15000 ||
		string(u.Credentials[auth.SCRAMSHA256].StoredKey) != "secretsecretsecretsecretsecretse" {
		t.Errorf("the user is %+v", u)
	}
	if u := f.User("shop", "app"); u == nil || !u.Operator {
		t.Errorf("the operator is %+v", u)
	}
	if u := f.User("$external", "CN=worker,O=Example"); u == nil || u.Credentials != nil {
		t.Errorf("the user of a certificate is %+v", u)
	}
	if f.User("shop", "CN=worker,O=Example") != nil || f.User("admin", "App") != nil || f.Len() != 3 {
		t.Error("there are other users")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%x"} {
		for _, v := range []any{f, f.User("admin", "app"), *f.User("admin", "app")} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "115 101 99") || strings.Contains(text, "0x73, 0x65") || strings.Contains(text, "736563") {
				t.Errorf("%s shows a key: %s", verb, text)
			}
		}
	}
}

func TestTheErrorOfAFileNamesTheEntryTheFieldAndTheRule(t *testing.T) {
	good := `{"user": "app", "credentials": ` + credentials + `}`
	changed := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	for _, c := range []struct {
		text []byte
		want string
	}{
		{nil, "the file is not JSON: the mistake is at byte 0"},
		{[]byte(`{"users": [`), "the file is not JSON: the mistake is at byte 11"},
		{[]byte(`{"users": []} {}`), "the file is not JSON: the mistake is at byte 15"},
		{[]byte(`[]`), "it must be a JSON object"},
		{[]byte(`{}`), "users is missing"},
		{[]byte(`{"users": []}`), "users is empty; it must have a user"},
		{[]byte(`{"users": null}`), "users must be a list of users"},
		{[]byte(`{"users": [], "roles": []}`), `there is no field "roles"; known are: users`},
		{file(good, `7`), "users[1]: it must be a JSON object"},
		{file(good, good), `users[1]: user "app" of db "admin" is there twice`},
		{file(good, changed(`"user": "app"`, `"user": "app", "db": "admin"`)), `users[1]: user "app" of db "admin" is there twice`},
		{file(changed(`"user": "app", `, ``)), "users[0]: user is missing"},
		{file(changed(`"app"`, `7`)), "users[0]: user must be a text"},
		{file(changed(`"app"`, `null`)), "users[0]: user must be a text"},
		{file(changed(`"app"`, `""`)), `users[0]: user "": user is empty`},
		{file(changed(`"app"`, `"`+strings.Repeat("x", 1025)+`"`)), `user has 1025 bytes; it must have at most 1024, and no zero byte`},
		{file(changed(`"app"`, `"a\u0000b"`)), `user has 3 bytes; it must have at most 1024, and no zero byte`},
		{file(changed(`"app"`, `"app", "user": "b"`)), "users[0]: user is there twice"},
		{file(changed(`"user"`, `"User"`)), `users[0]: there is no field "User"; known are: user, db, operator, credentials`},
		{file(changed(`"app"`, `"app", "password": "secret"`)), `users[0]: there is no field "password"`},
		{file(changed(`"app"`, `"app", "db": ""`)), `user "app": db is empty; it must be a name, or absent for admin`},
		{file(changed(`"app"`, `"app", "db": 7`)), `user "app": db must be a text`},
		{file(changed(`"app"`, `"app", "operator": "yes"`)), `user "app": operator must be true or false`},
		{file(`{"user": "app"}`), `user "app": credentials is missing`},
		{file(`{"user": "app", "credentials": []}`), `user "app": credentials: it must be a JSON object`},
		{file(`{"user": "app", "credentials": {}}`), `user "app": credentials is empty; it must have a mechanism`},
		{file(changed(`SCRAM-SHA-256`, `PLAIN`)), `credentials.PLAIN: the mechanism is "PLAIN"; it must be`},
		{file(changed(`SCRAM-SHA-256`, `SCRAM-SHA-1`)), `credentials.SCRAM-SHA-1: storedKey has 32 bytes; it must have 20`},
		{file(changed(`15000`, `4095`)), "credentials.SCRAM-SHA-256: iterationCount is 4095; it must be at least 4096"},
		{file(changed(`15000`, `1000001`)), "credentials.SCRAM-SHA-256: iterationCount is 1000001; it must be at least 4096 and at most 1000000"},
		{file(changed(`15000`, `"15000"`)), "iterationCount must be a whole number"},
		{file(changed(`15000`, `15000.5`)), "iterationCount must be a whole number"},
		{file(changed(`"iterationCount": 15000, `, ``)), "credentials.SCRAM-SHA-256: iterationCount is missing"},
		{file(changed(`"salt": "`+salt+`", `, ``)), "credentials.SCRAM-SHA-256: salt is missing"},
		{file(changed(salt, "secret")), "credentials.SCRAM-SHA-256: salt must be base64"},
		{file(changed(`"salt": "`+salt+`"`, `"salt": 7`)), "credentials.SCRAM-SHA-256: salt must be a text"},
		{file(changed(`"storedKey": "`+storedKey, `"storedKey": "c2VjcmV0`)), "storedKey has 6 bytes; it must have 32"},
		{file(changed(`"serverKey"`, `"clientKey"`)), `credentials.SCRAM-SHA-256: there is no field "clientKey"; known are: iterationCount`},
		{file(`{"user": "CN=a", "db": "$external", "credentials": ` + credentials + `}`), `user "CN=a": credentials must be absent for db $external`},
		{file(`{"user": "worker", "db": "$external"}`), `user "worker": user must be the subject of a certificate`},
	} {
		f, err := Parse(c.text)
		if f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "c2Vj") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	v, err := scramserver.NewVerifier(auth.SCRAMSHA256, "<ü>", "pencil")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []*User{
		{Name: "<ü>", DB: "shop", Operator: true, Credentials: map[string]scramserver.Verifier{auth.SCRAMSHA256: v}},
		{Name: "CN=worker", DB: External},
	} {
		text, err := u.Entry()
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(file(string(text)))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if got := f.User(u.DB, u.Name); !reflect.DeepEqual(got, u) {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}

// FuzzParse reads arbitrary files. What is accepted has users whose verifiers can be used.
func FuzzParse(f *testing.F) {
	f.Add(file(`{"user": "app", "credentials": ` + credentials + `}`))
	f.Add(file(`{"user": "CN=a", "db": "$external"}`, `{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for k, u := range list.users {
			if u.Name == "" || list.User(k.db, k.name) != u || (u.DB == External) != (len(u.Credentials) == 0) {
				t.Fatalf("%s has %+v", text, u)
			}
			for mechanism, v := range u.Credentials {
				if err := v.Check(mechanism); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
