package call

import (
	"net"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/peek"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/status"
)

// Client is who sends commands over a connection, as those who execute the commands know it.
type Client struct {
	Cluster *Cluster
	Set     *replica.Set     // of the cluster
	Process *replica.Process // that it is connected to
	Points  *FailPoints      // of that server
	Counts  *status.Counts   // of that server
	Router  *Router          // of a mongos, nil if the server is a member
	Member  *Member          // who executes its commands; of a mongos, the one that the current command was routed to
	Epoch   int64            // of the member's run in which it does so
	ID      int64            // of the connection
	Plain   net.Conn         // the connection below TLS; nil if there is none
	Done    chan struct{}    // closed when the connection is
	Conn    any              // what holds the connection, for commands about that
	Direct  bool             // it is nobody but the test itself: see Command
	AppName string           // by the last hello

	Language query.Hooks    // what compiles expressions where there is no let
	waiter   replica.Waiter // for the write concern of the current command

	User       *account.Account // who has authenticated, nil if nobody
	Expires    time.Time        // when the authentication ends; never if it is zero
	Privileges Privileges       // of user
}

// expired reports whether the authentication has ended.
func (c *Client) expired() bool { return !c.Expires.IsZero() && !time.Now().Before(c.Expires) }

// gone reports whether the connection was closed by the server.
func (c *Client) gone() bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// left reports whether the client has closed the connection. That it has is not seen behind bytes that it sent before.
func (c *Client) left() bool {
	if mc, ok := c.Plain.(*memnet.Conn); ok {
		return mc.Ended()
	}
	return peek.At(c.Plain) == peek.Ended
}

// address returns from where the client is connected, "" if it is not.
func (c *Client) address() string {
	if c.Plain == nil {
		return ""
	}
	return c.Plain.RemoteAddr().String()
}

// MaxRetained is the largest buffer that a connection keeps between messages, in bytes.
const MaxRetained = 1 << 20

// ErrHangUp ends the connection without a reply: its member was killed, or the connection closed, meanwhile.
var ErrHangUp = testserver.ErrGone
