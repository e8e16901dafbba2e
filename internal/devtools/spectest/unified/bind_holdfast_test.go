//go:build spec_holdfast

package unified

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestOnlyTheClientsOwnRefusalIsMissing(t *testing.T) {
	refused := func(opts *options.ClientOptions) error {
		_, err := mongoConnect(opts)
		return err
	}
	for _, c := range []struct {
		name    string
		err     error
		missing string
	}{
		{"a client's option", refused(options.Client().SetAutoEncryptionOptions(options.AutoEncryption())), "ClientOptions.AutoEncryptionOptions"},
		{"a value of the connection string", refused(options.Client().ApplyURI("mongodb://a/?uuidRepresentation=b")), "uuidRepresentation"},
		{"no error", nil, ""},
		{"another error", errors.New("mongo: no"), ""},
		{"a text that goes on", errors.New("mongo: option A.B is not supported by Holdfast here"), ""},
		{"a text that contains the refusal", errors.New("the server: mongo: option A.B is not supported by Holdfast"), ""},
		{"a value that is wrong", refused(options.Client().SetAppName(strings.Repeat("a", 129))), ""},
	} {
		if got := mongoMissing(c.err); got != c.missing {
			t.Errorf("%s: %v: got %q", c.name, c.err, got)
		}
	}
}
