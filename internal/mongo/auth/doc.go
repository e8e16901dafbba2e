// Package auth has the client's side of the authentication mechanisms, as conversations of bytes: it writes commands and
// reads replies, and whoever owns the connection sends them. It has no sockets and no clock.
//
// The rules are those of the Driver Authentication specification, RFC 5802 and RFC 7677 (SCRAM), and RFC 4616 (PLAIN).
package auth
