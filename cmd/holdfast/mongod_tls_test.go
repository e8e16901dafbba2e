package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// certificateFile writes a self-signed certificate for 127.0.0.1 and its key to a file, and returns its name.
func certificateFile(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret := must(x509.MarshalPKCS8PrivateKey(key))
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	path := filepath.Join(t.TempDir(), "server.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTLSModes(t *testing.T) {
	file := certificateFile(t)
	secure := "/?tls=true&tlsCAFile=" + file
	const short, long = 300 * time.Millisecond, 30 * time.Second // a client that the server refuses waits for all of its timeout
	for _, c := range []struct {
		args, query string
		works       bool
	}{
		{"--tlsMode requireTLS", secure, true},
		{"--tlsMode requireTLS", "/", false},
		{"--tlsMode preferTLS", secure, true},
		{"--tlsMode preferTLS", "/", true},
		{"--tlsMode allowTLS", "/", true},
		{"--tlsMode requireTLS --tlsCAFile " + file, secure, false},
		{"--tlsMode requireTLS --tlsCAFile " + file, secure + "&tlsCertificateKeyFile=" + file, true},
		{"--tlsMode requireTLS --tlsAllowConnectionsWithoutCertificates --tlsCAFile " + file, secure, true},
	} {
		uri, end := startMock(t, append(strings.Fields(c.args), "--standalone", "--tlsCertificateKeyFile", file)...)
		address, _, _ := strings.Cut(uri, "/?")
		timeout := short
		if c.works {
			timeout = long
		}
		if err := use(t, strings.TrimSuffix(address, "/")+c.query, options.Client().SetServerSelectionTimeout(timeout)); (err == nil) != c.works {
			t.Errorf("%s with %s: %v", c.args, c.query, err)
		}
		end()
	}
}

func TestTheLogHasTheTLSSetting(t *testing.T) {
	file := certificateFile(t)
	for _, c := range []struct{ args, uriEnd, ssl string }{
		{"", "/", "off"},
		{"--tlsMode preferTLS", "/", "on"},
		{"--tlsMode requireTLS", "/?tls=true", "on"},
		{"--tlsMode requireTLS --replSet rs0", "/?directConnection=true&tls=true", "on"},
	} {
		args := strings.Fields("--port 0 " + c.args)
		if c.args != "" {
			args = append(args, "--tlsCertificateKeyFile", file)
		}
		log := startMongod(t, args...).log.String()
		var starting struct{ Attr struct{ URI string } }
		if err := json.Unmarshal([]byte(strings.SplitN(log, "\n", 2)[0]), &starting); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(starting.Attr.URI, c.uriEnd) || !strings.Contains(log, starting.Attr.URI) || !strings.Contains(log, `"ssl":"`+c.ssl+`"`) {
			t.Errorf("with %q it says %s, want a URI with %s and ssl %s", c.args, log, c.uriEnd, c.ssl)
		}
	}
}
