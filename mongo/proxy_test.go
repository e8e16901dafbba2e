package mongo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// socksProxy is a SOCKS5 proxy in memory, at proxy.example:1080 (RFC 1928, RFC 1929).
type socksProxy struct {
	behind options.ContextDialer
	login  string        // "user:password", empty if it needs none
	refuse atomic.Uint32 // the reply to each request, 0 to serve it
	silent bool          // requests are answered when end is closed
	end    chan struct{} // made in the bubble

	mu    sync.Mutex
	asked []string // for these addresses
}

const proxyAddress = "proxy.example:1080"

// DialContext reaches the proxy alone: what comes with another address was meant to go through it.
func (p *socksProxy) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	if address != proxyAddress || network != "tcp" {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s is not the proxy", address)}
	}
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		if err := p.serve(server); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
			panic(err)
		}
	}()
	return client, nil
}

func (p *socksProxy) serve(c net.Conn) error {
	if ok, err := p.greet(c); !ok || err != nil {
		return err
	}
	address, err := requested(c)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.asked = append(p.asked, address)
	p.mu.Unlock()
	if p.silent {
		<-p.end
	}
	if reply := byte(p.refuse.Load()); reply != 0 {
		_, err := c.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	}
	to, err := p.behind.DialContext(context.Background(), "tcp", address)
	if err != nil {
		_, err := c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) // connection refused
		return err
	}
	defer to.Close()
	if _, err := c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(to, c)
		_ = to.Close()
	}()
	_, _ = io.Copy(c, to)
	return nil
}

// greet agrees on a login, and reports whether it succeeded.
func (p *socksProxy) greet(c net.Conn) (bool, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(c, head); err != nil {
		return false, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c, methods); err != nil {
		return false, err
	}
	switch {
	case p.login == "":
		_, err := c.Write([]byte{5, 0})
		return true, err
	case !bytes.Contains(methods, []byte{2}):
		_, err := c.Write([]byte{5, 0xff})
		return false, err
	}
	if _, err := c.Write([]byte{5, 2}); err != nil {
		return false, err
	}
	if _, err := io.ReadFull(c, head); err != nil {
		return false, err
	}
	user := make([]byte, int(head[1])+1)
	if _, err := io.ReadFull(c, user); err != nil {
		return false, err
	}
	password := make([]byte, user[len(user)-1])
	if _, err := io.ReadFull(c, password); err != nil {
		return false, err
	}
	if fmt.Sprintf("%s:%s", user[:len(user)-1], password) != p.login {
		_, err := c.Write([]byte{1, 1})
		return false, err
	}
	_, err := c.Write([]byte{1, 0})
	return true, err
}

// requested reads a request for a name or an IPv4 address.
func requested(c net.Conn) (string, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return "", err
	}
	length := []byte{net.IPv4len}
	if head[3] == 3 {
		if _, err := io.ReadFull(c, length); err != nil {
			return "", err
		}
	}
	rest := make([]byte, int(length[0])+2)
	if _, err := io.ReadFull(c, rest); err != nil {
		return "", err
	}
	host, port := string(rest[:length[0]]), rest[length[0]:]
	if head[3] == 1 {
		host = net.IP(host).String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))), nil
}

// throughProxy runs f with a client that reaches a replica set of three members through a proxy only.
func throughProxy(t *testing.T, p *socksProxy, uriOptions string, f func(w *world)) {
	insideWith(t, replicaSet, func(o *options.ClientOptions) (*mongo.Client, error) {
		p.behind, p.end = o.Dialer, make(chan struct{})
		uri := o.GetURI() + "&proxyHost=proxy.example" + uriOptions
		if strings.Contains(uriOptions, "directConnection=true") {
			first, rest, _ := strings.Cut(uri, ",")
			_, rest, _ = strings.Cut(rest, "/")
			uri = first + "/" + rest
		}
		return mongo.Connect(o.ApplyURI(uri).SetDialer(p).SetServerSelectionTimeout(time.Second))
	}, f)
}

// The prose tests of SOCKS5 support.
func TestAReplicaSetBehindAProxy(t *testing.T) {
	const known, unknown = "&proxyUsername=user%40x&proxyPassword=p4ss%2Fw0rd", "&proxyUsername=nonexistentuser&proxyPassword=badauth"
	for name, c := range map[string]struct {
		login, options string
		fails          bool
	}{
		"a login that is missing":       {"user@x:p4ss/w0rd", "", true},
		"a wrong login":                 {"user@x:p4ss/w0rd", unknown, true},
		"the right login":               {"user@x:p4ss/w0rd", known, false},
		"no login":                      {"", "", false},
		"a login that is not necessary": {"", unknown, false},
		"an empty login":                {"", "&proxyUsername=&proxyPassword=", false},
		"the default port":              {"", "&proxyPort=1080", false},
	} {
		for _, direct := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, directConnection=%t", name, direct), func(t *testing.T) {
				p := &socksProxy{login: c.login}
				throughProxy(t, p, fmt.Sprintf("%s&directConnection=%t", c.options, direct), func(w *world) {
					err := w.client.Database("admin").RunCommand(w.ctx, doc("hello", 1)).Err()
					if (err != nil) != c.fails || err != nil && strings.Contains(fmt.Sprintf("%v %+v", err, err), "badauth") {
						t.Errorf("hello: %v", err)
					}
					if c.fails {
						return
					}
					for _, ev := range w.started("") {
						if !strings.HasPrefix(ev.ConnectionID, "m") || strings.Contains(ev.ConnectionID, "proxy") {
							t.Errorf("the connection is %s", ev.ConnectionID)
						}
					}
					p.mu.Lock()
					defer p.mu.Unlock()
					if !slices.Contains(p.asked, w.set.Addr(0)) {
						t.Errorf("the proxy was asked for %v", p.asked)
					}
				})
			})
		}
	}
}

// A failure of the proxy is a network error that does not mean that the server is overloaded. The operation is tried again.
func TestAFailureOfTheProxyIsANetworkError(t *testing.T) {
	p := &socksProxy{}
	throughProxy(t, p, "&serverMonitoringMode=poll", func(w *world) {
		w.must(w.client.Ping(w.ctx, nil))
		p.refuse.Store(1) // general failure; the idle connection is still good
		w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseRequest: true}))
		ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
		defer cancel()
		_, err := w.coll.InsertOne(ctx, doc("_id", 1))
		var labeled mongo.LabeledError
		if !mongo.IsNetworkError(err) && !mongo.IsTimeout(err) || errors.As(err, &labeled) && labeled.HasErrorLabel("SystemOverloadedError") {
			t.Errorf("%T %v", err, err)
		}
		p.refuse.Store(0)
		_, err = w.coll.InsertOne(w.ctx, doc("_id", 2))
		w.must(err)
	})
}

func TestASilentProxyHoldsNobodyBeyondTheDeadline(t *testing.T) {
	p := &socksProxy{silent: true}
	throughProxy(t, p, "", func(w *world) {
		defer close(p.end)
		ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := w.client.Ping(ctx, nil); !mongo.IsTimeout(err) || time.Since(began) != 100*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// On sockets, with TLS to the server behind the proxy.
func TestAProxyOnTCPWithTLS(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.TLS())
	secure, err := rs.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &socksProxy{behind: new(net.Dialer)}
	var serving sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				_ = p.serve(c)
			})
		}
	})
	_, port, _ := net.SplitHostPort(l.Addr().String())
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI() + "&proxyHost=127.0.0.1&proxyPort=" + port).SetTLSConfig(secure))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	if _, err := client.Database("app").Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
}

func TestTheOptionsOfAProxyAreChecked(t *testing.T) {
	for query, want := range map[string]string{
		"proxyPort=1":                  "mongo: the connection string has options for a proxy, but no proxyHost",
		"proxyPassword=secret":         "mongo: the connection string has options for a proxy, but no proxyHost",
		"proxyHost=":                   "mongo: the connection string's option proxyHost is empty",
		"proxyHost=a&proxyhost=b":      "mongo: the connection string has the option proxyHost more than once",
		"proxyHost=a&proxyPort=0":      `mongo: the connection string's option proxyPort is "0"; it must be a number from 1 to 65535`,
		"proxyHost=a&proxyPort=65536":  `mongo: the connection string's option proxyPort is "65536"; it must be a number from 1 to 65535`,
		"proxyHost=a&proxyUsername=x":  "mongo: the connection string must have both proxyUsername and proxyPassword, or neither",
		"proxyHost=a&proxyPassword=%z": "mongo: the connection string's option proxyPassword is not percent-encoded as it must be",
		"proxyHost=a&proxyPassword=secret&proxyUsername=" + strings.Repeat("x", 256): "mongo: the connection string's option proxyUsername has 256 bytes; " +
			"SOCKS5 allows at most 255",
	} {
		_, err := mongo.Connect(options.Client().ApplyURI("mongodb://h/?" + query))
		if err == nil || !strings.HasSuffix(err.Error(), strings.TrimPrefix(want, "mongo: ")) && !strings.Contains(query, "%z") {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has the password: %v", query, err)
		}
	}
}
