package revocation

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/ocsp"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/interop/internal/guide"
	"github.com/holdfast-db/holdfast/mongotest"
)

// row is a server with a certificate, and a client.
type row struct {
	name      string
	server    mongotest.OCSPOptions
	answer    mongotest.OCSPAnswer
	staple    *mongotest.OCSPAnswer // if it differs from the answer
	query     string                // is added to the connection string
	configure func(*options.ClientOptions)
	// then is called when a first client's ping has succeeded. Its outcome is that of a second connection of this client.
	then func(*mongotest.Deployment)
	why  string // ours differs; the guide has these words
}

// outcome is what a driver did: whether it accepted the server, and how often it asked.
type outcome struct {
	accepted bool
	asked    string
	revoked  bool // its error is the official type for a certificate that is revoked
}

func (o outcome) String() string {
	return fmt.Sprintf("accepted %t, it asks %s, the error of a revoked certificate %t", o.accepted, o.asked, o.revoked)
}

func answer(a mongotest.OCSPAnswer) *mongotest.OCSPAnswer { return &a }

const (
	good, revoked, unknown = mongotest.OCSPGood, mongotest.OCSPRevoked, mongotest.OCSPUnknown
	silence                = mongotest.OCSPSilence
)

const (
	whyUnknown    = "a stapled OCSP answer that knows nothing leads to the certificate's responders (OCSP Support)"
	whySilence    = "a silent responder does not use up a short connect timeout"
	whyResumed    = "a resumed TLS session whose stapled OCSP answer has expired is checked as if nothing were stapled"
	whyLenient    = "`tlsAllowInvalidCertificates` switches the check of revocation off (OCSP Support)"
	whyErrorTypes = "a certificate that is refused by OCSP is a `*tls.CertificateVerificationError` too"
)

var answers = []struct {
	name   string
	answer mongotest.OCSPAnswer
}{
	{"good", good},
	{"revoked", revoked},
	{"unknown", unknown},
	{"expired", mongotest.OCSPExpired},
	{"not valid yet", mongotest.OCSPNotYetValid},
	{"of another certificate", mongotest.OCSPOtherCertificate},
	{"of a wrong signer", mongotest.OCSPWrongSigner},
	{"of a signer without the usage", mongotest.OCSPWrongUsage},
	{"try later", mongotest.OCSPTryLater},
	{"malformed", mongotest.OCSPMalformed},
	{"unavailable", mongotest.OCSPUnavailable},
	{"silence", silence},
}

func rows() []row {
	var all []row
	for _, a := range answers {
		for _, server := range []mongotest.OCSPOptions{
			{}, {RSA: true, Delegated: true}, {Staple: true}, {Staple: true, Delegated: true}, {MustStaple: true}, {Staple: true, MustStaple: true},
		} {
			if server.RSA && a.answer > unknown {
				continue // the keys take long, and change nothing
			}
			r := row{name: fmt.Sprintf("%s, %+v", a.name, server), server: server, answer: a.answer}
			if server.Staple && a.answer == unknown {
				r.why = whyUnknown
			}
			all = append(all, r)
		}
		all = append(all, row{name: a.name + ", no requests", answer: a.answer, query: "&tlsDisableOCSPEndpointCheck=true"})
		all = append(all, row{name: a.name + ", stapled, no check", server: mongotest.OCSPOptions{Staple: true, MustStaple: true}, answer: a.answer, query: "&tlsDisableCertificateRevocationCheck=true"})
		all = append(all, row{
			name: a.name + ", stapled, insecure", server: mongotest.OCSPOptions{Staple: true, MustStaple: true}, answer: a.answer,
			configure: func(o *options.ClientOptions) { o.TLSConfig.InsecureSkipVerify = true },
		})
	}
	return append(all,
		row{name: "stapled, good, and the responder says revoked", server: mongotest.OCSPOptions{Staple: true}, answer: revoked, staple: answer(good)},
		row{name: "stapled, revoked, and the responder says good", server: mongotest.OCSPOptions{Staple: true}, answer: good, staple: answer(revoked)},
		row{name: "revoked, and a check of the application's", answer: revoked, configure: func(o *options.ClientOptions) {
			o.TLSConfig.VerifyConnection = func(tls.ConnectionState) error { return nil }
		}},
		row{name: "revoked, and a check of the application's instead", answer: revoked, configure: func(o *options.ClientOptions) {
			o.TLSConfig.InsecureSkipVerify = true
			o.TLSConfig.VerifyConnection = func(tls.ConnectionState) error { return nil }
		}},
		row{name: "revoked, and invalid certificates are allowed", answer: revoked, query: "&tlsAllowInvalidCertificates=true", why: whyLenient},
		row{name: "silence, and a short connect timeout", answer: silence, query: "&connectTimeoutMS=3000", why: whySilence},
		row{name: "good, and revoked when the answer has expired", answer: good, then: func(set *mongotest.Deployment) {
			set.OCSPResponder().Answer(revoked)
			<-time.After(2 * time.Hour)
		}},
		row{name: "good, and revoked while the answer is valid", answer: good, then: func(set *mongotest.Deployment) {
			set.OCSPResponder().Answer(revoked)
			<-time.After(time.Minute)
		}},
		row{
			name: "stapled, good, then a resumed session", server: mongotest.OCSPOptions{Staple: true, MustStaple: true}, answer: good, why: whyResumed,
			configure: func(o *options.ClientOptions) { o.TLSConfig.ClientSessionCache = tls.NewLRUClientSessionCache(10) },
			then:      func(*mongotest.Deployment) { <-time.After(2 * time.Hour) },
		},
		row{name: "stapled, good, then nothing stapled", server: mongotest.OCSPOptions{Staple: true}, answer: good, then: func(set *mongotest.Deployment) {
			set.OCSPResponder().Answer(revoked)
			set.OCSPResponder().Staple(silence)
			<-time.After(time.Minute)
		}},
		row{name: "stapled, good, then stapled, revoked", server: mongotest.OCSPOptions{Staple: true}, answer: good, then: func(set *mongotest.Deployment) {
			<-time.After(time.Minute)
			set.OCSPResponder().Answer(revoked)
		}},
	)
}

// TestOurClientAcceptsAndRefusesAsTheOfficialOneDoes plays each row with both drivers. The outcomes must be the same, unless the row has a
// reason for a difference.
func TestOurClientAcceptsAndRefusesAsTheOfficialOneDoes(t *testing.T) {
	for _, r := range rows() {
		t.Run(strings.ReplaceAll(r.name, "/", "|"), func(t *testing.T) {
			var official, ours outcome
			synctest.Test(t, func(t *testing.T) { official = r.play(t, driver.NameOfficial) })
			synctest.Test(t, func(t *testing.T) { ours = r.play(t, driver.NameOurs) })
			if (official == ours) != (r.why == "") {
				t.Errorf("official: %v\nours: %v\nthe difference is %q", official, ours, r.why)
			}
		})
	}
}

func TestTheGuideHasEachReason(t *testing.T) {
	guide.Check(t, "MIGRATION.md", []string{whyUnknown, whySilence, whyResumed, whyLenient, whyErrorTypes})
}

func (r *row) play(t *testing.T, name string) outcome {
	set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(r.server))
	responder := set.OCSPResponder()
	responder.Answer(r.answer)
	if r.staple != nil {
		responder.Staple(*r.staple)
	}
	secure, err := set.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	// With monitors that poll, connections are made one after the other: no two ask at the same time.
	o := options.Client().ApplyURI(set.URI() + "&serverMonitoringMode=poll&maxIdleTimeMS=30000" + r.query).SetDialer(set.Dialer()).SetTLSConfig(secure).
		SetHTTPClient(responder.HTTPClient())
	if r.configure != nil {
		r.configure(o)
	}
	client, err := driver.Connect(name, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	err = client.Ping(t.Context())
	if r.then != nil {
		if err != nil {
			t.Fatalf("the first ping: %v", err)
		}
		r.then(set)
		err = client.Ping(t.Context())
	}
	return outcome{accepted: err == nil, asked: times(responder.Requests()), revoked: isRevoked(err)}
}

// times does not count the requests of more than one connection: the official driver has one more, which measures round trip times.
func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	default:
		return "for each connection"
	}
}

// isRevoked reports whether a program that looks for the official error of a revoked certificate finds it.
func isRevoked(err error) bool { return finds[*ocsp.Error](err) }

// finds reports whether errors.As finds a type, also where the selection of a server has put it.
func finds[E error](err error) bool {
	var found E
	if errors.As(err, &found) {
		return true
	}
	var selection topology.ServerSelectionError
	if errors.As(err, &selection) {
		for _, s := range selection.Desc.Servers {
			if errors.As(s.LastError, &found) {
				return true
			}
		}
	}
	return false
}

// TestTheErrorTypesOfACertificateThatIsRefused compares the types, and the texts where the official driver has a type.
func TestTheErrorTypesOfACertificateThatIsRefused(t *testing.T) {
	for _, r := range []row{
		{name: "revoked", answer: revoked},
		{name: "not stapled", server: mongotest.OCSPOptions{MustStaple: true}},
	} {
		t.Run(r.name, func(t *testing.T) {
			var official, ours error
			synctest.Test(t, func(t *testing.T) { official = r.refused(t, driver.NameOfficial) })
			synctest.Test(t, func(t *testing.T) { ours = r.refused(t, driver.NameOurs) })
			if finds[*ocsp.Error](official) != finds[*ocsp.Error](ours) {
				t.Errorf("official: %v\nours: %v", official, ours)
			}
			if finds[*tls.CertificateVerificationError](official) || !finds[*tls.CertificateVerificationError](ours) {
				t.Errorf("*tls.CertificateVerificationError, official: %v\nours: %v", official, ours)
			}
			if text := "OCSP verification failed: "; !strings.Contains(ours.Error(), text) || finds[*ocsp.Error](official) && !strings.Contains(official.Error(), text) {
				t.Errorf("official: %v\nours: %v", official, ours)
			}
		})
	}
}

// refused returns the error of the row's server.
func (r *row) refused(t *testing.T, name string) error {
	set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(r.server))
	set.OCSPResponder().Answer(r.answer)
	secure, err := set.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := driver.Connect(name, options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetTLSConfig(secure).
		SetHTTPClient(set.OCSPResponder().HTTPClient()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	return client.Ping(t.Context())
}
