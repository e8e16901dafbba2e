package router_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
)

// inCertificateWorld runs f with a router that knows the subject of a certificate, and ann of the database app. Connect returns a client with a
// certificate, or without one.
func inCertificateWorld(t *testing.T, mode tls.ClientAuthType, f func(w *world, connect func(certificates ...tls.Certificate) *wireClient, own tls.Certificate)) {
	t.Helper()
	own, trusted := identity(t)
	file := usersOf(t, user("CN=router", "$external", false), user("ann", "app", false))
	inWorld(t, func(w *world) {
		f(w, func(certificates ...tls.Certificate) *wireClient {
			c := w.dial()
			c.conn = tls.Client(c.conn, &tls.Config{RootCAs: trusted, ServerName: "router", Certificates: certificates})
			return c
		}, own)
	}, func(cfg *router.Config) {
		cfg.Users = file
		cfg.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: trusted, ClientAuth: mode}
	})
}

func authenticate(more ...bson.E) bson.D {
	return append(bson.D{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-X509"}}, more...)
}

func TestTheMessagesOfALoginWithACertificate(t *testing.T) {
	named := func(name string) bson.E { return bson.E{Key: "user", Value: name} }
	inCertificateWorld(t, tls.VerifyClientCertIfGiven, func(w *world, connect func(...tls.Certificate) *wireClient, own tls.Certificate) {
		for _, c := range []struct {
			name, db string
			client   *wireClient
			command  bson.D
			code     int32
		}{
			{"without the name", "$external", connect(own), authenticate(), 0},
			{"with the name", "$external", connect(own), authenticate(named("CN=router")), 0},
			{"with another name", "$external", connect(own), authenticate(named("CN=ann")), 18},
			{"of another database", "app", connect(own), authenticate(), 18},
			{"without a certificate", "$external", connect(), authenticate(), 18},
			{"without a certificate, with a name", "$external", connect(), authenticate(named("CN=router")), 18},
		} {
			if o := c.client.outcomeIn(c.db, c.command); o.Code != c.code || c.client.isLoggedIn() != (c.code == 0) {
				w.Errorf("a login %s: %+v", c.name, o)
			}
		}
		c := connect(own)
		reply := c.run(bson.D{{Key: "hello", Value: 1}, {Key: "speculativeAuthenticate", Value: authenticate(bson.E{Key: "db", Value: "$external"})}})
		if got, _ := reply.Lookup("speculativeAuthenticate", "user").StringValueOK(); got != "CN=router" || !c.isLoggedIn() {
			w.Errorf("a login in a hello: %v", reply)
		}
		if o := c.outcomeOf(saslStart(sha256, []byte("n,,n=ann,r=nonce"))); o.Code != 17 {
			w.Errorf("another user on the connection of the certificate: %+v", o)
		}
	})
}

// A connection has one user, however it logs in.
func TestACertificateBesideAPassword(t *testing.T) {
	inCertificateWorld(t, tls.VerifyClientCertIfGiven, func(w *world, connect func(...tls.Certificate) *wireClient, own tls.Certificate) {
		c := connect(own)
		begun := c.begin("ann", "ann")
		if o := c.outcomeIn("$external", authenticate()); o.OK != 1 {
			w.Errorf("while a login has begun: %+v", o)
		}
		if o := begun.prove(); o.Code != 17 {
			w.Errorf("the login that had begun: %+v", o)
		}
		c = connect(own)
		if err := c.login("ann", "ann"); err != nil {
			w.Fatal(err)
		}
		if o := c.outcomeIn("$external", authenticate()); o.Code != 18 {
			w.Errorf("on the connection of ann: %+v", o)
		}
		if got, _ := c.run(d("connectionStatus", 1)).Lookup("authInfo", "authenticatedUsers", "0", "user").StringValueOK(); got != "ann" {
			w.Errorf("the user is %q", got)
		}
		hello := c.run(bson.D{{Key: "hello", Value: 1}, {Key: "speculativeAuthenticate", Value: authenticate(bson.E{Key: "db", Value: "$external"})}})
		if hello.Lookup("speculativeAuthenticate").Type != 0 {
			w.Errorf("a hello on the connection of ann: %v", hello)
		}
		c.must(d("logout", 1))
		if o := c.outcomeIn("$external", authenticate()); o.OK != 1 {
			w.Errorf("after a logout: %+v", o)
		}
	})
}

// A certificate that nobody has verified is worth nothing.
func TestACertificateOfAnotherAuthority(t *testing.T) {
	other, _ := identity(t)
	inCertificateWorld(t, tls.RequestClientCert, func(w *world, connect func(...tls.Certificate) *wireClient, own tls.Certificate) {
		for _, certificate := range []tls.Certificate{other, own} {
			leaf, err := x509.ParseCertificate(certificate.Certificate[0])
			if err != nil || leaf.Subject.String() != "CN=router" {
				w.Fatal(leaf, err)
			}
			c := connect(certificate)
			if o := c.outcomeIn("$external", authenticate()); o.Code != 18 || c.isLoggedIn() {
				w.Errorf("%+v", o)
			}
		}
	})
}
