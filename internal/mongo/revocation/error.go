package revocation

import (
	"crypto/x509"
	"fmt"
	"time"

	"golang.org/x/crypto/ocsp"
)

// Error says why a certificate is refused.
type Error struct {
	Certificate *x509.Certificate
	Revoked     bool // false: what the server has stapled, or has not, is at fault
	Err         error
}

// Error has the subject and the reason. It begins as the official driver's does.
func (e *Error) Error() string {
	return fmt.Sprintf("OCSP verification failed: the certificate of %q %v", e.Certificate.Subject.String(), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// reasons are the names of RFC 5280, 5.3.1. Without a reason the zero value is there.
var reasons = map[int]string{
	ocsp.KeyCompromise: "keyCompromise", ocsp.CACompromise: "cACompromise", ocsp.AffiliationChanged: "affiliationChanged",
	ocsp.Superseded: "superseded", ocsp.CessationOfOperation: "cessationOfOperation", ocsp.CertificateHold: "certificateHold",
	ocsp.RemoveFromCRL: "removeFromCRL", ocsp.PrivilegeWithdrawn: "privilegeWithdrawn", ocsp.AACompromise: "aACompromise",
}

// revokedError is the reason of a certificate that is revoked.
type revokedError struct {
	since  time.Time
	reason int
}

func (e *revokedError) Error() string {
	text := "is revoked since " + e.since.UTC().Format(time.RFC3339)
	if name := reasons[e.reason]; name != "" {
		text += " (" + name + ")"
	}
	return text
}
