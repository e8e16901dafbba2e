package mongo_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// ocspColumn is a column of the table in the test plan of OCSP Support, "Integration Tests: Permutations to Be Tested".
type ocspColumn struct {
	options mongotest.OCSPOptions
	answer  mongotest.OCSPAnswer
	refused bool   // with tls=true
	text    string // in the error
}

const (
	isRevoked  = "is revoked since "
	notStapled = "demands a stapled OCSP answer"
)

// play runs the column with RSA and ECDSA keys and, if there is a responder, with the issuer's answers and a delegate's: for each of the URI
// options a ping succeeds or fails.
func (c *ocspColumn) play(t *testing.T) {
	for _, rsa := range []bool{true, false} {
		for _, delegated := range []bool{false, true} {
			if delegated && c.answer == mongotest.OCSPUnavailable {
				continue
			}
			o := c.options
			o.RSA, o.Delegated = rsa, delegated
			t.Run(fmt.Sprintf("RSA %t, delegate %t", rsa, delegated), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(o))
					set.OCSPResponder().Answer(c.answer)
					c.ping(t, set, "tlsCAFile="+authorityFile(t, set), c.refused)
					c.ping(t, set, "tlsInsecure=true", false)
					c.ping(t, set, "tlsAllowInvalidCertificates=true", false)
				})
			})
		}
	}
}

// ping sends a ping to a server, with a client that has these options besides tls=true.
func (c *ocspColumn) ping(t *testing.T, set *mongotest.Deployment, query string, refused bool) {
	t.Helper()
	err := pingWith(t, set, options.Client().ApplyURI(secureURI(set, query)))
	switch {
	case !refused && err != nil:
		t.Errorf("%s: %v", query, err)
	case refused && (err == nil || !strings.Contains(err.Error(), c.text)):
		t.Errorf("%s: %v; want %q", query, err, c.text)
	}
}

// authorityFile writes the certificate that signed the servers' to a file, and returns its path as a connection string has it.
func authorityFile(t *testing.T, set *mongotest.Deployment) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, set.CACertificate(), 0o600); err != nil {
		t.Fatal(err)
	}
	return url.QueryEscape(path)
}

// secureURI returns a connection string of a standalone with TLS, with more options.
func secureURI(set *mongotest.Deployment, query string) string {
	uri := set.URI()
	if query != "" {
		uri += "&" + query
	}
	return uri
}

// pingWith connects to a deployment with some options, and sends a ping.
func pingWith(t *testing.T, set *mongotest.Deployment, o *options.ClientOptions) error {
	t.Helper()
	client, err := mongo.Connect(o.SetDialer(set.Dialer()).SetHTTPClient(set.OCSPResponder().HTTPClient()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	return client.Ping(t.Context(), nil)
}

func TestOCSPProse1AValidCertificateAndAServerThatStaples(t *testing.T) {
	(&ocspColumn{options: mongotest.OCSPOptions{Staple: true, MustStaple: true}, answer: mongotest.OCSPGood}).play(t)
}

func TestOCSPProse2ARevokedCertificateAndAServerThatStaples(t *testing.T) {
	(&ocspColumn{
		options: mongotest.OCSPOptions{Staple: true, MustStaple: true}, answer: mongotest.OCSPRevoked, refused: true, text: isRevoked,
	}).play(t)
}

func TestOCSPProse3AValidCertificateAndAServerThatDoesNotStaple(t *testing.T) {
	(&ocspColumn{answer: mongotest.OCSPGood}).play(t)
}

func TestOCSPProse4ARevokedCertificateAndAServerThatDoesNotStaple(t *testing.T) {
	(&ocspColumn{answer: mongotest.OCSPRevoked, refused: true, text: isRevoked}).play(t)
}

func TestOCSPProseSoftFail(t *testing.T) {
	(&ocspColumn{answer: mongotest.OCSPUnavailable}).play(t)
}

func TestOCSPProseMaliciousServer1ARevokedCertificateThatIsNotStapled(t *testing.T) {
	(&ocspColumn{options: mongotest.OCSPOptions{MustStaple: true}, answer: mongotest.OCSPRevoked, refused: true, text: notStapled}).play(t)
}

func TestOCSPProseMaliciousServer2NoResponderAndNothingStapled(t *testing.T) {
	(&ocspColumn{options: mongotest.OCSPOptions{MustStaple: true}, answer: mongotest.OCSPUnavailable, refused: true, text: notStapled}).play(t)
}
