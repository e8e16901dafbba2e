package nodescript

import (
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// conn is one connection to a node.
type conn struct {
	node *Node
	nc   net.Conn

	mu       sync.Mutex
	bucket   string
	answered bool // the first request for a map, which belongs to the handshake
}

func (c *conn) serve() {
	defer func() {
		_ = c.nc.Close()
		c.node.mu.Lock()
		delete(c.node.conns, c)
		c.node.mu.Unlock()
	}()
	for {
		b, err := memd.Read(c.nc, nil)
		if err != nil {
			return
		}
		r, err := memd.Parse(b)
		if err != nil {
			return
		}
		if a, ok := c.answer(r); ok {
			a.Magic, a.Opcode, a.Opaque = memd.MagicResponse, r.Opcode, r.Opaque
			if len(a.Frames) > 0 {
				a.Magic = memd.MagicFlexibleResponse
			}
			c.send(a)
		}
	}
}

func (c *conn) send(p memd.Packet) {
	b, err := p.Append(nil)
	if err != nil {
		panic("nodescript: " + err.Error())
	}
	_, _ = c.nc.Write(b)
}

// answer returns the answer to a request, or false for none.
func (c *conn) answer(r memd.Packet) (memd.Packet, bool) {
	n := c.node
	n.mu.Lock()
	accept, password, missing, forbidden := n.Accept, n.Password, n.Missing, n.Forbidden
	errorMap, script, maps := n.ErrorMap, n.Script, n.Maps
	n.mu.Unlock()
	switch r.Opcode { //nolint:exhaustive // the others are the script's
	case memd.OpHello:
		return memd.Packet{Value: memd.AppendFeatures(nil, accept...)}, true
	case memd.OpGetErrorMap:
		return memd.Packet{Value: []byte(errorMap)}, true
	case memd.OpSASLListMechanisms:
		return memd.Packet{Value: []byte("PLAIN")}, true
	case memd.OpSASLAuth:
		if password != "" && !strings.HasSuffix(string(r.Value), "\x00"+password) {
			return memd.Packet{Status: memd.StatusAuthError}, true
		}
		return memd.Packet{}, true
	case memd.OpSelectBucket:
		if slices.Contains(missing, string(r.Key)) {
			return memd.Packet{Status: memd.StatusKeyNotFound}, true
		}
		if slices.Contains(forbidden, string(r.Key)) {
			return memd.Packet{Status: memd.StatusAccess}, true
		}
		c.mu.Lock()
		c.bucket = string(r.Key)
		c.mu.Unlock()
		return memd.Packet{}, true
	case memd.OpGetClusterConfig:
		if c.handshaking() {
			return c.mapFor(nil), true
		}
	}
	c.node.cluster.note(n.Host, r)
	if r.Opcode == memd.OpGetClusterConfig {
		if maps != nil {
			return maps(r)
		}
		return c.mapFor(r.Extras), true
	}
	if script != nil {
		return script(r)
	}
	return memd.Packet{Value: r.Value}, true
}

func (c *conn) handshaking() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := !c.answered
	c.answered = true
	return first
}

func (c *Cluster) note(host string, r memd.Packet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, Entry{time.Since(c.began), host, r})
}

// mapFor returns the map of the connection's bucket, or nothing if the client knows it.
func (c *conn) mapFor(known []byte) memd.Packet {
	m, ok := c.newest()
	if !ok {
		return memd.Packet{Status: memd.StatusNoBucket}
	}
	if v, err := memd.ParseMapVersion(known); err == nil && !(memd.MapVersion{Epoch: m.Epoch, Revision: m.Revision}).Newer(v) {
		return memd.Packet{}
	}
	return memd.Packet{Value: m.JSON()}
}

func (c *conn) newest() (Map, bool) {
	c.mu.Lock()
	bucket := c.bucket
	c.mu.Unlock()
	cluster := c.node.cluster
	cluster.mu.Lock()
	defer cluster.mu.Unlock()
	m, ok := cluster.maps[bucket]
	return m, ok
}

// push tells the client of the newest map.
func (c *conn) push(whole bool) {
	m, ok := c.newest()
	if !ok {
		return
	}
	p := memd.Packet{Magic: memd.MagicServerRequest, Opcode: memd.ServerOpClusterMap, Key: []byte(m.Bucket)}
	p.Extras = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(m.Epoch)), uint64(m.Revision))
	if whole {
		p.Value = m.JSON()
	}
	c.send(p)
}
