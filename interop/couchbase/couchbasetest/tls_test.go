package couchbasetest

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

func TestGocbConnectsWithTLS(t *testing.T) {
	c := couchbasetest.RunT(t, couchbasetest.Nodes(2), couchbasetest.TLS(), couchbasetest.Tokens("a.json.token"))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CACertificate())
	secure, err := c.ClientTLS(c.Username())
	must(t, "ClientTLS", err, nil)
	for _, test := range []struct {
		name string
		auth gocb.Authenticator
	}{
		{"by a password", gocb.PasswordAuthenticator{Username: c.Username(), Password: c.Password()}},
		{"by a token", &gocb.JWTAuthenticator{Token: "a.json.token"}},
		{"by a certificate", gocb.CertificateAuthenticator{ClientCertificate: &secure.Certificates[0]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, err := gocb.Connect(c.ConnectionString(), gocb.ClusterOptions{
				Authenticator: test.auth, SecurityConfig: gocb.SecurityConfig{TLSRootCAs: roots},
			})
			must(t, "Connect", err, nil)
			defer client.Close(nil)
			bucket := client.Bucket("default")
			must(t, "WaitUntilReady", bucket.WaitUntilReady(5*time.Second, nil), nil)
			_, err = bucket.DefaultCollection().Upsert("a", 1, nil)
			must(t, "Upsert", err, nil)
			must(t, "CreateScope", bucket.CollectionsV2().CreateScope("s"+test.name[5:6], nil), nil)
		})
	}
}

func TestGocbRefusesAWrongPassword(t *testing.T) {
	c := couchbasetest.RunT(t)
	client, err := gocb.Connect(c.ConnectionString(), gocb.ClusterOptions{Username: c.Username(), Password: "wrong"})
	must(t, "Connect", err, nil)
	defer client.Close(nil)
	err = client.Bucket("default").WaitUntilReady(2*time.Second, nil)
	must(t, "WaitUntilReady with a wrong password", err, gocb.ErrTimeout)
}
