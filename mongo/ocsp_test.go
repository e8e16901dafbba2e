package mongo_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Source: OCSP Support, "MongoClient Configuration" and "How OCSP interacts with existing configuration options".
func TestTheOptionsOfTheRevocationCheck(t *testing.T) {
	staple := mongotest.OCSPOptions{Staple: true}
	for _, c := range []struct {
		name      string
		query     string
		configure func(*options.ClientOptions)
		server    mongotest.OCSPOptions
		refused   bool
		asked     bool
	}{
		{name: "none", refused: true, asked: true},
		{name: "tlsDisableOCSPEndpointCheck", query: "tlsDisableOCSPEndpointCheck=true"},
		{name: "tlsDisableOCSPEndpointCheck, false", query: "tlsDisableOCSPEndpointCheck=false", refused: true, asked: true},
		{name: "tlsDisableOCSPEndpointCheck with a stapled answer", query: "tlsDisableOCSPEndpointCheck=true", server: staple, refused: true},
		{name: "tlsDisableOCSPEndpointCheck with an answer that must be stapled", query: "tlsDisableOCSPEndpointCheck=true", server: mongotest.OCSPOptions{MustStaple: true}, refused: true},
		{name: "SetDisableOCSPEndpointCheck", configure: func(o *options.ClientOptions) { o.SetDisableOCSPEndpointCheck(true) }},
		{name: "tlsDisableCertificateRevocationCheck", query: "tlsDisableCertificateRevocationCheck=true", server: mongotest.OCSPOptions{Staple: true, MustStaple: true}},
		{name: "tlsDisableCertificateRevocationCheck, and nothing stapled", query: "tlsDisableCertificateRevocationCheck=true", server: mongotest.OCSPOptions{MustStaple: true}},
		{name: "tlsDisableCertificateRevocationCheck, false", query: "tlsDisableCertificateRevocationCheck=false", refused: true, asked: true},
		{name: "SetDisableCertificateRevocationCheck", configure: func(o *options.ClientOptions) { o.SetDisableCertificateRevocationCheck(true) }},
		{name: "tlsAllowInvalidCertificates", query: "tlsAllowInvalidCertificates=true", server: staple},
		{name: "tlsAllowInvalidCertificates, false", query: "tlsAllowInvalidCertificates=false", refused: true, asked: true},
		{name: "tlsAllowInvalidHostnames", query: "tlsAllowInvalidHostnames=true", refused: true, asked: true},
		{name: "InsecureSkipVerify", server: staple, configure: func(o *options.ClientOptions) { o.TLSConfig.InsecureSkipVerify = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(c.server))
				set.OCSPResponder().Answer(mongotest.OCSPRevoked)
				cfg, err := set.ClientTLS()
				if err != nil {
					t.Fatal(err)
				}
				o := options.Client().ApplyURI(secureURI(set, c.query)).SetTLSConfig(cfg)
				if c.configure != nil {
					c.configure(o)
				}
				if err := pingWith(t, set, o); (err != nil) != c.refused {
					t.Errorf("refused: %v", err)
				}
				if n := set.OCSPResponder().Requests(); n > 0 != c.asked {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// All connections of a client have one cache, and each client has its own.
func TestAClientAsksOnceAboutACertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{}))
		cfg, err := set.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetTLSConfig(cfg).
				SetHTTPClient(set.OCSPResponder().HTTPClient()).SetMaxConnecting(1))
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Ping(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			before := set.OCSPResponder().Requests()
			set.Kill(set.Primary())
			if _, err := set.WaitPrimary(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := client.Ping(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if n := set.OCSPResponder().Requests(); n != before || n <= i {
				t.Errorf("client %d: %d requests, then %d", i, before, n)
			}
			for member := range 3 {
				set.Restart(member)
			}
			client.Disconnect(t.Context())
		}
	})
}

// A long time after it was revoked, a connection that is new is refused. Those that are open stay.
func TestACertificateThatIsRevokedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{}))
		cfg, err := set.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetTLSConfig(cfg).
			SetHTTPClient(set.OCSPResponder().HTTPClient()).SetMaxConnIdleTime(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Disconnect(t.Context())
		ping := func() error { return client.Ping(t.Context(), nil) }
		if err := ping(); err != nil {
			t.Fatal(err)
		}
		set.OCSPResponder().Answer(mongotest.OCSPRevoked)
		<-time.After(30 * time.Minute)
		if err := ping(); err != nil {
			t.Errorf("the answer that the client has is good for an hour: %v", err)
		}
		<-time.After(31 * time.Minute)
		if err := ping(); err == nil || !strings.Contains(err.Error(), isRevoked) {
			t.Errorf("%v", err)
		}
	})
}

// Disconnect waits for no responder: the checks under way end with their connections, and leave no goroutine behind.
func TestDisconnectEndsTheRevocationCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{}))
		set.OCSPResponder().Answer(mongotest.OCSPSilence)
		cfg, err := set.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetTLSConfig(cfg).
			SetHTTPClient(set.OCSPResponder().HTTPClient()).SetMinPoolSize(5))
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		monitors := set.OCSPResponder().Requests()
		<-time.After(5 * time.Second)
		if n := set.OCSPResponder().Requests(); monitors != 3 || n < 6 {
			t.Errorf("%d requests of monitors, %d with those of pools", monitors, n)
		}
		began := time.Now()
		if err := client.Disconnect(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// The clock of the tls.Config decides which answers have expired.
func TestTheClockOfTheRevocationCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{Staple: true}))
		cfg, err := set.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Time = func() time.Time { return time.Now().Add(2 * time.Hour) }
		err = pingWith(t, set, options.Client().ApplyURI(set.URI()).SetTLSConfig(cfg))
		if err == nil || !strings.Contains(err.Error(), "stapled OCSP answer that is invalid: the answer is valid from") {
			t.Errorf("%v", err)
		}
	})
}

// counted counts the requests that a transport gets.
type counted struct {
	http.RoundTripper
	n atomic.Int64
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

// Over TCP, with the HTTP client that the official options have without SetHTTPClient, with the application's, and with none.
func TestWhichHTTPClientIsUsed(t *testing.T) {
	set := mongotest.RunStandaloneT(t, mongotest.OCSP(mongotest.OCSPOptions{}))
	cfg, err := set.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	mine := &counted{RoundTripper: set.OCSPResponder().HTTPClient().Transport}
	for i, configure := range []func(*options.ClientOptions){
		func(*options.ClientOptions) {},
		func(o *options.ClientOptions) { o.SetHTTPClient(nil) },
		func(o *options.ClientOptions) { o.SetHTTPClient(&http.Client{Transport: mine}) },
	} {
		o := options.Client().ApplyURI(set.URI()).SetTLSConfig(cfg)
		configure(o)
		before := set.OCSPResponder().Requests()
		client, err := mongo.Connect(o)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Database("db").RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err()
		client.Disconnect(t.Context())
		if err != nil || set.OCSPResponder().Requests() == before || (mine.n.Load() > 0) != (i == 2) {
			t.Errorf("client %d: %v, %d requests, %d by the application's", i, err, set.OCSPResponder().Requests(), mine.n.Load())
		}
	}
}

// InsecureSkipVerify of a configuration that takes the place of the connection string's decides, as in the official driver.
func TestATLSConfigReplacesTLSInsecure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.OCSP(mongotest.OCSPOptions{Staple: true}))
		set.OCSPResponder().Answer(mongotest.OCSPRevoked)
		cfg, err := set.ClientTLS()
		if err != nil {
			t.Fatal(err)
		}
		err = pingWith(t, set, options.Client().ApplyURI(secureURI(set, "tlsInsecure=true")).SetTLSConfig(cfg))
		if err == nil || !strings.Contains(err.Error(), isRevoked) {
			t.Errorf("%v", err)
		}
		err = pingWith(t, set, options.Client().ApplyURI(set.URI()).SetTLSConfig(&tls.Config{InsecureSkipVerify: true}))
		if err != nil {
			t.Error(err)
		}
	})
}
