package kv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xdg-go/scram"
)

// scramHashes has the hash of each SCRAM mechanism.
var scramHashes = map[string]scram.HashGeneratorFcn{ScramSHA512: scram.SHA512, ScramSHA256: scram.SHA256, ScramSHA1: scram.SHA1}

// check returns an error that names the field and the rule that it breaks. It has no secret.
func (c *Credential) check() error {
	for _, name := range c.Mechanisms {
		if _, known := scramHashes[name]; !known && name != Plain && name != OAuthBearer {
			return fmt.Errorf("kv: the mechanism %q is unknown; there are %s, %s, %s, %s and %s", name, ScramSHA512, ScramSHA256, ScramSHA1, Plain, OAuthBearer)
		}
	}
	if c.Token != "" {
		return c.checkToken()
	}
	onlyToken := len(c.Mechanisms) > 0 && !slices.ContainsFunc(c.Mechanisms, func(name string) bool { return name != OAuthBearer })
	switch {
	case c.Username == "":
		return errors.New("kv: Username is empty; a login needs one")
	case strings.ContainsRune(c.Username, 0) || strings.ContainsRune(c.Password, 0):
		return errors.New("kv: Username or Password has a zero byte; a login cannot send it")
	case onlyToken:
		return fmt.Errorf("kv: Mechanisms has only %s, which is for a token, not for a name and a password", OAuthBearer)
	}
	return nil
}

// checkToken returns an error if the token is not one that OAUTHBEARER and HTTP's Bearer can carry.
func (c *Credential) checkToken() error {
	if len(c.Mechanisms) > 0 && !slices.Contains(c.Mechanisms, OAuthBearer) {
		return fmt.Errorf("kv: Mechanisms lacks %s, the only one for a token", OAuthBearer)
	}
	return CheckToken(c.Token)
}

// CheckToken returns an error if a text is not a bearer token: one or more letters, digits or characters of "-._~+/", and then any number
// of "=" (RFC 6750, section 2.1). A JSON web token is one. The error does not have the text.
func CheckToken(token string) error {
	body := strings.TrimRight(token, "=")
	if body == "" {
		return errors.New("kv: Token is empty; a login needs one")
	}
	for i, r := range body {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("-._~+/", r) {
			return fmt.Errorf("kv: Token has at byte %d a character that no bearer token has (RFC 6750): it has letters, digits and -._~+/ only", i)
		}
	}
	return nil
}

// equal reports whether two credentials are the same.
func (c *Credential) equal(other *Credential) bool {
	return c.Username == other.Username && c.Password == other.Password && c.Token == other.Token && c.AllowPlain == other.AllowPlain &&
		slices.Equal(c.Mechanisms, other.Mechanisms)
}

// bearerMessage is the only message of OAUTHBEARER (RFC 7628, section 3.1).
func bearerMessage(token string) []byte { return []byte("n,,\x01auth=Bearer " + token + "\x01\x01") }
