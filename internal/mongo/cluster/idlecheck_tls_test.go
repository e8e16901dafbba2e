//go:build unix

package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// tlsConfig returns the configuration of a server with a certificate of its own.
func tlsConfig(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
}

// tlsPeer is tcpPeer under TLS.
func tlsPeer(t *testing.T) (string, <-chan *tls.Conn) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", tlsConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accepted := make(chan *tls.Conn, 10)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- nc.(*tls.Conn)
			go answerAll(nc)
		}
	}()
	return l.Addr().String(), accepted
}

func TestAnIdleConnectionUnderTLSIsCheckedBeforeItIsUsedAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		during func(*tls.Conn)
		kept   bool
	}{
		{"an open connection is kept", nil, true},
		{"a connection that the peer closed is discarded", func(nc *tls.Conn) { nc.Close() }, false},
		{"a connection whose socket the peer closed is discarded", func(nc *tls.Conn) { nc.NetConn().Close() }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, accepted := tlsPeer(t)
			s := bareOn(t, Config{Topology: topology.Config{Seeds: []string{address}}, TLS: &tls.Config{InsecureSkipVerify: true}})
			found(t, s, standalone())
			if err := operation(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			conn := s.pool.own.idle[0]
			if c.during != nil {
				c.during(<-accepted)
				untilDisturbed(t, conn)
			}
			conn.lastUsed = time.Now().Add(-2 * idleProbeAfter)
			next := checkOut(t, s)
			if (next == conn) != c.kept {
				t.Errorf("connection %d is used", next.ID())
			}
			s.CheckIn(next)
			counters(t, s, 1, 1, 0)
		})
	}
}
