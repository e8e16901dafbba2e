package growth

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// topology is one that the server plays: all its members have the same port, and the dialer tells the server which one it means.
type topology struct {
	members int
	set     bool // a replica set, otherwise mongoses
}

const hostSuffix = ".example"

func host(member int) string { return "m" + strconv.Itoa(member) + hostSuffix + ":27017" }

func (t topology) hosts() []string {
	hosts := make([]string, t.members)
	for i := range hosts {
		hosts[i] = host(i)
	}
	return hosts
}

func (t topology) uri() string {
	uri := "mongodb://" + strings.Join(t.hosts(), ",") + "/"
	if t.set {
		uri += "?replicaSet=" + setName
	}
	return uri
}

// member is what a connection's first bytes name.
type member struct {
	topology topology
	index    int
}

// preamble is what the dialer sends before anything else: the index, the number of members, and whether they are a set.
type preamble struct{ Index, Members, Set uint32 }

// dialer connects every host of a topology to the one server.
type dialer struct {
	address  string
	topology topology
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	p := preamble{Members: uint32(d.topology.members)}
	if d.topology.set {
		p.Set = 1
	}
	if _, err := fmt.Sscanf(address, "m%d", &p.Index); err != nil {
		return nil, fmt.Errorf("%s is not a member: %w", address, err)
	}
	var tcp net.Dialer
	c, err := tcp.DialContext(ctx, network, d.address)
	if err != nil {
		return nil, err
	}
	return c, binary.Write(c, binary.LittleEndian, p)
}

func readMember(r io.Reader) (member, error) {
	var p preamble
	if err := binary.Read(r, binary.LittleEndian, &p); err != nil {
		return member{}, err
	}
	return member{topology{int(p.Members), p.Set == 1}, int(p.Index)}, nil
}

// near reports whether the member is the last one, which is the primary of a set. It streams the hellos that are measured.
func (m member) near() bool { return m.index == m.topology.members-1 }

// farAway is how much later than the near member the others answer a handshake: it alone is in the latency window, so that
// operations use the same connection whatever the number of members.
const farAway = 300 * time.Millisecond
