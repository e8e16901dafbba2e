package mongotest_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/crypto/ocsp"

	"github.com/holdfast-db/holdfast/mongotest"
)

// shownBy makes a TLS handshake with a deployment's first server.
func shownBy(t *testing.T, rs *mongotest.Deployment) tls.ConnectionState {
	t.Helper()
	cfg := must[*tls.Config](t)(rs.ClientTLS())
	cfg.InsecureSkipVerify = true
	nc, err := rs.Dialer().DialContext(within(t), "tcp", rs.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	secure := tls.Client(nc, cfg)
	if err := secure.HandshakeContext(within(t)); err != nil {
		t.Fatal(err)
	}
	return secure.ConnectionState()
}

// The official driver is the judge of what the servers and the responder do.
func TestACertificateThatIsRevoked(t *testing.T) {
	for _, c := range []struct {
		name    string
		options mongotest.OCSPOptions
		set     func(*mongotest.OCSPResponder)
		want    string // in the error; empty: the server is accepted
		asked   bool
	}{
		{name: "good", asked: true},
		{name: "revoked", set: answering(mongotest.OCSPRevoked), want: "certificate is revoked", asked: true},
		{name: "unknown", set: answering(mongotest.OCSPUnknown), asked: true},
		{name: "nobody answers", set: answering(mongotest.OCSPUnavailable), asked: true},
		{name: "nobody ever answers", set: answering(mongotest.OCSPSilence), asked: true},
		{name: "nonsense", set: answering(mongotest.OCSPMalformed), asked: true},
		{name: "an error", set: answering(mongotest.OCSPTryLater), asked: true},
		{name: "RSA, revoked", options: mongotest.OCSPOptions{RSA: true}, set: answering(mongotest.OCSPRevoked), want: "certificate is revoked", asked: true},
		{name: "a delegate, revoked", options: mongotest.OCSPOptions{Delegated: true}, set: answering(mongotest.OCSPRevoked), want: "certificate is revoked", asked: true},
		{name: "stapled, good", options: mongotest.OCSPOptions{Staple: true}},
		{name: "stapled, revoked", options: mongotest.OCSPOptions{Staple: true}, set: answering(mongotest.OCSPRevoked), want: "certificate is revoked"},
		{name: "stapled, good, although the responder says revoked", options: mongotest.OCSPOptions{Staple: true}, set: func(r *mongotest.OCSPResponder) {
			r.Answer(mongotest.OCSPRevoked)
			r.Staple(mongotest.OCSPGood)
		}},
		{name: "nothing is stapled, and the responder says revoked", options: mongotest.OCSPOptions{Staple: true}, set: func(r *mongotest.OCSPResponder) {
			r.Answer(mongotest.OCSPRevoked)
			r.Staple(mongotest.OCSPUnavailable)
		}, want: "certificate is revoked", asked: true},
		{name: "stapled, expired", options: mongotest.OCSPOptions{Staple: true}, set: answering(mongotest.OCSPExpired), want: "is before current time"},
		{name: "stapled, not valid yet", options: mongotest.OCSPOptions{Staple: true}, set: answering(mongotest.OCSPNotYetValid), want: "is after current time"},
		{name: "stapled, of another certificate", options: mongotest.OCSPOptions{Staple: true}, set: answering(mongotest.OCSPOtherCertificate), want: "no response matching"},
		{name: "stapled, of another signer", options: mongotest.OCSPOptions{Staple: true}, set: answering(mongotest.OCSPWrongSigner), want: "bad OCSP signature"},
		{name: "stapled, of a certificate for something else", options: mongotest.OCSPOptions{Staple: true}, set: answering(mongotest.OCSPWrongUsage), want: "missing the OCSP signing"},
		{name: "must staple, and does", options: mongotest.OCSPOptions{Staple: true, MustStaple: true}},
		{name: "must staple, and does not", options: mongotest.OCSPOptions{MustStaple: true}, want: "Must-Staple"},
		{name: "must staple, and cannot", options: mongotest.OCSPOptions{Staple: true, MustStaple: true}, set: answering(mongotest.OCSPUnavailable), want: "Must-Staple"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(c.options))
				if c.set != nil {
					c.set(rs.OCSPResponder())
				}
				client := connect(t, rs, options.Client().SetTLSConfig(must[*tls.Config](t)(rs.ClientTLS())).SetHTTPClient(rs.OCSPResponder().HTTPClient()))
				err := client.Ping(t.Context(), nil)
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v; want %q", err, c.want)
				}
				if n := rs.OCSPResponder().Requests(); n > 0 != c.asked {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func answering(a mongotest.OCSPAnswer) func(*mongotest.OCSPResponder) {
	return func(r *mongotest.OCSPResponder) { r.Answer(a) }
}

func TestTheResponderListensOnTCP(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.OCSP(mongotest.OCSPOptions{}))
	state := shownBy(t, rs)
	leaf, issuer := state.PeerCertificates[0], state.PeerCertificates[1]
	request := must[[]byte](t)(ocsp.CreateRequest(leaf, issuer, nil))
	for _, client := range []*http.Client{{Transport: &http.Transport{DisableKeepAlives: true}}, rs.OCSPResponder().HTTPClient()} {
		reply, err := client.Post(leaf.OCSPServer[0], "application/ocsp-request", bytes.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		der := must[[]byte](t)(io.ReadAll(reply.Body))
		if got := must[*ocsp.Response](t)(ocsp.ParseResponseForCert(der, leaf, issuer)); got.Status != ocsp.Good {
			t.Errorf("the answer is %+v", got)
		}
	}
	if n := rs.OCSPResponder().Requests(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// Close ends a request that nobody answers, and waits for it.
func TestCloseEndsASilentAnswer(t *testing.T) {
	rs := must[*mongotest.Deployment](t)(mongotest.RunStandalone(mongotest.OCSP(mongotest.OCSPOptions{})))
	rs.OCSPResponder().Answer(mongotest.OCSPSilence)
	leaf := shownBy(t, rs).PeerCertificates[0]
	ended := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		reply, err := client.Post(leaf.OCSPServer[0], "application/ocsp-request", strings.NewReader("?"))
		if err == nil {
			err = reply.Body.Close()
		}
		ended <- err
	}()
	for ctx := within(t); rs.OCSPResponder().Requests() == 0; {
		select {
		case <-ctx.Done():
			t.Fatal("the request has not come")
		case <-time.After(time.Millisecond):
		}
	}
	for range 2 {
		if err := rs.Close(); err != nil {
			t.Error(err)
		}
	}
	<-ended
}

// In memory too, where no connection is closed.
func TestCloseEndsASilentAnswerInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := must[*mongotest.Deployment](t)(mongotest.RunStandalone(mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{})))
		rs.OCSPResponder().Answer(mongotest.OCSPSilence)
		leaf := shownBy(t, rs).PeerCertificates[0]
		ended := make(chan error, 1)
		go func() {
			reply, err := rs.OCSPResponder().HTTPClient().Post(leaf.OCSPServer[0], "application/ocsp-request", strings.NewReader("?"))
			if err == nil {
				err = reply.Body.Close()
			}
			ended <- err
		}()
		synctest.Wait()
		if len(ended) > 0 || rs.OCSPResponder().Requests() != 1 {
			t.Errorf("%d requests, ended %t", rs.OCSPResponder().Requests(), len(ended) > 0)
		}
		if err := rs.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
}

func TestWithoutOCSPThereIsNoResponder(t *testing.T) {
	rs := mongotest.RunStandaloneT(t, mongotest.TLS())
	if rs.OCSPResponder() != nil || len(shownBy(t, rs).PeerCertificates[0].OCSPServer) > 0 {
		t.Error("there is a responder")
	}
}

func TestAnOCSPAnswerThatThereIsNot(t *testing.T) {
	r := mongotest.RunStandaloneT(t, mongotest.OCSP(mongotest.OCSPOptions{})).OCSPResponder()
	for name, call := range map[string]func(){
		"Answer": func() { r.Answer(mongotest.OCSPSilence + 1) }, "Staple": func() { r.Staple(-1) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "mongotest: "+name+": there is no OCSPAnswer ") {
					t.Errorf("%s: %q", name, text)
				}
			}()
			call()
		}()
	}
}
