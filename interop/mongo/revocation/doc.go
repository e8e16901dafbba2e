// Package revocation gives the official driver and ours the same servers, whose certificates are good, revoked or something else by OCSP, and
// compares which servers they accept, how often they ask the responder, and the error types. It has only tests.
package revocation
