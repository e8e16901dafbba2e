package couchbase

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// proving is an authenticator that answers as a test says.
type proving struct {
	PasswordAuthenticator

	token      JWT
	err        error
	pairs      []UserPassPair
	mechanisms []SaslMechanism
	plainOnly  bool // it does not support TLS

	certificate *tls.Certificate
	uncertain   error // of the certificate
	unnamed     error // of the name and the password
}

func (p proving) SupportsTLS() bool { return !p.plainOnly }

func (p proving) Certificate(AuthCertRequest) (*tls.Certificate, error) {
	return p.certificate, p.uncertain
}

func (p proving) JWT(AuthCredsRequest) (JWT, error) { return p.token, p.err }

func (p proving) Credentials(AuthCredsRequest) ([]UserPassPair, error) {
	if p.unnamed != nil {
		return nil, p.unnamed
	}
	if p.pairs == nil {
		return []UserPassPair{{}}, nil
	}
	return p.pairs, nil
}

func (p proving) DefaultSaslMechanisms(bool) []SaslMechanism { return p.mechanisms }

// Each is an error before any network use. Source: RFC 0048 (which kind needs TLS), RFC 6750 section 2.1 (what a token is), and gocb's
// documentation of its options.
func TestAuthenticatorsThatAreRefused(t *testing.T) {
	const plain, secure = "couchbase://h", "couchbases://h"
	allow := func(m ...SaslMechanism) SecurityConfig { return SecurityConfig{AllowedSaslMechanisms: m} }
	for _, c := range []struct {
		name          string
		connStr       string
		authenticator Authenticator
		security      SecurityConfig
		says          string
	}{
		{"a nil pointer", plain, (*PasswordAuthenticator)(nil), SecurityConfig{}, "Authenticator is nil"},
		{"a password without a name", plain, PasswordAuthenticator{Password: "secret"}, SecurityConfig{}, "Username is empty"},
		{"a token without TLS", plain, JWTAuthenticator{Token: "secret"}, SecurityConfig{}, "Authenticator needs TLS: use couchbases://"},
		{"a token without TLS, of one's own authenticator", plain, proving{token: "secret"}, SecurityConfig{}, "Token needs TLS"},
		{"an empty token", secure, JWTAuthenticator{}, SecurityConfig{}, "JWTAuthenticator.Token is empty"},
		{"an empty token, by a pointer", secure, &JWTAuthenticator{}, SecurityConfig{}, "JWTAuthenticator.Token is empty"},
		{"a token that would end the header", secure, JWTAuthenticator{Token: "secret\r\nX: y"}, SecurityConfig{}, "Token has at byte 6 a character"},
		{"a token with a byte that separates", secure, JWTAuthenticator{Token: "secret\x01"}, SecurityConfig{}, "RFC 6750"},
		{"a token with a space", secure, JWTAuthenticator{Token: "sec ret"}, SecurityConfig{}, "RFC 6750"},
		{"a token of the end alone", secure, JWTAuthenticator{Token: "=="}, SecurityConfig{}, "Token is empty"},
		{
			"a token without its mechanism", secure,
			JWTAuthenticator{Token: "secret"},
			allow(PlainSaslMechanism),
			"SecurityConfig.AllowedSaslMechanisms lacks OAUTHBEARER",
		},
		{
			"a token without its mechanism, of one's own authenticator", secure,
			proving{token: "secret", mechanisms: []SaslMechanism{PlainSaslMechanism}},
			SecurityConfig{},
			"the mechanisms of Authenticator lacks OAUTHBEARER",
		},
		{
			"a password with the mechanism of tokens alone", secure,
			PasswordAuthenticator{Username: "u", Password: "secret"},
			allow(OAuthBearerSaslMechasnism),
			"has only OAUTHBEARER",
		},
		{
			"PLAIN without TLS that nobody allowed", plain,
			proving{pairs: []UserPassPair{{"u", "secret"}}, mechanisms: []SaslMechanism{PlainSaslMechanism}},
			SecurityConfig{},
			"only PLAIN, which needs TLS",
		},
		{"two passwords", plain, proving{pairs: []UserPassPair{{"u", "secret"}, {"v", "secret"}}}, SecurityConfig{}, "has 2 credentials for the service"},
		{"no certificate", secure, CertificateAuthenticator{}, SecurityConfig{}, "CertificateAuthenticator.ClientCertificate is nil"},
		{"nothing", secure, proving{}, SecurityConfig{}, "neither a name, nor a token, nor, with TLS, a certificate"},
		{"nothing, without TLS", plain, proving{}, SecurityConfig{}, "neither a name, nor a token, nor, with TLS, a certificate"},
		{"one that does not support TLS", secure, proving{token: "secret", plainOnly: true}, SecurityConfig{}, "Authenticator does not support TLS"},
		{"a certificate without TLS", plain, proving{certificate: &tls.Certificate{}}, SecurityConfig{}, "nor, with TLS, a certificate"},
		{"an unknown mechanism", secure, JWTAuthenticator{Token: "secret"}, allow(OAuthBearerSaslMechasnism, "X"), `"X"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readSettings(c.connStr, Config{}, &ClusterOptions{Authenticator: c.authenticator, SecurityConfig: c.security})
			if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if err != nil && strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "secret") {
				t.Errorf("the error shows the secret: %v", err)
			}
		})
	}
}

// An authenticator that cannot answer is an error that matches its own.
func TestAnAuthenticatorThatFails(t *testing.T) {
	mine := errors.New("mine")
	for name, a := range map[string]proving{"the token": {err: mine}, "the name": {unnamed: mine}, "the certificate": {uncertain: mine}} {
		_, err := readSettings("couchbases://h", Config{}, &ClusterOptions{Authenticator: a})
		if !errors.Is(err, mine) || !errors.Is(err, ErrAuthenticationFailure) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The mechanisms of a login: those that are allowed, else those of the authenticator.
func TestTheMechanismsOfALogin(t *testing.T) {
	password := PasswordAuthenticator{Username: "u", Password: "p"}
	for _, c := range []struct {
		name          string
		authenticator Authenticator
		secure        bool
		want          string
	}{
		{"a password with TLS", password, true, "[PLAIN]"},
		{"a password without TLS", password, false, "[SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1]"},
		{"a token", JWTAuthenticator{Token: "t"}, true, "[OAUTHBEARER]"},
		{"a certificate", CertificateAuthenticator{}, true, "[]"},
	} {
		if got := fmt.Sprint(c.authenticator.DefaultSaslMechanisms(c.secure)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// No text of a value that has a secret shows it: not of the values themselves, and not of a struct that has them.
func TestTextsShowNoSecret(t *testing.T) {
	const secret = "the-secret"
	certificate := &tls.Certificate{Certificate: [][]byte{[]byte(secret)}, PrivateKey: secret}
	all := []any{
		UserPassPair{"u", secret},
		&UserPassPair{"u", secret},
		[]UserPassPair{{"u", secret}},
		ClusterOptions{Username: "u", Password: secret},
		&ClusterOptions{Password: secret},
		credential{pair: UserPassPair{"u", secret}},
		credential{token: secret},
	}
	for _, a := range []Authenticator{
		PasswordAuthenticator{"u", secret},
		&PasswordAuthenticator{"u", secret},
		JWTAuthenticator{secret},
		&JWTAuthenticator{secret},
		CertificateAuthenticator{certificate},
		&CertificateAuthenticator{certificate},
	} {
		all = append(all, a, []Authenticator{a}, struct{ A Authenticator }{a}, SetAuthenticatorOptions{Authenticator: a}, ClusterOptions{Authenticator: a})
	}
	for _, v := range all {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%d", []byte(secret))) {
				t.Errorf("%s of a %T shows the secret: %s", verb, v, text)
			}
		}
	}
}
