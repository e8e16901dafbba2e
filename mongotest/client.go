package mongotest

import (
	"net"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/peek"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// client is who sends commands over a connection, as those who execute the commands know it.
type client struct {
	cluster *cluster
	set     *replica.Set     // of the cluster
	process *replica.Process // that it is connected to
	points  *failPoints      // of that server
	router  *router          // of a mongos, nil if the server is a member
	member  *member          // who executes its commands; of a mongos, the one that the current command was routed to
	epoch   int64            // of the member's run in which it does so
	id      int64            // of the connection
	plain   net.Conn         // the connection below TLS; nil if there is none
	done    chan struct{}    // closed when the connection is
	conn    any              // what holds the connection, for commands about that
	direct  bool             // it is nobody but the test itself: see Command
	appName string           // by the last hello

	language query.Hooks    // what compiles expressions where there is no let
	waiter   replica.Waiter // for the write concern of the current command

	user       *account.Account // who has authenticated, nil if nobody
	privileges privileges       // of user
}

// gone reports whether the connection was closed by the server.
func (c *client) gone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// left reports whether the client has closed the connection. That it has is not seen behind bytes that it sent before.
func (c *client) left() bool {
	if mc, ok := c.plain.(*memnet.Conn); ok {
		return mc.Ended()
	}
	return peek.At(c.plain) == peek.Ended
}

// address returns from where the client is connected, "" if it is not.
func (c *client) address() string {
	if c.plain == nil {
		return ""
	}
	return c.plain.RemoteAddr().String()
}

// maxRetained is the largest buffer that a connection keeps between messages, in bytes.
const maxRetained = 1 << 20

// errHangUp ends the connection without a reply: its member was killed, or the connection closed, meanwhile.
var errHangUp = testserver.ErrGone
