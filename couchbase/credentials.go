package couchbase

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

// credentials are how the client proves who it is. The authenticator may be replaced by another one of the same kind.
type credentials struct {
	secure  bool            // the connections are encrypted
	allowed []SaslMechanism // of the options; empty: the authenticator's
	kind    credentialKind
	current atomic.Pointer[Authenticator]
}

// credentialKind is what a credential consists of.
type credentialKind string

const (
	passwordKind    credentialKind = "a name and a password"
	tokenKind       credentialKind = "a token"
	certificateKind credentialKind = "a certificate alone"
)

// credential is an answer of an authenticator.
type credential struct {
	pair       UserPassPair
	token      JWT
	mechanisms []SaslMechanism
}

// String returns a text without secrets.
func (c credential) String() string { return string(c.kind()) }

// GoString returns the same as String.
func (c credential) GoString() string { return c.String() }

func (c *credential) kind() credentialKind {
	switch {
	case c.token != "":
		return tokenKind
	case c.pair != UserPassPair{}:
		return passwordKind
	}
	return certificateKind
}

// accept checks an authenticator, without using the network, and returns what it answers to begin with. option is its name in errors.
func (c *credentials) accept(a Authenticator, option string) (credential, error) {
	switch {
	case isNil(a):
		return credential{}, invalid("%s is nil", option)
	case c.secure && !a.SupportsTLS():
		return credential{}, invalid("%s does not support TLS, but the connection string asks for it", option)
	case !c.secure && !a.SupportsNonTLS():
		return credential{}, invalid("%s needs TLS: use couchbases:// in the connection string", option)
	}
	if err := checkFields(a, option); err != nil {
		return credential{}, err
	}
	first, err := c.ask(a, ServiceTypeKeyValue, "")
	if err != nil {
		return credential{}, err
	}
	return first, c.check(a, &first, option)
}

func isNil(a Authenticator) bool {
	v := reflect.ValueOf(a)
	return a == nil || v.Kind() == reflect.Pointer && v.IsNil()
}

// checkFields refuses authenticators of this package that have nothing.
func checkFields(a Authenticator, option string) error {
	v := reflect.Indirect(reflect.ValueOf(a))
	switch known := v.Interface().(type) {
	case JWTAuthenticator:
		if known.Token == "" {
			return invalid("%s: JWTAuthenticator.Token is empty", option)
		}
	case CertificateAuthenticator:
		if known.ClientCertificate == nil {
			return invalid("%s: CertificateAuthenticator.ClientCertificate is nil", option)
		}
	}
	return nil
}

// check refuses a credential that no connection can log in with.
func (c *credentials) check(a Authenticator, first *credential, option string) error {
	if first.kind() == certificateKind {
		certificate, err := a.Certificate(AuthCertRequest{Service: ServiceTypeKeyValue})
		switch {
		case err != nil:
			return fmt.Errorf("couchbase: %s: the certificate: %w%w", option, err, silent{ErrAuthenticationFailure})
		case certificate == nil || !c.secure:
			return invalid("%s has neither a name, nor a token, nor, with TLS, a certificate", option)
		}
		return nil
	}
	from := "the mechanisms of " + option
	if len(c.allowed) > 0 {
		from = "SecurityConfig.AllowedSaslMechanisms"
	}
	bearer := slices.Contains(first.mechanisms, OAuthBearerSaslMechasnism)
	switch {
	case len(first.mechanisms) == 0:
	case first.token != "" && !bearer:
		return invalid("%s: %s lacks %s, the only mechanism for a token", option, from, OAuthBearerSaslMechasnism)
	case first.token == "" && bearer && len(first.mechanisms) == 1:
		return invalid("%s: %s has only %s, which is for a token", option, from, OAuthBearerSaslMechasnism)
	}
	login, err := kv.NewLogin(c.forKV(first))
	if err == nil {
		err = login.Check(c.secure)
	}
	if err != nil {
		return fmt.Errorf("%w%w", invalid("%s: %v", option, err), silent{err})
	}
	return nil
}

// ask returns an authenticator's answer for an endpoint.
func (c *credentials) ask(a Authenticator, service ServiceType, endpoint string) (answer credential, err error) {
	if answer.mechanisms = c.allowed; len(c.allowed) == 0 {
		answer.mechanisms = a.DefaultSaslMechanisms(c.secure)
	}
	request := AuthCredsRequest{Service: service, Endpoint: endpoint}
	if answer.token, err = a.JWT(request); err != nil {
		return credential{}, fmt.Errorf("couchbase: the Authenticator's token: %w%w", err, silent{ErrAuthenticationFailure})
	}
	if answer.token != "" {
		if err := kv.CheckToken(answer.token); err != nil {
			return credential{}, fmt.Errorf("%w%w", invalid("the Authenticator: %v", err), silent{ErrAuthenticationFailure})
		}
		return answer, nil
	}
	pairs, err := a.Credentials(request)
	if err != nil {
		return credential{}, fmt.Errorf("couchbase: the Authenticator's credentials: %w%w", err, silent{ErrAuthenticationFailure})
	}
	if len(pairs) != 1 {
		return credential{}, invalid("the Authenticator has %d credentials for the service %s; it must have one", len(pairs), service.reportName())
	}
	answer.pair = pairs[0]
	return answer, nil
}

// forKV returns a credential as connections to nodes take it.
func (c *credentials) forKV(from *credential) kv.Credential {
	k := kv.Credential{
		Username: from.pair.Username, Password: from.pair.Password, Token: from.token,
		AllowPlain: slices.Contains(c.allowed, PlainSaslMechanism),
	}
	for _, m := range from.mechanisms {
		k.Mechanisms = append(k.Mechanisms, string(m))
	}
	return k
}

// login returns the login of connections to nodes, which asks for each of them. It returns nil if a certificate is the login.
func (c *credentials) login(first *credential) (*kv.Login, error) {
	if c.kind == certificateKind {
		return nil, nil //nolint:nilnil // kv.Config says that nil means none
	}
	login, err := kv.NewLogin(c.forKV(first))
	if err != nil {
		return nil, fmt.Errorf("%w%w", invalid("%v", err), silent{err})
	}
	return login.AskedBy(func(ctx context.Context, address string) (kv.Credential, error) {
		answer, err := c.of(ctx, ServiceTypeKeyValue, address)
		return c.forKV(&answer), err
	}), nil
}
