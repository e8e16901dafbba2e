package mongotest

import (
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// OCSPOptions describe the servers' certificate of the option [OCSP].
type OCSPOptions struct {
	Staple     bool // the servers staple an answer in each handshake
	MustStaple bool // the certificate says that its servers staple (RFC 7633); it says so also if they do not
	Delegated  bool // the answers are signed by a responder's own certificate for OCSP signing, not by the authority
	RSA        bool // the keys of all certificates are RSA keys; without it they are ECDSA keys
}

// OCSP gives the servers a certificate that can be revoked: it names an OCSP responder that the deployment runs, see
// [Deployment.OCSPResponder]. The option includes [TLS].
func OCSP(o OCSPOptions) Option {
	return deploymentOption(func(c *config) { c.tls, c.ocsp = true, &o })
}

// OCSPAnswer is what an [OCSPResponder] answers.
type OCSPAnswer int

// The answers. Those after OCSPUnknown say that the certificate is good, but a client must not believe them.
const (
	OCSPGood             OCSPAnswer = OCSPAnswer(testserver.OCSPGood)
	OCSPRevoked          OCSPAnswer = OCSPAnswer(testserver.OCSPRevoked)
	OCSPUnknown          OCSPAnswer = OCSPAnswer(testserver.OCSPUnknown)
	OCSPExpired          OCSPAnswer = OCSPAnswer(testserver.OCSPExpired)          // its time is over
	OCSPNotYetValid      OCSPAnswer = OCSPAnswer(testserver.OCSPNotYetValid)      // its time has not begun
	OCSPOtherCertificate OCSPAnswer = OCSPAnswer(testserver.OCSPOtherCertificate) // it is about another certificate
	OCSPWrongSigner      OCSPAnswer = OCSPAnswer(testserver.OCSPWrongSigner)      // another authority has signed it
	OCSPWrongUsage       OCSPAnswer = OCSPAnswer(testserver.OCSPWrongUsage)       // it is signed with a certificate of the authority that is not for OCSP signing
	OCSPTryLater         OCSPAnswer = OCSPAnswer(testserver.OCSPTryLater)         // the protocol's error of that name
	OCSPMalformed        OCSPAnswer = OCSPAnswer(testserver.OCSPMalformed)        // bytes that are not an answer
	OCSPUnavailable      OCSPAnswer = OCSPAnswer(testserver.OCSPUnavailable)      // HTTP status 503; nothing is stapled
	OCSPSilence          OCSPAnswer = OCSPAnswer(testserver.OCSPSilence)          // nothing, until the client gives up; nothing is stapled
)

// OCSPResponder answers clients whether the servers' certificate is revoked. At first it says that it is good, and so do the answers that
// servers staple. An answer is valid from an hour before it is made until an hour after. On TCP the responder listens on a port of 127.0.0.1; in
// memory only its HTTPClient reaches it. It is safe for concurrent use.
type OCSPResponder struct {
	responder *testserver.Responder
	server    *http.Server // nil in memory
	listener  net.Listener
}

// OCSPResponder returns the deployment's responder, nil without the option [OCSP].
func (rs *Deployment) OCSPResponder() *OCSPResponder { return rs.ocsp }

// Answer sets what the responder answers from now on, and what the servers staple.
func (r *OCSPResponder) Answer(a OCSPAnswer) {
	r.check("Answer", a)
	r.responder.Set(testserver.OCSPAnswer(a), testserver.OCSPAnswer(a))
}

// Staple sets what the servers staple from now on. What the responder answers stays as it is.
func (r *OCSPResponder) Staple(a OCSPAnswer) {
	r.check("Staple", a)
	answer, _ := r.responder.Answers()
	r.responder.Set(answer, testserver.OCSPAnswer(a))
}

func (r *OCSPResponder) check(method string, a OCSPAnswer) {
	if a < OCSPGood || a > OCSPSilence {
		panic(fmt.Sprintf("mongotest: %s: there is no OCSPAnswer %d", method, a))
	}
}

// Requests returns how many requests have come.
func (r *OCSPResponder) Requests() int { return r.responder.Requests() }

// HTTPClient returns a client that reaches the responder without a network, in memory and on TCP, and nothing else.
func (r *OCSPResponder) HTTPClient() *http.Client { return r.responder.Client() }

// revocable makes the servers' certificate and its responder.
func (rs *Deployment) revocable(o *OCSPOptions) (err error) {
	r := new(OCSPResponder)
	url := "http://ocsp.mongotest/"
	if rs.network == nil {
		if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("mongotest: listening for the OCSP responder: %w", err)
		}
		url = "http://" + r.listener.Addr().String() + "/"
	}
	r.responder, rs.tls, err = rs.authority.Revocable(rs.hosts(), testserver.OCSPSettings{
		URL: url, Staple: o.Staple, MustStaple: o.MustStaple, Delegated: o.Delegated,
	})
	if err == nil {
		r.responder.Set(testserver.OCSPGood, testserver.OCSPGood)
		rs.ocsp = r
	}
	if r.listener != nil && err != nil {
		err = errors.Join(err, r.listener.Close())
	}
	return err
}

// serve answers requests over HTTP. It is called once, when everything is there that listen needs.
func (r *OCSPResponder) serve(rs *Deployment) {
	if r == nil || r.listener == nil {
		return
	}
	r.server = &http.Server{Handler: r.responder, ConnState: func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew: // on the goroutine of Serve
			rs.wg.Add(1)
		case http.StateClosed, http.StateHijacked:
			rs.wg.Done()
		case http.StateActive, http.StateIdle:
		}
	}}
	rs.wg.Go(func() { _ = r.server.Serve(r.listener) })
}

// close ends the requests under way.
func (r *OCSPResponder) close() error {
	if r == nil {
		return nil
	}
	r.responder.Close()
	if r.server == nil {
		return nil
	}
	return r.server.Close()
}
