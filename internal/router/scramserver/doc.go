// Package scramserver is the server's side of SCRAM-SHA-1 and SCRAM-SHA-256 (RFC 5802, RFC 7677), on what a MongoDB server keeps of a
// password. A conversation that succeeds recovers the client's key from its proof, so that a router can log in elsewhere as that user. The
// library github.com/xdg-go/scram has the conversation; this package adds its limits, the verifiers, and the client's key.
//
// No error has anything of a message, a password or a key in it.
package scramserver
