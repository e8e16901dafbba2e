package router

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// transactions has the mongos of each open transaction, if there are several behind the router: only that one can go on with it. In a replica set
// the primary has them all. It is only a cache: another mongos can end a transaction by the recovery token that the client sends.
type transactions = recent[session, transaction]

// session is a client's session. Two users may choose the same id.
type session struct {
	known bool
	id    [16]byte
	user  id
}

// transaction is the last one of a session.
type transaction struct {
	number  int64
	address string
}

// mostTransactions bounds the memory; transactionLife is that of a session.
const (
	mostTransactions = 1 << 16
	transactionLife  = 30 * time.Minute
)

// sharded reports whether the router is in front of several mongos.
func (r *Router) sharded() bool {
	return r.runner.Cluster().Snapshot().Description.Type == topology.Sharded
}

// placeTransaction has a command of a transaction go to the mongos that has begun it.
func (c *client) placeTransaction(f *forwarded) {
	f.session = c.sessionOf(f.command)
	t, known := c.router.transactions.get(f.session)
	if !known || t.number != numberOf(f.command) { // a new one may begin anywhere
		return
	}
	if s := c.router.serverAt(t.address); s != nil {
		f.pin, f.op.Retryable = *operation.PinTo(s), false
	}
}

// sessionOf returns the session of a command. It is unknown if there is none that a member takes.
func (c *client) sessionOf(q *command) session {
	lsid := field(q.Body, "lsid")
	uuid := field(lsid.Document(), "id")
	_, b, ok := bson.RawValue{Type: uuid.Type, Value: uuid.Value}.BinaryOK()
	s := session{known: true}
	if !ok || len(b) != len(s.id) {
		return session{}
	}
	copy(s.id[:], b)
	if c.account != nil {
		s.user = c.account.id
	}
	return s
}

func numberOf(q *command) int64 {
	number := field(q.Body, "txnNumber")
	n, _ := number.Int64()
	return n
}

// noteTransaction remembers the mongos of a transaction.
func (f *forwarded) noteTransaction() {
	if s := f.pin.Server(); s != nil && f.session.known && f.client.router.sharded() {
		f.client.router.transactions.put(f.session, transaction{numberOf(f.command), s.Address()}, f.began)
	}
}

// movesTransaction reports whether the end of a transaction, whose mongos has failed, is to be tried at another one. That knows nothing of it without the
// recovery token, and its error would be taken for the outcome.
func (f *forwarded) movesTransaction(ctx context.Context, err error) bool {
	if f.pin.Server() == nil || !f.ends() || replied(err) || ctx.Err() != nil {
		return false
	}
	if token := field(f.command.Body, "recoveryToken"); token.Document() == nil {
		return false
	}
	f.client.router.transactions.drop(f.session)
	f.pin.Release()
	f.op.Retryable, f.moved = true, true
	return true
}
