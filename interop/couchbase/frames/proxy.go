// Package frames compares the packets that this project's Couchbase client sends to the key-value service with those of gocb, the
// official SDK: every byte but the opaque, ids and the differences of a table, with the reason.
package frames

import (
	"bytes"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Sent is a request that a client sent.
type Sent struct {
	Node, Conn int
	Time       time.Time
	Bytes      []byte
	// OwnCAS reports whether the request has a CAS that a reply brought before.
	OwnCAS bool
}

// Proxy stands between a client and the nodes of a test cluster and records the requests.
type Proxy struct {
	nodes     []net.Listener
	server    *couchbasetest.Cluster
	secret    *secret // nil: no TLS
	upstream  []string
	ports     *strings.Replacer // the nodes' ports by ours, in cluster maps
	addresses []string

	mu    sync.Mutex
	all   []Sent
	conns int
	cas   map[uint64]bool // those of replies
	// Replies to reads are held until as many requests have come.
	together int
	changed  *sync.Cond
}

// NewProxy starts a proxy for all nodes of a cluster. If secure is set, clients reach it with TLS, and it reaches the nodes with TLS.
func NewProxy(server *couchbasetest.Cluster, nodes int, secure bool) (*Proxy, error) {
	p := &Proxy{server: server, cas: make(map[uint64]bool)}
	p.changed = sync.NewCond(&p.mu)
	service := "kv"
	if secure {
		service = "kvSSL"
		var err error
		if p.secret, err = newSecret(); err != nil {
			return nil, err
		}
	}
	var ports []string
	for i := range nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.Close()
			return nil, err
		}
		p.nodes = append(p.nodes, l)
		p.upstream = append(p.upstream, server.Address(i, service))
		p.addresses = append(p.addresses, l.Addr().String())
		_, theirs, err := net.SplitHostPort(p.upstream[i])
		if err != nil {
			p.Close()
			return nil, err
		}
		_, own, _ := net.SplitHostPort(p.addresses[i]) // an address of a listener has a port
		ports = append(ports, theirs, own)
	}
	p.ports = strings.NewReplacer(ports...)
	for i := range nodes {
		go p.accept(i)
	}
	return p, nil
}

// Close ends the proxy.
func (p *Proxy) Close() {
	for _, l := range p.nodes {
		l.Close()
	}
}

// ConnString returns the connection string of the proxy of the first node.
func (p *Proxy) ConnString() string {
	if p.secret != nil {
		return "couchbases://" + p.addresses[0]
	}
	return "couchbase://" + p.addresses[0]
}

// Together makes replies to reads wait until n requests have come since the last Take.
func (p *Proxy) Together(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.together = n
	p.changed.Broadcast()
}

// Take returns the requests since the last call.
func (p *Proxy) Take() []Sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.all
	p.all = nil
	return all
}

func (p *Proxy) accept(node int) {
	for {
		c, err := p.nodes[node].Accept()
		if err != nil {
			return
		}
		go p.forward(c, node)
	}
}

// forward connects a client with a node.
func (p *Proxy) forward(c net.Conn, node int) {
	c, up, err := p.connect(c, p.upstream[node])
	if err != nil {
		c.Close()
		return
	}
	p.mu.Lock()
	p.conns++
	conn := p.conns
	p.mu.Unlock()
	go p.requests(c, up, node, conn)
	p.replies(c, up)
}

// connect returns both ends of a connection: with TLS if the proxy has it.
func (p *Proxy) connect(c net.Conn, upstream string) (client, up net.Conn, err error) {
	if p.secret == nil {
		up, err = net.Dial("tcp", upstream)
		return c, up, err
	}
	secured := tls.Server(c, p.secret.server)
	if err := secured.Handshake(); err != nil {
		return c, nil, err
	}
	var user []string
	if peers := secured.ConnectionState().PeerCertificates; len(peers) > 0 {
		user = append(user, peers[0].Subject.CommonName)
	}
	config, err := p.server.ClientTLS(user...)
	if err != nil {
		return c, nil, err
	}
	up, err = tls.Dial("tcp", upstream, config)
	return secured, up, err
}

// requests records what the client sends, and sends it to the node.
func (p *Proxy) requests(c, up net.Conn, node, conn int) {
	defer c.Close()
	defer up.Close()
	for {
		b, err := memd.Read(c, nil)
		if err != nil {
			return
		}
		packet, err := memd.Parse(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.all = append(p.all, Sent{node, conn, time.Now(), b, p.cas[packet.CAS]})
		p.changed.Broadcast()
		p.mu.Unlock()
		if _, err := up.Write(b); err != nil {
			return
		}
	}
}

// replies sends the client what the node sends, with our ports in cluster maps.
func (p *Proxy) replies(c, up net.Conn) {
	defer c.Close()
	defer up.Close()
	for {
		b, err := memd.Read(up, nil)
		if err != nil {
			return
		}
		packet, err := memd.Parse(b)
		if err != nil {
			return
		}
		if b, err = p.rewritten(b, packet); err != nil {
			return
		}
		if forApplication(packet.Opcode) {
			p.learn(packet.Opcode, packet.CAS)
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

// rewritten returns a packet with our ports, if its value is a cluster map.
func (p *Proxy) rewritten(b []byte, packet memd.Packet) ([]byte, error) {
	if packet.DataType&memd.DataSnappy != 0 {
		value, err := memd.Inflate(packet.Value)
		if err != nil {
			return nil, err
		}
		packet.Value, packet.DataType = value, packet.DataType&^memd.DataSnappy
	}
	if !bytes.Contains(packet.Value, []byte(`"nodesExt"`)) {
		return b, nil
	}
	packet.Value = []byte(p.ports.Replace(string(packet.Value)))
	return packet.Append(nil)
}

// learn remembers the CAS of a reply, and waits until the reply may be sent.
func (p *Proxy) learn(op memd.Opcode, cas uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cas != 0 {
		p.cas[cas] = true
	}
	for isRead(op) && count(p.all) < p.together {
		p.changed.Wait()
	}
}

// isRead reports whether a command is one that clients send to several nodes at the same time.
func isRead(op memd.Opcode) bool {
	return op == memd.OpGet || op == memd.OpGetReplica || op == memd.OpSubdocMultiLookup
}

// count returns the number of requests of an application, without those that look at the copies of an earlier write.
func count(all []Sent) int {
	n := 0
	for _, s := range all {
		if op := memd.Opcode(s.Bytes[1]); forApplication(op) && op != memd.OpObserveSeqno {
			n++
		}
	}
	return n
}

// forApplication reports whether a command does what an application asked for. Clients send the others by themselves.
func forApplication(op memd.Opcode) bool {
	switch op { //nolint:exhaustive // the others are for applications
	case memd.OpHello, memd.OpSASLListMechanisms, memd.OpSASLAuth, memd.OpSASLStep, memd.OpSelectBucket, memd.OpGetErrorMap, memd.OpGetClusterConfig, memd.OpNoop:
		return false
	default:
		return true
	}
}
