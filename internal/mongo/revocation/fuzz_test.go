package revocation

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// signing returns a responder, and a certificate about which it answers, with its issuer.
func signing(f *testing.F) (_ *testserver.Responder, leaf, issuer *x509.Certificate) {
	f.Helper()
	authority, err := testserver.NewAuthority("authority")
	if err != nil {
		f.Fatal(err)
	}
	responder, server, err := authority.Revocable([]string{"a.example"}, testserver.OCSPSettings{URL: "http://a.example"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(responder.Close)
	if issuer, err = x509.ParseCertificate(server.Certificates[0].Certificate[1]); err != nil {
		f.Fatal(err)
	}
	return responder, server.Certificates[0].Leaf, issuer
}

// FuzzAnswer gives read any bytes. What it accepts is what the responder has signed.
func FuzzAnswer(f *testing.F) {
	responder, leaf, issuer := signing(f)
	for a := testserver.OCSPGood; a <= testserver.OCSPMalformed; a++ {
		der, err := responder.Response(a, leaf.SerialNumber)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(der)
	}
	about := certificate{leaf, issuer}
	f.Fuzz(func(t *testing.T, der []byte) {
		a, err := about.read(der, time.Now())
		if err != nil {
			return
		}
		r, err := ocsp.ParseResponseForCert(der, leaf, issuer)
		if err != nil || r.Status != a.status || r.SerialNumber.Cmp(leaf.SerialNumber) != 0 {
			t.Errorf("%+v, but package ocsp says %+v, %v", a, r, err)
		}
	})
}

// FuzzIssuerIn reads what is signed without looking at the signature.
func FuzzIssuerIn(f *testing.F) {
	responder, leaf, _ := signing(f)
	der, err := responder.Response(testserver.OCSPGood, leaf.SerialNumber)
	if err != nil {
		f.Fatal(err)
	}
	r, err := ocsp.ParseResponseForCert(der, leaf, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(r.TBSResponseData)
	f.Fuzz(func(t *testing.T, der []byte) {
		nameHash, keyHash, err := issuerIn(&ocsp.Response{TBSResponseData: der, SerialNumber: leaf.SerialNumber})
		if err != nil && (nameHash != nil || keyHash != nil) {
			t.Errorf("%x, %x and %v", nameHash, keyHash, err)
		}
	})
}

func FuzzTLSFeature(f *testing.F) {
	f.Add([]byte{0x30, 3, 2, 1, 5})
	f.Add([]byte{0x30, 6, 2, 1, 17, 2, 1, 5})
	f.Fuzz(func(t *testing.T, value []byte) {
		must, err := mustStaple(&x509.Certificate{Extensions: []pkix.Extension{{Id: oidTLSFeature, Value: value}}})
		if must && err != nil {
			t.Errorf("%t and %v", must, err)
		}
	})
}
