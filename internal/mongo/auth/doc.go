// Package auth has the client's side of the authentication mechanisms, as conversations of bytes: it writes commands and
// reads replies, and whoever owns the connection sends them. It has no sockets. Keys of AWS and tokens of OIDC come from functions that
// it is given; it keeps the token of all connections, and limits the time of the functions.
//
// The rules are those of the Driver Authentication specification, RFC 5802 and RFC 7677 (SCRAM), and RFC 4616 (PLAIN).
//
// The keys of SCRAM cost thousands of iterations, so an Authenticator keeps them for its next connections. It forgets them after
// 16 logins in which the server proved nothing: such a server could send another salt each time, and fill the memory.
//
// # Files
//
// Begin with login.go. Then mechanism.go (the interface of a mechanism), sasl.go, scram.go, plain.go, x509.go, aws.go, oidc.go and
// tokencache.go, credential.go.
package auth
