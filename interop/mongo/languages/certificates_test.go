package languages

import (
	"crypto/tls"
	"net/url"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// TestScenarioWithACertificate plays the scenario through a router whose file of users has the subject of the driver's certificate. The members
// see the router's user. The driver of Java reads certificates from a store of its own.
func TestScenarioWithACertificate(t *testing.T) {
	for _, c := range clients() {
		if slices.Contains([]string{"python", "node-7.8.0", "c"}, c.name) {
			t.Run(c.name, c.withCertificate)
		}
	}
}

func (c *client) withCertificate(t *testing.T) {
	t.Parallel()
	c.prepare(t)
	users, err := userfile.Parse([]byte(`{"users": [{"user": "CN=scenario,O=Example", "db": "$external"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	set, a := newRoutedSet(t), newAuthority(t)
	config := secured(a.server())
	config.ClientCAs, config.ClientAuth = a.pool(), tls.RequireAndVerifyClientCert
	l := startRouter(t, router.Config{Upstream: asRouter(set), Users: users, TLS: config})
	option, environment := c.trust(t, a)
	uri := l.uri() + "?tls=true&authMechanism=MONGODB-X509&authSource=%24external" + option +
		"&tlsCertificateKeyFile=" + url.QueryEscape(a.clientFile("scenario"))
	profileUsers(t, set)
	c.follow(t, set, uri, "insert", func(v verifier) { v.throughThis(l, c.driver, false) }, environment...)
	checkUsers(t, set, routerUser+"@admin")
}
