package mongo_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// rarelyPanics panics at one of its calls, counted from 1.
type rarelyPanics struct {
	at, calls atomic.Int64
}

func (r *rarelyPanics) call() {
	if r.calls.Add(1) == r.at.Load() {
		panic(errTrap)
	}
}

// rarelyPanickingConn is a connection one of whose methods panics at one call.
type rarelyPanickingConn struct {
	net.Conn
	read, write, setDeadline, closed *rarelyPanics
}

func (c *rarelyPanickingConn) Read(b []byte) (int, error) {
	c.read.call()
	return c.Conn.Read(b)
}

func (c *rarelyPanickingConn) Write(b []byte) (int, error) {
	c.write.call()
	return c.Conn.Write(b)
}

func (c *rarelyPanickingConn) SetDeadline(t time.Time) error {
	c.setDeadline.call()
	return c.Conn.SetDeadline(t)
}

func (c *rarelyPanickingConn) Close() error {
	defer c.closed.call()
	return c.Conn.Close()
}

// panickingParts are the parts of a connection that an application can write itself and that run in goroutines of the client.
var panickingParts = []struct {
	name      string
	configure func(p *rarelyPanics, o *options.ClientOptions, secure *tls.Config)
}{
	{"Dialer", func(p *rarelyPanics, o *options.ClientOptions, _ *tls.Config) {
		next := o.Dialer
		o.SetDialer(dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			p.call()
			return next.DialContext(ctx, network, address)
		}))
	}},
	{"VerifyPeerCertificate", func(p *rarelyPanics, o *options.ClientOptions, secure *tls.Config) {
		secure.VerifyPeerCertificate = func([][]byte, [][]*x509.Certificate) error {
			p.call()
			return nil
		}
		o.SetTLSConfig(secure)
	}},
	{"VerifyConnection", func(p *rarelyPanics, o *options.ClientOptions, secure *tls.Config) {
		secure.VerifyConnection = func(tls.ConnectionState) error {
			p.call()
			return nil
		}
		o.SetTLSConfig(secure)
	}},
	{"GetClientCertificate", func(p *rarelyPanics, o *options.ClientOptions, secure *tls.Config) {
		secure.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			p.call()
			return &tls.Certificate{}, nil
		}
		o.SetTLSConfig(secure)
	}},
	{"Read", panickingMethod(func(c *rarelyPanickingConn, p *rarelyPanics) { c.read = p })},
	{"Write", panickingMethod(func(c *rarelyPanickingConn, p *rarelyPanics) { c.write = p })},
	{"SetDeadline", panickingMethod(func(c *rarelyPanickingConn, p *rarelyPanics) { c.setDeadline = p })},
	{"Close", panickingMethod(func(c *rarelyPanickingConn, p *rarelyPanics) { c.closed = p })},
}

func panickingMethod(choose func(*rarelyPanickingConn, *rarelyPanics)) func(*rarelyPanics, *options.ClientOptions, *tls.Config) {
	return func(p *rarelyPanics, o *options.ClientOptions, _ *tls.Config) {
		next := o.Dialer
		never := new(rarelyPanics)
		o.SetDialer(dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := next.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			c := &rarelyPanickingConn{nc, never, never, never, never}
			choose(c, p)
			return c, nil
		}))
	}
}

// The application cannot recover a panic in a goroutine of the client, and nothing of it must end the process: it is an error of
// the connection. (The panic of a listener or of a log sink ends the process, as it does with the official driver.)
func TestAPanicOfAConnectionDoesNotEndTheProcess(t *testing.T) {
	for _, part := range panickingParts {
		t.Run(part.name, func(t *testing.T) {
			for at := int64(1); at <= 12; at++ {
				synctest.Test(t, func(t *testing.T) {
					opts := []mongotest.Option{mongotest.InMemory()}
					secured := strings.Contains(part.name, "Cert") || part.name == "VerifyConnection"
					if secured {
						opts = append(opts, mongotest.TLS())
					}
					set := mongotest.RunReplicaSetT(t, 1, opts...)
					secure, err := set.ClientTLS()
					if err != nil {
						t.Fatal(err)
					}
					o := options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetMinPoolSize(2)
					p := new(rarelyPanics)
					p.at.Store(at)
					part.configure(p, o, secure)
					useInSpiteOfPanics(t, set, o)
				})
			}
		})
	}
}

// useInSpiteOfPanics lets a client do all that it does in the background.
func useInSpiteOfPanics(t *testing.T, set *mongotest.Deployment, o *options.ClientOptions) {
	client, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	ping := func(limit time.Duration) (err error) {
		defer func() {
			if v := recover(); v != nil && v != any(errTrap) {
				panic(v)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		return client.Ping(ctx, nil)
	}
	for range 3 {
		// The connection that panics may clear the pool while a ping waits there, and a ping is not retried.
		if err := ping(time.Minute); err != nil && !strings.Contains(err.Error(), errTrap.Error()) {
			t.Errorf("a ping in between: %v", err)
		}
	}
	set.Use("ping", mongotest.FaultOnce(mongotest.Fault{Delay: 100 * time.Millisecond}))
	_ = ping(10 * time.Millisecond) // its reply is read in the background
	wait(25 * time.Second)          // checks, round trip times
	if err := ping(time.Minute); err != nil {
		t.Errorf("the last ping: %v", err)
	}
	began := time.Now()
	if err := client.Disconnect(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("Disconnect took %v", took)
	}
}
