package couchbase

import "log/slog"

// Handlers of package slog write the fields of a value unless it says what to write: so a log would have the secrets.
var (
	_ slog.LogValuer = UserPassPair{}
	_ slog.LogValuer = PasswordAuthenticator{}
	_ slog.LogValuer = JWTAuthenticator{}
	_ slog.LogValuer = CertificateAuthenticator{}
	_ slog.LogValuer = ClusterOptions{}
	_ slog.LogValuer = SetAuthenticatorOptions{}
)

// LogValue returns the same as String, for package slog.
func (p UserPassPair) LogValue() slog.Value { return slog.StringValue(p.String()) }

// LogValue returns the same as String, for package slog.
func (ra PasswordAuthenticator) LogValue() slog.Value { return slog.StringValue(ra.String()) }

// LogValue returns the same as String, for package slog.
func (ja JWTAuthenticator) LogValue() slog.Value { return slog.StringValue(ja.String()) }

// LogValue returns the same as String, for package slog.
func (ca CertificateAuthenticator) LogValue() slog.Value { return slog.StringValue(ca.String()) }

// LogValue returns the same as String, for package slog.
func (opts ClusterOptions) LogValue() slog.Value { return slog.StringValue(opts.String()) }

// LogValue returns what the authenticator says of itself, for package slog.
func (opts SetAuthenticatorOptions) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("Authenticator", opts.Authenticator))
}
