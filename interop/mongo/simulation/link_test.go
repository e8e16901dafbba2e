package simulation

import (
	"io"
	"net"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// link is the network between one router and one member. What is sent in a direction that is shut arrives when it opens again.
type link struct{ up, down testserver.Gate }

// relay returns the router's end of a connection to the member.
func (l *link) relay(member net.Conn) net.Conn {
	router, here := memnet.Pipe()
	go pump(member, here, &l.up)
	go pump(here, member, &l.down)
	return router
}

// pump passes bytes on until one end closes, and then closes both.
func pump(to io.WriteCloser, from io.ReadCloser, gate *testserver.Gate) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 4<<10)
	for {
		n, err := from.Read(b)
		_ = gate.Wait(nil)
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}
