// Package revocation decides whether a server's certificate may still be used, by OCSP (RFC 6960), as MongoDB's specification "OCSP Support"
// wants it. [Checker.Check] has the whole order: the answer that the server staples, the client's cache, the responders that the certificate
// names. If none knows, the certificate is accepted ("soft fail"); if one says that it is revoked, it is not.
//
// Only the server's own certificate is checked, not those of the authorities between it and the root: the specification asks for no request
// about these. Revocation lists are not read, and whether a responder's own certificate is revoked is not checked.
//
// Begin with checker.go. Then certificate.go (whose certificate, and of which issuer), answer.go (when an answer counts), cache.go and
// responders.go.
package revocation
