package speed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// The only user of a router with users.
const userName, userPassword = "user", "password"

// secured returns the configuration with TLS, and with a user.
func secured(cfg router.Config) router.Config {
	cfg.TLS = &tls.Config{Certificates: []tls.Certificate{newCertificate()}, MinVersion: tls.VersionTLS12}
	v, err := scramserver.NewVerifier(auth.SCRAMSHA256, userName, userPassword)
	check(err)
	u := userfile.User{Name: userName, DB: "admin", Credentials: map[string]scramserver.Verifier{auth.SCRAMSHA256: v}}
	entry, err := u.Entry()
	check(err)
	cfg.Users, err = userfile.Parse(fmt.Appendf(nil, `{"users": [%s]}`, entry))
	check(err)
	return cfg
}

// newCertificate returns a certificate that nobody need trust.
func newCertificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
