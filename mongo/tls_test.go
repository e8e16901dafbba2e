package mongo_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// dialerTo is a dialer that dials one address, whatever the host is called.
type dialerTo string

func (a dialerTo) DialContext(ctx context.Context, network, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, string(a))
}

// pemFiles are the paths of files, as a connection string has them.
type pemFiles struct{ ca, certificateAndKey, certificate, key, encrypted, otherCA string }

const keyPassword = "hunter2"

func writePEMFiles(t *testing.T, set *mongotest.Deployment) pemFiles {
	t.Helper()
	cfg, err := set.ClientTLS(carol)
	if err != nil {
		t.Fatal(err)
	}
	own := cfg.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	ec, err := x509.MarshalECPrivateKey(own.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name string, content ...[]byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, slices.Concat(content...), 0o600); err != nil {
			t.Fatal(err)
		}
		return url.QueryEscape(path)
	}
	return pemFiles{
		ca:                write("ca.pem", set.CACertificate()),
		certificateAndKey: write("both.pem", certificate, key),
		certificate:       write("certificate.pem", certificate),
		key:               write("key.pem", key),
		encrypted:         write("encrypted.pem", certificate, encryptedKey(t, ec)),
		otherCA:           write("other.pem", strangersCertificate(t)),
	}
}

// encryptedKey returns a private key that keyPassword decrypts, and that wrongSecret certainly does not: it would decrypt one of some
// 256 to bytes that are no key.
func encryptedKey(t *testing.T, der []byte) []byte {
	t.Helper()
	for {
		block, err := x509.EncryptPEMBlock(rand.Reader, "EC PRIVATE KEY", der, []byte(keyPassword), x509.PEMCipherAES256) //nolint:staticcheck // applications have such files
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x509.DecryptPEMBlock(block, []byte(wrongSecret)); errors.Is(err, x509.IncorrectPasswordError) { //nolint:staticcheck // likewise
			return pem.EncodeToMemory(block)
		}
	}
}

// strangersCertificate returns the certificate of another authority.
func strangersCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "another authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// read connects and reads once.
func read(t *testing.T, o *options.ClientOptions) error {
	t.Helper()
	client, err := mongo.Connect(o)
	if err != nil {
		return err
	}
	defer client.Disconnect(t.Context())
	err = client.Database("db").Collection("c").FindOne(t.Context(), d{}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

// readSoon reads with a short limit of the server selection, which an expected error uses up. If the outcome is another one, the
// machine may be too busy for it, and it reads again with a long limit.
func readSoon(t *testing.T, want string, o *options.ClientOptions) error {
	t.Helper()
	err := read(t, o.SetServerSelectionTimeout(400*time.Millisecond))
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		return read(t, o.SetServerSelectionTimeout(10*time.Second))
	}
	return err
}

// Source: URI Options, "TLS Options". Only a server that shows a certificate for its name, signed by a known authority, gets
// a password, unless the application switches a check off.
func TestTheTLSOptionsOfAConnectionString(t *testing.T) {
	set := guardedSet(t, []string{"alice"})
	files := writePEMFiles(t, set)
	const password = "alice:" + secret + "@"
	for _, c := range []struct {
		name, user, host, query string
		want                    string // in the error; empty: success
	}{
		{"an authority from a file", password, "", "tlsCAFile=" + files.ca, ""},
		{"the older name of that option", password, "", "ssl=true&sslCertificateAuthorityFile=" + files.ca, ""},
		{"an authority that is unknown", password, "", "tls=true", "unknown authority"},
		{"an impostor with another authority", password, "", "tlsCAFile=" + files.otherCA, "unknown authority"},
		{"an impostor with another name", password, "impostor.example:27017", "tlsCAFile=" + files.ca, "impostor.example"},
		{"no check", password, "impostor.example:27017", "tls=true&tlsInsecure=true", ""},
		{"no check, by the older name", password, "", "ssl=true&sslInsecure=true", ""},
		{"no check of the authority", password, "", "tls=true&tlsAllowInvalidCertificates=true", ""},
		{
			"no check of the authority still checks the name", password, "impostor.example:27017", "tls=true&tlsAllowInvalidCertificates=true",
			"impostor.example",
		},
		{"no check of the name", password, "impostor.example:27017", "tlsAllowInvalidHostnames=true&tlsCAFile=" + files.ca, ""},
		{
			"no check of the name still checks the authority", password, "impostor.example:27017",
			"tlsAllowInvalidHostnames=true&tlsCAFile=" + files.otherCA, "unknown authority",
		},
		{
			"no check of both", password, "impostor.example:27017", "tls=true&tlsAllowInvalidHostnames=true&tlsAllowInvalidCertificates=true", "",
		},
		{"checks that are not switched off", password, "impostor.example:27017", "tlsAllowInvalidHostnames=false&tlsCAFile=" + files.ca, "impostor.example"},
		{"no check of revocation", password, "", "tlsDisableCertificateRevocationCheck=true&tlsCAFile=" + files.ca, ""},
		{"no questions about revocation", password, "", "tlsDisableOCSPEndpointCheck=true&tlsCAFile=" + files.ca, ""},
		{
			"a certificate of the client", "", "", "authMechanism=MONGODB-X509&tlsCertificateKeyFile=" + files.certificateAndKey + "&tlsCAFile=" + files.ca, "",
		},
		{
			"a certificate and a key in two files", "", "",
			"authMechanism=MONGODB-X509&tlsCertificateFile=" + files.certificate + "&tlsPrivateKeyFile=" + files.key + "&tlsCAFile=" + files.ca, "",
		},
		{
			"a key with a password", "", "",
			"authMechanism=MONGODB-X509&tlsCertificateKeyFilePassword=" + keyPassword + "&tlsCertificateKeyFile=" + files.encrypted + "&tlsCAFile=" + files.ca, "",
		},
		{
			"a key with a wrong password", "", "",
			"authMechanism=MONGODB-X509&tlsCertificateKeyFilePassword=" + wrongSecret + "&tlsCertificateKeyFile=" + files.encrypted, "decryption password incorrect",
		},
		{"a server with TLS and a client without", password, "", "tls=false", "server selection"},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := c.host
			if host == "" {
				host = set.Addr(0)
			}
			uri := "mongodb://" + c.user + host + "/?directConnection=true&connectTimeoutMS=5000&" + c.query
			err := readSoon(t, c.want, options.Client().ApplyURI(uri).SetDialer(dialerTo(set.Addr(0))))
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want %q", err, c.want)
			case err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), wrongSecret)):
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestATLSConfigOfTheApplication(t *testing.T) {
	set := guardedSet(t, []string{"alice"})
	right, err := set.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	named := right.Clone()
	named.ServerName = "localhost"
	other := right.Clone()
	other.ServerName = "impostor.example"
	var checked atomic.Int64
	more := right.Clone()
	more.VerifyConnection = func(tls.ConnectionState) error { checked.Add(1); return nil }
	for _, c := range []struct {
		name, host, query string
		cfg               *tls.Config
		want              string
	}{
		{"the server name comes from the address", "", "", right, ""},
		{"a server name that is given is checked", "impostor.example:27017", "", named, ""},
		{"a server name that is given and wrong is refused", "", "", other, "impostor.example"},
		{"no check at all", "impostor.example:27017", "", &tls.Config{InsecureSkipVerify: true}, ""},
		{"no check at all, and an option that leaves out one", "", "&tlsAllowInvalidHostnames=true", &tls.Config{InsecureSkipVerify: true}, ""},
		{"a check of the application runs", "", "", more, ""},
		{"a check of the application runs besides those that are left", "", "&tlsAllowInvalidHostnames=true", more, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, before := c.host, checked.Load()
			if host == "" {
				host = set.Addr(0)
			}
			uri := "mongodb://alice:" + secret + "@" + host + "/?directConnection=true" + c.query
			err := readSoon(t, c.want, options.Client().ApplyURI(uri).SetDialer(dialerTo(set.Addr(0))).SetTLSConfig(c.cfg))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if c.cfg == more && checked.Load() == before {
				t.Error("the application's check did not run")
			}
		})
	}
	if right.ServerName != "" || right.InsecureSkipVerify {
		t.Error("the application's configuration was changed")
	}
}
