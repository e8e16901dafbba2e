package revocation

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"
)

var (
	errFeature      = errors.New("has a TLS feature extension that cannot be read")
	errNotStapled   = errors.New("demands a stapled OCSP answer, and the server has stapled none")
	errOtherIssuer  = errors.New("the answer is about a certificate of another issuer")
	errOtherSigner  = errors.New("the answer is not signed by the certificate's issuer, nor by a responder of that issuer")
	errSignersUsage = errors.New("the answer is signed by a certificate that is not for OCSP signing")
	errSignersDates = errors.New("the answer is signed by a certificate that has expired or is not valid yet")
)

// answer is what an OCSP response says about one certificate.
type answer struct {
	status      int // of package ocsp
	from, until time.Time
	revoked     revokedError
}

// isConclusive reports whether an answer says what the certificate's status is.
func (a *answer) isConclusive() bool { return a.status == ocsp.Good || a.status == ocsp.Revoked }

// holds reports whether an answer counts at a moment. The specification permits no tolerance. An answer without an end counts when it comes.
func (a *answer) holds(now time.Time) bool {
	return !now.Before(a.from) && (a.until.IsZero() || now.Before(a.until))
}

// isNewer reports whether an answer is newer than another. Without an end it is so if it does not begin before the other: there may be newer
// information at any time (RFC 6960, 2.4), but a server may staple an old answer again.
func (a *answer) isNewer(than *answer) bool {
	if a.until.IsZero() {
		return !a.from.Before(than.from)
	}
	return a.until.After(than.until)
}

// datesError is the error of an answer that does not hold now.
type datesError struct{ from, until, now time.Time }

func (e *datesError) Error() string {
	text := "the answer is valid from " + e.from.UTC().Format(time.RFC3339)
	if !e.until.IsZero() {
		text += " to " + e.until.UTC().Format(time.RFC3339)
	}
	return text + ", and it is " + e.now.UTC().Format(time.RFC3339)
}

// isOfAnotherTime reports whether an answer does not count only because of the time: its own, or that of the certificate that has signed it.
func isOfAnotherTime(err error) bool {
	var dates *datesError
	return errors.As(err, &dates) || errors.Is(err, errSignersDates)
}

// read returns what an OCSP response says about the certificate, or why it does not count (RFC 6960, 3.2).
func (c *certificate) read(der []byte, now time.Time) (answer, error) {
	r, err := ocsp.ParseResponseForCert(der, c.leaf, nil)
	if err != nil {
		return answer{}, err
	}
	if err := c.checkSigner(r, now); err != nil {
		return answer{}, err
	}
	if err := c.checkID(r); err != nil {
		return answer{}, err
	}
	a := answer{status: r.Status, from: r.ThisUpdate, until: r.NextUpdate, revoked: revokedError{r.RevokedAt, r.RevocationReason}}
	if !a.holds(now) {
		return answer{}, &datesError{a.from, a.until, now}
	}
	return a, nil
}

// checkSigner checks that the issuer has signed the response, or a responder to which it has delegated that (RFC 6960, 4.2.2.2). Package ocsp
// has checked that the certificate in the response, if there is one, belongs to the signature.
func (c *certificate) checkSigner(r *ocsp.Response, now time.Time) error {
	signer := r.Certificate
	switch {
	case signer == nil:
		if r.CheckSignatureFrom(c.issuer) != nil {
			return errOtherSigner
		}
		return nil
	case bytes.Equal(signer.RawSubjectPublicKeyInfo, c.issuer.RawSubjectPublicKeyInfo):
		// it is the issuer's own
	case !hasSigned(c.issuer, signer):
		return errOtherSigner
	case !slices.Contains(signer.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning):
		return errSignersUsage
	case now.Before(signer.NotBefore) || now.After(signer.NotAfter):
		return errSignersDates
	}
	return nil
}

// checkID checks the issuer in the response's CertID: package ocsp has looked at the serial number only.
func (c *certificate) checkID(r *ocsp.Response) error {
	_, want, err := c.request(r.IssuerHash)
	if err != nil {
		return err
	}
	nameHash, keyHash, err := issuerIn(r)
	if err != nil {
		return err
	}
	if string(nameHash) != want.nameHash || string(keyHash) != want.keyHash {
		return errOtherIssuer
	}
	return nil
}

// issuerIn returns the hashes of the issuer in a response, of the first answer with the serial number, which is the one that package ocsp reads.
func issuerIn(r *ocsp.Response) (nameHash, keyHash []byte, err error) {
	var data struct {
		Version     int `asn1:"optional,default:0,explicit,tag:0"`
		ResponderID asn1.RawValue
		ProducedAt  time.Time `asn1:"generalized"`
		Responses   []struct {
			ID struct {
				Algorithm         asn1.RawValue
				NameHash, KeyHash []byte
				SerialNumber      *big.Int
			}
		}
	}
	if _, err := asn1.Unmarshal(r.TBSResponseData, &data); err != nil {
		return nil, nil, err
	}
	for _, one := range data.Responses {
		if one.ID.SerialNumber.Cmp(r.SerialNumber) == 0 {
			return one.ID.NameHash, one.ID.KeyHash, nil
		}
	}
	return nil, nil, errOtherIssuer
}
