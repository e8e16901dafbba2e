package testserver

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"sync"
	"time"

	"golang.org/x/crypto/ocsp"
)

// OCSPAnswer is what a [Responder] answers about a certificate.
type OCSPAnswer int

// The answers. Those after OCSPUnknown say that the certificate is good, but a client must not believe them.
const (
	OCSPGood OCSPAnswer = iota
	OCSPRevoked
	OCSPUnknown
	OCSPExpired          // its time is over
	OCSPNotYetValid      // its time has not begun
	OCSPOtherCertificate // it is about another certificate
	OCSPWrongSigner      // another authority has signed it
	OCSPWrongUsage       // a certificate of the authority has signed it that is not for OCSP
	OCSPTryLater         // an error of the protocol
	OCSPMalformed        // bytes that are not an answer
	OCSPUnavailable      // over HTTP the status 503; nothing is stapled
	OCSPSilence          // over HTTP nothing until the client gives up; nothing is stapled
)

// OCSPSettings are those of a server's certificate and of the responder about it.
type OCSPSettings struct {
	URL        string // of the responder, in the certificate
	Staple     bool   // the server staples answers
	MustStaple bool   // the certificate demands that (RFC 7633)
	Delegated  bool   // a certificate for OCSP signing signs the answers, not that of the authority
}

// Responder answers whether certificates of an authority are revoked (RFC 6960). It is an http.Handler. It is safe for concurrent use.
type Responder struct {
	authority *Authority
	settings  OCSPSettings
	server    tls.Certificate
	delegate  tls.Certificate // for OCSP signing
	wrong     tls.Certificate // for anything else
	stranger  *Authority

	closed   chan struct{}
	handlers sync.WaitGroup

	mu             sync.Mutex
	answer, staple OCSPAnswer
	requests       int
}

// statusRequestFeature is the TLS feature extension with the feature 5 (RFC 7633).
var statusRequestFeature = pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 24}, Value: []byte{0x30, 3, 2, 1, 5}}

// Revocable returns a responder, and the settings of servers with these hosts whose certificate names it, see Server.
func (a *Authority) Revocable(hosts []string, s OCSPSettings) (*Responder, *tls.Config, error) {
	r := &Responder{authority: a, settings: s, closed: make(chan struct{})}
	var err error
	r.server, err = a.issue(pkix.Name{CommonName: hosts[0]}, hosts, func(c *x509.Certificate) {
		c.OCSPServer = []string{s.URL}
		if s.MustStaple {
			c.ExtraExtensions = []pkix.Extension{statusRequestFeature}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	r.delegate, err = a.issue(pkix.Name{CommonName: "responder"}, nil, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning} })
	if err != nil {
		return nil, nil, err
	}
	if r.wrong, err = a.Issue(pkix.Name{CommonName: "no responder"}, nil); err != nil {
		return nil, nil, err
	}
	if r.stranger, err = NewAuthority(a.certificate.Subject.CommonName); err != nil {
		return nil, nil, err
	}
	server := a.serverWith(r.server)
	if s.Staple {
		server.Certificates = nil
		server.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return r.stapled() }
	}
	return r, server, nil
}

// Set sets what the responder answers and what servers staple from now on.
func (r *Responder) Set(answer, staple OCSPAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer, r.staple = answer, staple
}

// Answers returns what Set has set.
func (r *Responder) Answers() (answer, staple OCSPAnswer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer, r.staple
}

// Requests returns how many requests have come.
func (r *Responder) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// stapled returns the server's certificate with an answer of this moment.
func (r *Responder) stapled() (*tls.Certificate, error) {
	c := r.server
	_, staple := r.Answers()
	if staple == OCSPSilence || staple == OCSPUnavailable {
		return &c, nil
	}
	var err error
	c.OCSPStaple, err = r.Response(staple, c.Leaf.SerialNumber)
	return &c, err
}

// Response returns an answer about a certificate of the authority, as bytes.
func (r *Responder) Response(a OCSPAnswer, serial *big.Int) ([]byte, error) {
	now := time.Now()
	says := ocsp.Response{Status: ocsp.Good, SerialNumber: serial, ThisUpdate: now.Add(-time.Hour), NextUpdate: now.Add(time.Hour)}
	signer, key := r.authority.certificate, r.authority.key
	by := func(c *tls.Certificate) {
		signer, says.Certificate = c.Leaf, c.Leaf
		key = c.PrivateKey.(crypto.Signer)
	}
	if r.settings.Delegated {
		by(&r.delegate)
	}
	switch a {
	case OCSPGood:
	case OCSPRevoked:
		says.Status, says.RevokedAt, says.RevocationReason = ocsp.Revoked, now.Add(-2*time.Hour), ocsp.KeyCompromise
	case OCSPUnknown:
		says.Status = ocsp.Unknown
	case OCSPExpired:
		says.ThisUpdate, says.NextUpdate = now.Add(-2*time.Hour), now.Add(-time.Hour)
	case OCSPNotYetValid:
		says.ThisUpdate, says.NextUpdate = now.Add(time.Hour), now.Add(2*time.Hour)
	case OCSPOtherCertificate:
		says.SerialNumber = new(big.Int).Add(serial, big.NewInt(1))
	case OCSPWrongSigner:
		says.Certificate = nil
		signer, key = r.stranger.certificate, r.stranger.key
	case OCSPWrongUsage:
		by(&r.wrong)
	case OCSPTryLater:
		return ocsp.TryLaterErrorResponse, nil
	case OCSPMalformed:
		garbage := make([]byte, 100)
		_, err := rand.Read(garbage)
		return garbage, err
	case OCSPUnavailable, OCSPSilence:
		return nil, nil
	default:
		return nil, fmt.Errorf("there is no OCSP answer %d", a)
	}
	return ocsp.CreateResponse(r.authority.certificate, signer, says, key)
}
