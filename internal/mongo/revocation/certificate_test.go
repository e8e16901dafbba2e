package revocation

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"net/http"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"
)

// pair is a certificate with its key.
type pair struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
}

// made returns a certificate that an issuer has signed, or the certificate itself if the issuer is nil.
func made(t *testing.T, name string, issuer *pair, change func(*x509.Certificate)) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return madeWith(t, name, key, issuer, change)
}

func madeWith(t *testing.T, name string, key *ecdsa.PrivateKey, issuer *pair, change func(*x509.Certificate)) *pair {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, OCSPServer: []string{"http://responder.example"},
	}
	if change != nil {
		change(template)
	}
	if issuer == nil {
		issuer = &pair{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.Certificate, &key.PublicKey, issuer.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{c, key}
}

// says returns an OCSP response about a certificate, and changes it before it is signed.
func says(t *testing.T, about, issuer, signer *pair, change func(*ocsp.Response)) []byte {
	t.Helper()
	r := ocsp.Response{
		Status: ocsp.Revoked, SerialNumber: about.SerialNumber, ThisUpdate: time.Now().Add(-time.Minute), NextUpdate: time.Now().Add(time.Minute),
	}
	if change != nil {
		change(&r)
	}
	der, err := ocsp.CreateResponse(issuer.Certificate, signer.Certificate, r, signer.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

type certs = []*x509.Certificate

// Source: RFC 6960, 4.1.1: a request is about an issuer and a serial number.
func TestWhoseCertificateIsChecked(t *testing.T) {
	root, other := made(t, "root", nil, nil), made(t, "other root", nil, nil)
	middle := made(t, "middle", root, nil)
	crossed := madeWith(t, "middle", middle.key, other, nil)
	impostor := made(t, "middle", root, nil) // the same name, another key
	leaf := made(t, "leaf", middle, nil)
	alone := made(t, "alone", nil, nil)
	ordinary := made(t, "alone", nil, func(c *x509.Certificate) { c.IsCA = false })
	for _, c := range []struct {
		name   string
		shown  certs
		chains []certs
		leaf   *pair
		issuer *pair // nil: it cannot be known
	}{
		{name: "one chain", shown: certs{leaf.Certificate, middle.Certificate}, chains: []certs{{leaf.Certificate, middle.Certificate, root.Certificate}}, leaf: leaf, issuer: middle},
		{
			name: "several chains", shown: certs{leaf.Certificate, middle.Certificate, crossed.Certificate},
			chains: []certs{{leaf.Certificate, crossed.Certificate, other.Certificate}, {leaf.Certificate, middle.Certificate, root.Certificate}},
			leaf:   leaf, issuer: middle,
		},
		{name: "a root that is the server's certificate", shown: certs{alone.Certificate}, chains: []certs{{alone.Certificate}}, leaf: alone, issuer: alone},
		{name: "a self-signed certificate that is not an authority's", shown: certs{ordinary.Certificate}, chains: []certs{{ordinary.Certificate}}, leaf: ordinary, issuer: ordinary},
		{name: "a certificate that is trusted itself, with an issuer that is shown", shown: certs{leaf.Certificate, impostor.Certificate, middle.Certificate}, chains: []certs{{leaf.Certificate}}, leaf: leaf, issuer: middle},
		{name: "a certificate that is trusted itself", shown: certs{leaf.Certificate}, chains: []certs{{leaf.Certificate}}, leaf: leaf},
		{name: "a certificate that is trusted itself, with an issuer's name", shown: certs{leaf.Certificate, impostor.Certificate}, chains: []certs{{leaf.Certificate}}, leaf: leaf},
		{name: "the first chain has no issuer", shown: certs{leaf.Certificate}, chains: []certs{{leaf.Certificate}, {leaf.Certificate, middle.Certificate}}, leaf: leaf, issuer: middle},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := tls.ConnectionState{PeerCertificates: c.shown, VerifiedChains: c.chains}
			about := certificateOf(&state)
			if c.issuer == nil {
				if about.issuer != nil {
					t.Errorf("the issuer is %v", about.issuer.Subject)
				}
			} else if about.issuer == nil || !bytes.Equal(about.issuer.RawSubjectPublicKeyInfo, c.issuer.RawSubjectPublicKeyInfo) {
				t.Fatal("it is not that issuer")
			}
			asked := 0
			checker := New(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				asked++
				return reply(200, bytes.NewReader(says(t, c.leaf, c.issuer, c.issuer, nil)))
			})}, false)
			var refused *Error
			err := checker.Check(t.Context(), state, time.Now)
			if known := c.issuer != nil; known != errors.As(err, &refused) || known != (asked == 1) {
				t.Errorf("%d requests, %v", asked, err)
			}
			if c.issuer == nil {
				state.OCSPResponse = says(t, leaf, middle, middle, nil)
				if err := checker.Check(t.Context(), state, time.Now); err != nil {
					t.Errorf("an answer that nobody can verify is stapled: %v", err)
				}
			}
		})
	}
}

// Source: RFC 6960, 3.2 and 4.2.2.2.
func TestWhichAnswersCount(t *testing.T) {
	issuer := made(t, "issuer", nil, nil)
	renamed := madeWith(t, "renamed", issuer.key, nil, nil) // the same key, another name
	leaf := made(t, "leaf", issuer, nil)
	signing := func(c *x509.Certificate) {
		c.IsCA, c.ExtKeyUsage = false, []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
	}
	delegate := made(t, "delegate", issuer, signing)
	own := func(signer *pair) func(*ocsp.Response) {
		return func(r *ocsp.Response) { r.Certificate = signer.Certificate }
	}
	with := func(change ...func(*x509.Certificate)) *pair {
		return made(t, "delegate", issuer, func(c *x509.Certificate) {
			signing(c)
			for _, f := range change {
				f(c)
			}
		})
	}
	stranger := made(t, "issuer", nil, nil)
	old := with(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	early := with(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })
	anyUsage := with(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} })
	renamedsDelegate, strangersDelegate := made(t, "delegate", renamed, signing), made(t, "delegate", stranger, signing)
	for _, c := range []struct {
		name   string
		answer []byte
		want   error // nil: it counts
	}{
		{"of the issuer", says(t, leaf, issuer, issuer, nil), nil},
		{"of the issuer, with its certificate", says(t, leaf, issuer, issuer, own(issuer)), nil},
		{"of a delegate", says(t, leaf, issuer, delegate, own(delegate)), nil},
		{"with SHA-256", says(t, leaf, issuer, issuer, func(r *ocsp.Response) { r.IssuerHash = crypto.SHA256 }), nil},
		{"of a delegate without its certificate", says(t, leaf, issuer, delegate, nil), errOtherSigner},
		{"of a delegate that has expired", says(t, leaf, issuer, old, own(old)), errSignersDates},
		{"of a delegate that is not valid yet", says(t, leaf, issuer, early, own(early)), errSignersDates},
		{"of a delegate that may do anything", says(t, leaf, issuer, anyUsage, own(anyUsage)), errSignersUsage},
		{"of the certificate itself", says(t, leaf, issuer, leaf, own(leaf)), errSignersUsage},
		{"of a stranger with the same name", says(t, leaf, issuer, stranger, own(stranger)), errOtherSigner},
		{"of a stranger's delegate", says(t, leaf, issuer, strangersDelegate, own(strangersDelegate)), errOtherSigner},
		{"of a delegate of the same key with another name", says(t, leaf, issuer, renamedsDelegate, own(renamedsDelegate)), errOtherSigner},
		{"about a certificate of another issuer", says(t, leaf, renamed, issuer, nil), errOtherIssuer},
		{"about a certificate of another key", says(t, leaf, stranger, issuer, nil), errOtherIssuer},
	} {
		t.Run(c.name, func(t *testing.T) {
			about := certificate{leaf.Certificate, issuer.Certificate}
			a, err := about.read(c.answer, time.Now())
			if !errors.Is(err, c.want) || err == nil && a.status != ocsp.Revoked {
				t.Errorf("%+v, %v; want %v", a, err, c.want)
			}
		})
	}
}

// Source: RFC 5280, 4.1.2.5: the dates of a certificate are inclusive.
func TestTheFirstAndTheLastMomentOfASigner(t *testing.T) {
	issuer := made(t, "issuer", nil, nil)
	leaf := made(t, "leaf", issuer, nil)
	signer := made(t, "delegate", issuer, func(c *x509.Certificate) {
		c.IsCA, c.ExtKeyUsage, c.NotBefore, c.NotAfter = false, []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, time.Now(), time.Now().Add(time.Minute)
	})
	der := says(t, leaf, issuer, signer, func(r *ocsp.Response) {
		r.Certificate, r.ThisUpdate, r.NextUpdate = signer.Certificate, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	})
	for _, c := range []struct {
		now  time.Time
		want error
	}{
		{signer.NotBefore.Add(-1), errSignersDates}, {signer.NotBefore, nil}, {signer.NotAfter, nil}, {signer.NotAfter.Add(1), errSignersDates},
	} {
		if _, err := (&certificate{leaf.Certificate, issuer.Certificate}).read(der, c.now); !errors.Is(err, c.want) {
			t.Errorf("at %v: %v, want %v", c.now, err, c.want)
		}
	}
}

// The answer about a certificate is the one with its serial number, and the issuer is that of the same answer (RFC 6960, 4.2.1).
func TestAResponseWithSeveralAnswers(t *testing.T) {
	issuer, stranger := made(t, "issuer", nil, nil), made(t, "stranger", nil, nil)
	numbered := func(serial int64) *pair {
		return made(t, "leaf", issuer, func(c *x509.Certificate) { c.SerialNumber = big.NewInt(serial) })
	}
	lower, leaf, higher := numbered(1), numbered(2), numbered(3)
	own := says(t, leaf, issuer, issuer, nil)
	foreign := says(t, leaf, stranger, issuer, nil)
	for _, c := range []struct {
		name    string
		answers [][]byte
		want    error
	}{
		{"others of a stranger around it", [][]byte{says(t, higher, stranger, issuer, nil), says(t, lower, stranger, issuer, nil), own}, nil},
		{"others of the issuer around a stranger's", [][]byte{says(t, higher, issuer, issuer, nil), says(t, lower, issuer, issuer, nil), foreign}, errOtherIssuer},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := (&certificate{leaf.Certificate, issuer.Certificate}).read(joined(t, issuer, c.answers), time.Now())
			if !errors.Is(err, c.want) || err == nil && a.status != ocsp.Revoked {
				t.Errorf("%+v, %v; want %v", a, err, c.want)
			}
		})
	}
}

// joined returns a response with the answers of several.
func joined(t *testing.T, signer *pair, responses [][]byte) []byte {
	t.Helper()
	type signed struct {
		Data struct {
			Responder asn1.RawValue
			Produced  time.Time `asn1:"generalized"`
			Answers   []asn1.RawValue
		}
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	type response struct {
		Status asn1.Enumerated
		Bytes  struct {
			Type asn1.ObjectIdentifier
			DER  []byte
		} `asn1:"explicit,tag:0"`
	}
	var outer response
	var whole signed
	for i, der := range responses {
		var one signed
		if _, err := asn1.Unmarshal(der, &outer); err != nil {
			t.Fatal(err)
		}
		if _, err := asn1.Unmarshal(outer.Bytes.DER, &one); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			whole = one
		} else {
			whole.Data.Answers = append(whole.Data.Answers, one.Data.Answers...)
		}
	}
	encoded := func(v any) []byte {
		der, err := asn1.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	hash := sha256.Sum256(encoded(whole.Data))
	signature, err := ecdsa.SignASN1(rand.Reader, signer.key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	whole.Signature = asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	outer.Bytes.DER = encoded(whole)
	return encoded(outer)
}

func TestAnAnswerWithoutAnEndCountsOnce(t *testing.T) {
	issuer := made(t, "issuer", nil, nil)
	leaf := made(t, "leaf", issuer, nil)
	asked := 0
	checker := New(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		asked++
		return reply(200, bytes.NewReader(says(t, leaf, issuer, issuer, func(r *ocsp.Response) { r.NextUpdate = time.Time{} })))
	})}, false)
	state := tls.ConnectionState{VerifiedChains: []certs{{leaf.Certificate, issuer.Certificate}}}
	for want := 1; want < 3; want++ {
		if err := checker.Check(t.Context(), state, time.Now); err == nil || asked != want {
			t.Errorf("%d requests, want %d: %v", asked, want, err)
		}
	}
}

// Source: RFC 7633, 4.1.
func TestTheTLSFeatureExtension(t *testing.T) {
	for _, c := range []struct {
		name  string
		value []byte // nil: no extension
		must  bool
		err   error
	}{
		{"none", nil, false, nil},
		{"status_request", []byte{0x30, 3, 2, 1, 5}, true, nil},
		{"two features", []byte{0x30, 6, 2, 1, 17, 2, 1, 5}, true, nil},
		{"another feature", []byte{0x30, 3, 2, 1, 17}, false, nil},
		{"no feature", []byte{0x30, 0}, false, nil},
		{"nonsense", []byte{1, 2, 3}, false, errFeature},
		{"something after it", []byte{0x30, 3, 2, 1, 5, 0}, false, errFeature},
	} {
		leaf := new(x509.Certificate)
		if c.value != nil {
			leaf.Extensions = []pkix.Extension{{Id: oidTLSFeature, Value: c.value}}
		}
		if must, err := mustStaple(leaf); must != c.must || !errors.Is(err, c.err) {
			t.Errorf("%s: %t, %v", c.name, must, err)
		}
	}
	issuer := made(t, "issuer", nil, nil)
	leaf := made(t, "leaf", issuer, func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: oidTLSFeature, Value: []byte{1, 2, 3}}}
	})
	state := tls.ConnectionState{VerifiedChains: []certs{{leaf.Certificate, issuer.Certificate}}}
	if err := New(nil, true).Check(t.Context(), state, time.Now); !errors.Is(err, errFeature) {
		t.Errorf("%v; want that it cannot be read", err)
	}
}

// Source: RFC 6960, 3.2. An answer may have no end.
func TestTheTextsOfDates(t *testing.T) {
	for _, c := range []struct {
		until time.Time
		want  string
	}{
		{at(1), "the answer is valid from 2000-01-01T00:00:00Z to 2000-01-01T00:01:00Z, and it is 2000-01-01T00:02:00Z"},
		{time.Time{}, "the answer is valid from 2000-01-01T00:00:00Z, and it is 2000-01-01T00:02:00Z"},
	} {
		local := time.FixedZone("", 3600)
		if got := (&datesError{at(0).In(local), c.until, at(2).In(local)}).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTheTextsOfReasons(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for reason, want := range map[int]string{
		0: "is revoked since 2026-01-02T02:04:05Z", 4: "is revoked since 2026-01-02T02:04:05Z (superseded)", 7: "is revoked since 2026-01-02T02:04:05Z",
	} {
		if got := (&revokedError{since, reason}).Error(); got != want {
			t.Errorf("reason %d: %q", reason, got)
		}
	}
}
