package auth

import (
	"fmt"
	"strings"
	"testing"
)

// Source: Driver Authentication, the table of each mechanism's credential.
func TestACredentialIsChecked(t *testing.T) {
	for _, c := range []struct {
		name       string
		credential Credential
		want       string // empty: it is accepted
	}{
		{"the default needs a username", Credential{Password: "secret"}, "Username"},
		{"the default does not need a password", Credential{Username: "u"}, ""},
		{"SCRAM-SHA-1 needs a username", Credential{Mechanism: SCRAMSHA1, Password: "secret"}, "Username"},
		{"SCRAM-SHA-1 needs a password", Credential{Mechanism: SCRAMSHA1, Username: "u"}, "Password"},
		{"SCRAM-SHA-256 needs a username", Credential{Mechanism: SCRAMSHA256, Password: "secret"}, "Username"},
		{"SCRAM-SHA-256 needs a password", Credential{Mechanism: SCRAMSHA256, Username: "u"}, "Password"},
		{"SCRAM-SHA-256 needs a password that SASLprep accepts", Credential{Mechanism: SCRAMSHA256, Username: "u", Password: "secret\x07"}, "SASLprep"},
		{"SCRAM-SHA-1 takes every password", Credential{Mechanism: SCRAMSHA1, Username: "u", Password: "secret\x07"}, ""},
		{"MONGODB-X509 has no password", Credential{Mechanism: X509, Password: "secret"}, "Password"},
		{"MONGODB-X509 needs no username", Credential{Mechanism: X509}, ""},
		{"MONGODB-X509 has the source $external", Credential{Mechanism: X509, Source: "admin"}, "AuthSource"},
		{"PLAIN needs a username", Credential{Mechanism: Plain, Password: "secret"}, "Username"},
		{"PLAIN needs a password", Credential{Mechanism: Plain, Username: "u"}, "Password"},
		{"PLAIN may have another source", Credential{Mechanism: Plain, Username: "u", Password: "secret", Source: "app"}, ""},
		{"MONGODB-AWS needs nothing", Credential{Mechanism: AWS}, ""},
		{"MONGODB-AWS has the source $external", Credential{Mechanism: AWS, Source: "admin"}, "AuthSource"},
		{"MONGODB-OIDC needs nothing", Credential{Mechanism: OIDC}, ""},
		{"MONGODB-OIDC has the source $external", Credential{Mechanism: OIDC, Source: "admin"}, "AuthSource"},
		{"GSSAPI is named, with the way out", Credential{Mechanism: "GSSAPI", Username: "u", Password: "secret"}, "use MONGODB-X509"},
		{"an unknown mechanism is named", Credential{Mechanism: "scram-sha-1", Username: "u", Password: "secret"}, `"scram-sha-1" is unknown`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.credential)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestTheDefaultSource(t *testing.T) {
	for mechanism, want := range map[string]string{
		"": "admin", SCRAMSHA1: "admin", SCRAMSHA256: "admin", X509: "$external", Plain: "$external", AWS: "$external", OIDC: "$external",
	} {
		if got := (Credential{Mechanism: mechanism}).withDefaults().Source; got != want {
			t.Errorf("%q: the source is %q, want %q", mechanism, got, want)
		}
		if got := (Credential{Mechanism: mechanism, Source: "app"}).withDefaults().Source; got != "app" {
			t.Errorf("%q: the source is %q, want the given one", mechanism, got)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := Credential{Mechanism: SCRAMSHA256, Username: "u", Password: "secret"}
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{c, &c, a, struct{ A any }{a}, struct{ C Credential }{c}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			text := fmt.Sprintf(verb, v)
			if strings.Contains(text, "secret") || strings.Contains(text, fmt.Sprintf("%x", "secret")) {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
			if !strings.Contains(text, "SCRAM-SHA-256") {
				t.Errorf("%s of %T prints %s", verb, v, text)
			}
		}
	}
}
