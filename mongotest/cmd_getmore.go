package mongotest

import (
	"errors"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/getMore/

func cmdGetMore(x *call) error {
	switch x.command.first.Type {
	case bson.TypeInt64:
	case bson.TypeNull:
		return fields.Missing("getMore", "getMore")
	default:
		return fields.WrongType("getMore", "getMore", x.command.first.Type, "long")
	}
	id, _ := x.command.first.Integer()
	coll, size := "", int64(math.MaxInt64)
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "collection":
			coll = string(e.Text())
		case "batchSize":
			if n, _ := e.Int64(); n > 0 {
				size = n
			}
		}
	}
	x.result.target = x.command.db + "." + coll
	c, err := x.takeCursor(id, x.result.target)
	if err != nil {
		return err
	}
	err = x.nextBatch(c, size)
	more := err == nil && !c.exhausted()
	x.returnCursor(c, more)
	if more && x.mayStream() {
		x.result.streaming = true
		x.result.out[wire.HeaderLength] |= byte(wire.MoreToCome)
	}
	return err
}

// nextBatch answers with what the cursor has next.
func (x *call) nextBatch(c *cursor, size int64) error {
	docs, err := x.awaitBatch(c, size)
	if err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.result.out, "cursor")
	if dst, err = x.appendBatch(dst, c, "nextBatch", docs); err != nil {
		return x.executing("getMore", err)
	}
	x.result.out = c.appendIdentity(dst, at)
	c.use.Docs, c.use.Batches, c.use.Last = c.use.Docs+int64(len(docs)), c.use.Batches+1, time.Now()
	return nil
}

// patience is how long a getMore waits for something to return if it does not say so itself.
const patience = time.Second

// awaitBatch takes the next batch. Of a cursor that awaits data it waits for one that is not empty.
func (x *call) awaitBatch(c *cursor, size int64) ([][]byte, error) {
	limit := patience
	if x.command.maxTime > 0 {
		limit = x.command.maxTime
	}
	deadline := time.Now().Add(limit)
	for {
		docs, err := c.batch(x, size)
		switch {
		case err != nil && mongoerr.CodeOf(err) != mongoerr.QueryPlanKilled: // the real server tells that as it is
			return nil, x.executing("getMore", err)
		case err != nil || len(docs) > 0 || !c.await || c.exhausted():
			return docs, err
		}
		if more, err := x.awaitNews(c, time.Until(deadline)); !more {
			return nil, err
		}
	}
}

// awaitNews waits until a cursor may have something more to return, and reports whether it may. Who waits is idle.
func (x *call) awaitNews(c *cursor, limit time.Duration) (more bool, err error) {
	rs, m := x.client.cluster, x.client.member
	rs.rest()
	defer rs.active.Add(1)
	rs.set.Lock()
	defer rs.set.Unlock()
	w := replica.NewWaiter(func() bool {
		switch {
		case x.client.epoch != m.Epoch:
			err = errHangUp // a mongos tells that otherwise than a cursor that was killed
		case m.cursors[c.id] != c:
			err = mongoerr.Errorf(mongoerr.CursorKilled, "operation was interrupted")
		default:
			more = c.feed.newsLocked(x)
		}
		return more || err != nil
	})
	if end := rs.set.AwaitLocked(w, x.client.done, max(limit, 0)); errors.Is(end, errHangUp) {
		return false, errHangUp
	}
	return more, err
}

// takeCursor returns a cursor that nobody else may use until returnCursor.
func (x *call) takeCursor(id int64, ns string) (*cursor, error) {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	if x.client.epoch != x.client.member.Epoch {
		return nil, errHangUp
	}
	c := x.client.member.cursors[id]
	if x.client.router != nil && x.client.router.cursors[id] == nil {
		c = nil // it was opened through another one
	}
	switch {
	case c == nil:
		return nil, mongoerr.Errorf(mongoerr.CursorNotFound, "cursor id %d not found", id)
	case c.pinned:
		return nil, mongoerr.Errorf(mongoerr.CursorInUse, "cursor id %d is already in use", id)
	case c.ns != ns:
		return nil, mongoerr.Errorf(mongoerr.Unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s",
			ns, c.ns)
	}
	if c.user != "" && c.user != x.userName() {
		return nil, mongoerr.Errorf(mongoerr.Unauthorized, "cursor id %d was not created by the authenticated user", id)
	}
	if err := x.belongs(c); err != nil {
		return nil, err
	}
	if x.command.timed && !c.await {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "cannot set maxTimeMS on getMore command for a non-awaitData cursor")
	}
	if err := c.origin.checkLocked(x.client.member); err != nil {
		delete(x.client.member.cursors, id)
		if x.client.router != nil {
			delete(x.client.router.cursors, id)
		}
		return nil, err
	}
	_, x.result.watches = c.feed.(stream)
	if err := x.failGetMoreLocked(c); err != nil {
		return nil, err
	}
	if err := x.limitCursorLocked(c); err != nil {
		return nil, err
	}
	c.pinned = true
	return c, nil
}

// returnCursor ends the use of a cursor, which is forgotten unless it is kept.
func (x *call) returnCursor(c *cursor, keep bool) {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	c.pinned = false
	if !keep && x.client.member.cursors[c.id] == c {
		delete(x.client.member.cursors, c.id)
		if x.client.router != nil {
			delete(x.client.router.cursors, c.id)
		}
	}
}

// dropCursor forgets a cursor and reports whether it was there.
func (x *call) dropCursor(id int64) bool {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	m := x.client.member
	if x.client.router != nil {
		m = x.client.router.cursors[id]
		delete(x.client.router.cursors, id)
	}
	if m == nil {
		return false
	}
	_, ok := m.cursors[id]
	delete(m.cursors, id)
	x.client.set.ChangedLocked() // who waits for more of it
	return ok
}

// mayStream reports whether the replies to one getMore may be many. A mongos answers each getMore once.
func (x *call) mayStream() bool {
	return x.command.flags&wire.ExhaustAllowed != 0 && x.client.router == nil && x.client.set.Version.AtLeast(4, 2)
}

// failGetMoreLocked does what the fail point for getMore says about a cursor that was found.
func (x *call) failGetMoreLocked(c *cursor) error {
	p := x.pointLocked(FailGetMore)
	if p == nil || !p.Take() {
		return nil
	}
	delete(x.client.member.cursors, c.id)
	code := mongoerr.OperationFailed
	if p.HasCode {
		code = p.Code
	}
	return mongoerr.Errorf(code, "Failing getMore via 'failGetMoreAfterCursorCheckout' failpoint")
}

// limitCursorLocked is limitLocked for a getMore of a cursor whose command had a limit, of which it has what is left.
func (x *call) limitCursorLocked(c *cursor) error {
	if !c.limited || c.await {
		return nil
	}
	err := x.limitLocked()
	if err != nil {
		delete(x.client.member.cursors, c.id)
	}
	return err
}
