package router

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// locals are the commands that a mongos answers itself.
var locals map[string]func(c *client, q *command) error

func init() { // hello.go and others need the table's functions
	locals = map[string]func(c *client, q *command) error{
		"hello": (*client).hello, "isMaster": (*client).hello, "ismaster": (*client).hello,
		"ping": (*client).ping, "isdbgrid": (*client).isDBGrid, "whatsmyuri": (*client).whatsMyURI, "logout": (*client).logout,
		"getnonce": (*client).getNonce, "connectionStatus": (*client).connectionStatus,
		"saslStart": (*client).saslStart, "saslContinue": (*client).saslContinue, "authenticate": (*client).authenticate,
	}
}

func (c *client) ping(q *command) error { return c.ok(q, nil) }

// ok answers with elements and ok: 1.
func (c *client) ok(q *command, elements []byte) error {
	at, b := wire.BeginDocument(nil)
	return c.answer(q, wire.EndDocument(c.router.appendOK(append(b, elements...)), at))
}

// appendOK writes what ends each reply: also the router's own gossip the cluster time.
func (r *Router) appendOK(dst []byte) []byte {
	dst = wire.AppendDouble(dst, "ok", 1)
	if now := r.runner.ClusterTime(); now != nil {
		dst = wire.AppendDocument(dst, "$clusterTime", now)
	}
	return dst
}

// isDBGrid answers as a mongos does. The document at the end tells a router from a mongos: `holdfast topology` and `check` read it.
func (c *client) isDBGrid(q *command) error {
	b := wire.AppendInt32(nil, "isdbgrid", 1)
	b = wire.AppendString(b, "hostname", c.conn.LocalAddr().String())
	_, ready := c.router.Ready()
	at, b := wire.BeginEmbedded(b, "holdfastRouter")
	b = wire.AppendBool(b, "ready", ready)
	if name := c.router.runner.Cluster().Snapshot().Description.SetName; name != "" {
		b = wire.AppendString(b, "setName", name)
	}
	return c.ok(q, wire.EndDocument(b, at))
}

func (c *client) whatsMyURI(q *command) error {
	return c.ok(q, wire.AppendString(nil, "you", c.conn.RemoteAddr().String()))
}

// connectionStatus says who has logged in. Members know it only of those that have logged in to them.
func (c *client) connectionStatus(q *command) error {
	if c.router.accounts == nil || c.account != nil && c.account.user != nil {
		return c.forward(q, nil)
	}
	at, b := wire.BeginEmbedded(nil, "authInfo")
	array, b := wire.BeginArray(b, "authenticatedUsers")
	if c.account != nil {
		one, rest := wire.BeginEmbedded(b, "0")
		rest = wire.AppendString(rest, "user", c.account.name)
		b = wire.EndDocument(wire.AppendString(rest, "db", c.account.db), one)
	}
	b = wire.EndDocument(b, array)
	array, b = wire.BeginArray(b, "authenticatedUserRoles")
	return c.ok(q, wire.EndDocument(wire.EndDocument(b, array), at))
}

// getNonce answers what drivers of 2014 ask on each new connection, and drop it without an answer. Nothing is done with the nonce: the
// mechanism that used it, MONGODB-CR, no longer exists.
func (c *client) getNonce(q *command) error {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it does not fail
	return c.ok(q, wire.AppendString(nil, "nonce", hex.EncodeToString(nonce[:])))
}
