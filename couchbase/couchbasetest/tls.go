package couchbasetest

import "crypto/tls"

// secure makes the handshake of a TLS connection.
func (c *conn) secure(t *tls.Conn) bool { return t.Handshake() == nil }
