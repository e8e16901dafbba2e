package auth

import (
	"errors"
	"fmt"
)

// The mechanisms that this package has.
const (
	SCRAMSHA1   = "SCRAM-SHA-1"
	SCRAMSHA256 = "SCRAM-SHA-256"
	X509        = "MONGODB-X509"
	Plain       = "PLAIN"
	AWS         = "MONGODB-AWS"
	OIDC        = "MONGODB-OIDC"
)

// external is the source of users that something outside the server vouches for.
const external = "$external"

// Credential says who logs in, and how. It is never printed with its secrets: String, GoString and the verbs of package fmt
// show the mechanism and the source only.
type Credential struct {
	// Mechanism is empty if the server's hello decides between SCRAM-SHA-256 and SCRAM-SHA-1.
	Mechanism string
	// Source is the database that knows the user. The default is "admin" for SCRAM, else "$external".
	Source   string
	Username string
	Password string
	// AWS has the keys of MONGODB-AWS.
	AWS Keys
	// Tokens has the access tokens of MONGODB-OIDC. With People it asks a person; only hosts that match one of AllowedHosts may then
	// see anything of the user. A host is a name or an IP address; "*" stands for any characters.
	Tokens       TokenSource
	People       bool
	AllowedHosts []string
}

// String returns the mechanism and the source.
func (c Credential) String() string {
	return fmt.Sprintf("credential (mechanism %q, source %q)", c.Mechanism, c.Source)
}

// GoString returns the same as String.
func (c Credential) GoString() string { return c.String() }

// Format prints the same as String for every verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, c.String()) }

// withDefaults returns the credential with its default source.
func (c Credential) withDefaults() Credential {
	switch {
	case c.Source != "":
	case c.Mechanism == "" || c.Mechanism == SCRAMSHA1 || c.Mechanism == SCRAMSHA256:
		c.Source = "admin"
	default:
		c.Source = external
	}
	return c
}

// check returns an error for a credential that the mechanism cannot use. The error names the field, and has no secret.
func (c Credential) check() error {
	switch c.Mechanism {
	case "", SCRAMSHA1, SCRAMSHA256:
		return c.checkSCRAM()
	case X509:
		return c.checkX509()
	case Plain:
		return c.checkPlain()
	case AWS, OIDC:
		return c.checkExternal()
	case "GSSAPI":
		return errGSSAPI
	default:
		return fmt.Errorf("the authentication mechanism %q is unknown; there are %s, %s, %s, %s, %s and %s",
			c.Mechanism, SCRAMSHA1, SCRAMSHA256, X509, Plain, AWS, OIDC)
	}
}

var errGSSAPI = errors.New("the authentication mechanism GSSAPI (Kerberos) is not supported by Holdfast; " +
	"use MONGODB-X509, MONGODB-OIDC or PLAIN, or the official driver, built with the tag gssapi, for this connection")

// checkExternal checks the source of users that the server does not keep.
func (c Credential) checkExternal() error {
	if c.Source != external {
		return fmt.Errorf("the credential's AuthSource is %q; it must be $external for %s", c.Source, c.Mechanism)
	}
	return nil
}

func (c Credential) checkSCRAM() error {
	switch {
	case c.Username == "":
		return errors.New("the credential's Username is empty; SCRAM needs one")
	case c.Mechanism != "" && c.Password == "":
		return fmt.Errorf("the credential's Password is empty; %s needs one", c.Mechanism)
	}
	return nil
}

func (c Credential) checkX509() error {
	switch {
	case c.Password != "":
		return errors.New("the credential has a Password; MONGODB-X509 has none")
	}
	return c.checkExternal()
}

func (c Credential) checkPlain() error {
	switch {
	case c.Username == "":
		return errors.New("the credential's Username is empty; PLAIN needs one")
	case c.Password == "":
		return errors.New("the credential's Password is empty; PLAIN needs one")
	}
	return nil
}
