package mongo

import (
	"errors"
	"fmt"
	"strings"
)

// secretErrors are parts of the official parser's errors that show a part of the connection string which may be a password: with
// a forgotten "@", the password is taken for a port. Each has a text that does not show it.
var secretErrors = []struct{ part, text string }{
	{"invalid password", "the password has an invalid percent-encoding"},
	{"invalid username", "the username has an invalid percent-encoding"},
	{"port must be an integer", "a host's port is not an integer (is there an \"@\" after the password?)"},
	{"invalid host", "a host is invalid (is there an \"@\" after the password?)"},
	{"invalid option value", "the value of an option has an invalid percent-encoding"},
	{"invalid option key", "the name of an option has an invalid percent-encoding"},
}

// withoutSecrets returns the error of the official options' Validate with a text that shows no password.
func withoutSecrets(err error) error {
	for _, s := range secretErrors {
		if strings.Contains(err.Error(), s.part) {
			return errors.New("mongo: error parsing uri: " + s.text)
		}
	}
	return fmt.Errorf("mongo: %w", err)
}
