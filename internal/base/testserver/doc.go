// Package testserver has the parts that servers for tests of different databases share: a gate that holds bytes back, a connection's
// end by reset, an authority that issues certificates, an OCSP responder, the middleware in use, and the text of a journal.
package testserver
