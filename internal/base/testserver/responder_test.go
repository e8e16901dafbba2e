package testserver

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ocsp"
)

// responderOf returns a responder, the certificate of its server and the issuer.
func responderOf(t *testing.T, a *Authority, s OCSPSettings) (*Responder, *x509.Certificate) {
	t.Helper()
	s.URL = "http://responder.example/"
	r, _, err := a.Revocable([]string{"a.example", "127.0.0.1"}, s)
	if err != nil {
		t.Fatal(err)
	}
	return r, r.server.Leaf
}

func authorityFor(t *testing.T, found func(string) (*Authority, error)) *Authority {
	t.Helper()
	a, err := found("authority")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask sends a request about a certificate, by POST or GET.
func ask(t *testing.T, r *Responder, c, issuer *x509.Certificate, method string) (int, []byte, error) {
	t.Helper()
	der, err := ocsp.CreateRequest(c, issuer, nil)
	if err != nil {
		t.Fatal(err)
	}
	where, body := r.settings.URL, io.Reader(bytes.NewReader(der))
	if method == http.MethodGet {
		where, body = where+url.PathEscape(base64.StdEncoding.EncodeToString(der)), nil
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if answer, _ := r.Answers(); answer == OCSPSilence {
		cancel(errors.New("the client gives up"))
	}
	request, err := http.NewRequestWithContext(ctx, method, where, body)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := r.Client().Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer reply.Body.Close()
	der, err = io.ReadAll(reply.Body)
	return reply.StatusCode, der, err
}

func TestTheAnswersOfAResponder(t *testing.T) {
	for name, authority := range map[string]*Authority{"ECDSA": authorityFor(t, NewAuthority), "RSA": authorityFor(t, NewRSAAuthority)} {
		for _, delegated := range []bool{false, true} {
			r, leaf := responderOf(t, authority, OCSPSettings{Delegated: delegated})
			for a, want := range map[OCSPAnswer]int{
				OCSPGood: ocsp.Good, OCSPRevoked: ocsp.Revoked, OCSPUnknown: ocsp.Unknown, OCSPExpired: ocsp.Good, OCSPNotYetValid: ocsp.Good,
				OCSPWrongUsage: ocsp.Good,
			} {
				for _, method := range []string{http.MethodPost, http.MethodGet} {
					r.Set(a, OCSPGood)
					status, der, err := ask(t, r, leaf, authority.certificate, method)
					if err != nil || status != http.StatusOK {
						t.Fatalf("%s, answer %d: status %d, %v", name, a, status, err)
					}
					got, err := ocsp.ParseResponseForCert(der, leaf, authority.certificate)
					if err != nil || got.Status != want {
						t.Fatalf("%s, answer %d: %+v, %v", name, a, got, err)
					}
					now := time.Now()
					inTime := got.ThisUpdate.Before(now) && got.NextUpdate.After(now)
					if inTime != (a != OCSPExpired && a != OCSPNotYetValid) || (got.Certificate != nil) != (delegated || a == OCSPWrongUsage) {
						t.Errorf("%s, answer %d: %+v", name, a, got)
					}
				}
			}
			for _, a := range []OCSPAnswer{OCSPOtherCertificate, OCSPWrongSigner, OCSPTryLater, OCSPMalformed} {
				r.Set(a, OCSPGood)
				status, der, err := ask(t, r, leaf, authority.certificate, http.MethodPost)
				if got, bad := ocsp.ParseResponseForCert(der, leaf, authority.certificate); err != nil || status != http.StatusOK || bad == nil {
					t.Errorf("%s, answer %d: status %d, %v: %+v", name, a, status, err, got)
				}
			}
			r.Close()
		}
	}
}

func TestAResponderThatDoesNotAnswer(t *testing.T) {
	a := authorityFor(t, NewAuthority)
	r, leaf := responderOf(t, a, OCSPSettings{})
	r.Set(OCSPUnavailable, OCSPGood)
	if status, _, err := ask(t, r, leaf, a.certificate, http.MethodPost); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("status %d, %v", status, err)
	}
	r.Set(OCSPSilence, OCSPGood)
	if _, _, err := ask(t, r, leaf, a.certificate, http.MethodPost); err == nil {
		t.Error("a silent responder has answered")
	}
	r.Set(OCSPAnswer(100), OCSPGood)
	if status, _, err := ask(t, r, leaf, a.certificate, http.MethodPost); err != nil || status != http.StatusInternalServerError {
		t.Errorf("an answer that there is not: status %d, %v", status, err)
	}
	before := r.Requests()
	r.Close()
	if status, _, err := ask(t, r, leaf, a.certificate, http.MethodPost); err != nil || status != http.StatusServiceUnavailable || r.Requests() != before || before == 0 {
		t.Errorf("after Close: status %d, %v, %d requests", status, err, r.Requests())
	}
}

func TestRequestsThatAResponderRefuses(t *testing.T) {
	a, other := authorityFor(t, NewAuthority), authorityFor(t, NewAuthority)
	r, leaf := responderOf(t, a, OCSPSettings{})
	defer r.Close()
	if _, der, err := ask(t, r, leaf, other.certificate, http.MethodPost); err != nil || !bytes.Equal(der, ocsp.UnauthorizedErrorResponse) {
		t.Errorf("about another authority: %x, %v", der, err)
	}
	reply, err := r.Client().Post(r.settings.URL, "", bytes.NewReader([]byte("?")))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if der, err := io.ReadAll(reply.Body); err != nil || !bytes.Equal(der, ocsp.MalformedRequestErrorResponse) {
		t.Errorf("nonsense: %x, %v", der, err)
	}
	if reply, err := r.Client().Get("http://elsewhere.example/"); err == nil {
		reply.Body.Close()
		t.Error("the client reaches other hosts")
	}
}

func TestAServerThatStaples(t *testing.T) {
	a := authorityFor(t, NewAuthority)
	r, server, err := a.Revocable([]string{"a.example"}, OCSPSettings{URL: "http://a.example", Staple: true, MustStaple: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for answer, want := range map[OCSPAnswer]bool{OCSPGood: true, OCSPMalformed: true, OCSPUnavailable: false, OCSPSilence: false} {
		r.Set(OCSPRevoked, answer)
		c, err := server.GetCertificate(nil)
		if err != nil || (len(c.OCSPStaple) > 0) != want {
			t.Errorf("answer %d: %v, %v", answer, c, err)
		}
	}
	if len(r.server.OCSPStaple) > 0 {
		t.Error("the certificate of all connections was changed")
	}
}

// A fake clock stands still while certificates are made.
func TestSerialNumbersDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := authorityFor(t, NewAuthority)
		seen := make(map[string]bool)
		for range 20 {
			_, leaf := responderOf(t, a, OCSPSettings{})
			if seen[leaf.SerialNumber.String()] || leaf.SerialNumber.Sign() <= 0 {
				t.Fatalf("serial number %v", leaf.SerialNumber)
			}
			seen[leaf.SerialNumber.String()] = true
		}
	})
}
