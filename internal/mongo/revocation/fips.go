//go:build go1.26

package revocation

import "crypto/fips140"

// naming calls a function that hashes names, also where the process permits only the algorithms of FIPS 140: the SHA-1 of a CertID protects
// nothing, and most responders know no other.
func naming(hash func()) { fips140.WithoutEnforcement(hash) }
