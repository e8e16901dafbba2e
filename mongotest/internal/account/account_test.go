package account

import (
	"slices"
	"strings"
	"testing"
)

func TestAnAccountHasWhatItsUserAskedFor(t *testing.T) {
	for _, test := range []struct {
		name                     string
		db, user, password       string
		mechanisms               []string
		wantName, wantMechanisms string
	}{
		{"a user of no database is one of admin", "", "ann", "secret", nil, "admin.ann", "SCRAM-SHA-1 SCRAM-SHA-256"},
		{"only the mechanisms that are named", "app", "ann", "secret", []string{SCRAMSHA256}, "app.ann", "SCRAM-SHA-256"},
		{"a user of $external", External, "CN=ann", "", nil, "$external.CN=ann", "MONGODB-X509"},
		{"no name", "admin", "", "secret", nil, "", ""},
		{"no password", "admin", "ann", "", nil, "", ""},
		{"a password in $external", External, "ann", "secret", nil, "", ""},
		{"an unknown mechanism", "admin", "ann", "secret", []string{"PLAIN"}, "", ""},
	} {
		a, err := New(test.db, test.user, test.password, test.mechanisms)
		switch {
		case test.wantName == "" && err == nil:
			t.Errorf("%s is accepted", test.name)
		case test.wantName == "":
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		case a.FullName() != test.wantName || !slices.Equal(a.Mechanisms(), strings.Fields(test.wantMechanisms)):
			t.Errorf("%s: %s with %q", test.name, a.FullName(), a.Mechanisms())
		}
	}
}
