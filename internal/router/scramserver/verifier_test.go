package scramserver

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

func TestAVerifierIsChecked(t *testing.T) {
	good := Fake(nil, auth.SCRAMSHA256, "admin", "u")
	with := func(change func(*Verifier)) Verifier {
		v := good
		change(&v)
		return v
	}
	for _, c := range []struct {
		v    Verifier
		want string // empty: it is accepted
	}{
		{good, ""},
		{with(func(v *Verifier) { v.Iterations = 4096 }), ""},
		{with(func(v *Verifier) { v.Iterations = 4095 }), "iterationCount is 4095; it must be at least 4096"},
		{with(func(v *Verifier) { v.Salt = v.Salt[:7] }), "salt has 7 bytes; it must have 8 to 256"},
		{with(func(v *Verifier) { v.Salt = make([]byte, 257) }), "salt has 257 bytes"},
		{with(func(v *Verifier) { v.StoredKey = v.StoredKey[:20] }), "storedKey has 20 bytes; it must have 32 for SCRAM-SHA-256"},
		{with(func(v *Verifier) { v.ServerKey = nil }), "serverKey has 0 bytes; it must have 32"},
	} {
		err := c.v.Check(auth.SCRAMSHA256)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if err := good.Check("scram-sha-256"); err == nil || !strings.Contains(err.Error(), `"scram-sha-256"; it must be SCRAM-SHA-1 or SCRAM-SHA-256`) {
		t.Errorf("an unknown mechanism: %v", err)
	}
}

func TestWhatNewVerifierRefuses(t *testing.T) {
	for _, c := range []struct{ mechanism, user, password, want string }{
		{"PLAIN", "u", "secret", "the mechanism"},
		{auth.SCRAMSHA256, "", "secret", "name is empty"},
		{auth.SCRAMSHA256, "u", "", "password is empty"},
		{auth.SCRAMSHA256, "u", "secret\x07", "SASLprep"},
	} {
		_, err := NewVerifier(c.mechanism, c.user, c.password)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v, want %q and no password", err, c.want)
		}
	}
}

// MongoDB's sizes; two verifiers of one password differ, for their salts do.
func TestANewVerifierHasTheSizesOfMongoDB(t *testing.T) {
	for name, want := range map[string][2]int{auth.SCRAMSHA1: {16, 10000}, auth.SCRAMSHA256: {28, 15000}} {
		a, err := NewVerifier(name, user, password)
		b, err2 := NewVerifier(name, user, password)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if len(a.Salt) != want[0] || a.Iterations != want[1] {
			t.Errorf("%s: a salt of %d bytes, %d iterations, want %v", name, len(a.Salt), a.Iterations, want)
		}
		if bytes.Equal(a.Salt, b.Salt) || bytes.Equal(a.StoredKey, b.StoredKey) {
			t.Errorf("%s: two verifiers are the same", name)
		}
		fake := Fake([]byte("s"), name, "admin", user)
		if len(fake.Salt) != want[0] || fake.Iterations != want[1] || fake.Check(name) != nil {
			t.Errorf("%s: a fake verifier has another form: %v", name, fake.Check(name))
		}
	}
}

func TestAFakeVerifierDependsOnEachPartAndOnNothingElse(t *testing.T) {
	fake := func(secret, db, user string) Verifier { return Fake([]byte(secret), auth.SCRAMSHA256, db, user) }
	if !reflect.DeepEqual(fake("s", "a", "u"), fake("s", "a", "u")) {
		t.Error("it is not the same for the same user")
	}
	for _, other := range []Verifier{fake("t", "a", "u"), fake("s", "b", "u"), fake("s", "a", "v"), fake("s", "au", ""), fake("s", "", "au")} {
		if bytes.Equal(other.Salt, fake("s", "a", "u").Salt) {
			t.Error("the salt is the same for another secret, database or user")
		}
	}
	if v := Fake([]byte("s"), "PLAIN", "a", "u"); v.Check(auth.SCRAMSHA256) == nil {
		t.Error("there is one for an unknown mechanism")
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	key := []byte("secretsecretsecretsecretsecretse")
	v := Verifier{Salt: key, Iterations: 4096, StoredKey: key, ServerKey: key}
	c, _, err := Begin(auth.SCRAMSHA256, []byte("n,,n=u,r=x"), v)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{string(key), fmt.Sprintf("%x", key), fmt.Sprintf("%X", key), base64.StdEncoding.EncodeToString(key), strings.Trim(fmt.Sprintf("%d", key), "[]"), "0x73, 0x65"}
	for _, value := range []any{v, &v, []Verifier{v}, map[string]Verifier{"a": v}, struct{ V Verifier }{v}, c, *c, struct{ C *Conversation }{c}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%U", "%c", "%e", "%t"} {
			text := fmt.Sprintf(verb, value)
			for _, bad := range shown {
				if strings.Contains(text, bad) {
					t.Errorf("%s of %T prints %s", verb, value, text)
				}
			}
		}
	}
	if text := v.String() + v.GoString(); text != "verifier (4096 iterations)verifier (4096 iterations)" {
		t.Errorf("it is printed as %s", text)
	}
}
