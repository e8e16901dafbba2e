package couchbase

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"
)

// No handler of package slog writes a secret of a value that is an attribute.
func TestLogsShowNoSecret(t *testing.T) {
	const secret = "the-secret"
	certificate := &tls.Certificate{Certificate: [][]byte{[]byte(secret)}, PrivateKey: secret}
	for _, c := range []struct {
		value any
		shows string
	}{
		{UserPassPair{"u", secret}, "UserPassPair(u)"},
		{&UserPassPair{"u", secret}, "UserPassPair(u)"},
		{PasswordAuthenticator{"u", secret}, "PasswordAuthenticator(u)"},
		{&PasswordAuthenticator{"u", secret}, "PasswordAuthenticator(u)"},
		{JWTAuthenticator{secret}, "JWTAuthenticator"},
		{&JWTAuthenticator{secret}, "JWTAuthenticator"},
		{CertificateAuthenticator{certificate}, "CertificateAuthenticator"},
		{ClusterOptions{Username: "u", Password: secret}, "Username:u"},
		{&ClusterOptions{Authenticator: PasswordAuthenticator{"u", secret}}, "PasswordAuthenticator(u)"},
		{SetAuthenticatorOptions{Authenticator: JWTAuthenticator{secret}}, "JWTAuthenticator"},
		{SetAuthenticatorOptions{Authenticator: &PasswordAuthenticator{"u", secret}}, "PasswordAuthenticator(u)"},
	} {
		var text, object bytes.Buffer
		for buffer, handler := range map[*bytes.Buffer]slog.Handler{&text: slog.NewTextHandler(&text, nil), &object: slog.NewJSONHandler(&object, nil)} {
			slog.New(handler).Info("m", "v", c.value, slog.Group("g", "v", c.value))
			line := buffer.String()
			if strings.Contains(line, secret) || strings.Count(line, c.shows) != 2 {
				t.Errorf("%T of a %T: %s", handler, c.value, line)
			}
		}
	}
}
