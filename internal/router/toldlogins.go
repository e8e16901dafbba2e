package router

import "fmt"

// mostTold is how much of a text that a client has sent is told to the operator, in bytes.
const mostTold = 200

// tellWrongLogin tells the operator of a login that is refused for what it asks, not for its credential: the client is set up for another
// server than this router.
func (c *client) tellWrongLogin(refused *refusal) *refusal {
	if refused != nil && (refused == errNoUsers || refused.code == codeMechanismUnavailable) {
		c.router.cfg.Refused(c.conn.RemoteAddr(), fmt.Sprintf("a login failed: %.*s", mostTold, refused.text))
	}
	return refused
}
