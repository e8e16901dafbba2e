package languages

import (
	"crypto/tls"
	"net"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// listener notes what drivers say of themselves in the first message of each connection. Behind a router the members do not see it.
type listener struct {
	net.Listener
	mu  sync.Mutex
	all []handshake
}

// handshake is what a driver says in the first hello of a connection.
type handshake struct {
	driver   string // its name and version
	balanced bool   // loadBalanced is true
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &notedConn{Conn: conn, listener: l}, nil
}

func (l *listener) handshakes() []handshake {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// drivers returns what the handshakes said that the driver is, each once.
func (l *listener) drivers() []string {
	var said []string
	for _, h := range l.handshakes() {
		said = append(said, h.driver)
	}
	slices.Sort(said)
	return slices.Compact(said)
}

// secured returns a server's TLS configuration by which the connections of a listener tell their secrets to it.
func secured(server *tls.Config) *tls.Config {
	server.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		own := server.Clone()
		own.GetConfigForClient = nil
		own.KeyLogWriter = &hello.Conn.(*notedConn).plaintext
		return own, nil
	}
	return server
}

// notedConn is the connection of a driver.
type notedConn struct {
	net.Conn
	listener  *listener
	plaintext plaintext
	first     []byte // what came of the first message
	noted     bool
}

// Read implements [net.Conn]. The router calls it on one goroutine at a time.
func (c *notedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.noted {
		c.first = append(c.first, c.plaintext.came(b[:n])...)
		c.note()
	}
	return n, err
}

// note notes the first message when it is complete.
func (c *notedConn) note() {
	h, err := wire.ParseHeader(c.first)
	if err != nil || len(c.first) < int(h.Length) {
		return
	}
	c.noted = true
	m, err := wire.ParseClientMessage(c.first[:h.Length])
	said := handshake{driver: "a client whose first message is not a hello"}
	if err == nil {
		said = handshakeIn(m.Body)
	}
	c.first = nil
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.listener.all = append(c.listener.all, said)
}

func handshakeIn(hello bson.Raw) handshake {
	balanced, _ := hello.Lookup("loadBalanced").BooleanOK()
	return handshake{driver: driverIn(hello), balanced: balanced}
}
