package command

import (
	"errors"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/failpoint"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/getMore/

func cmdGetMore(x *call.Call) error {
	switch x.Command.First.Type {
	case bson.TypeInt64:
	case bson.TypeNull:
		return fields.Missing("getMore", "getMore")
	default:
		return fields.WrongType("getMore", "getMore", x.Command.First.Type, "long")
	}
	id, _ := x.Command.First.Integer()
	coll, size := "", int64(math.MaxInt64)
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "collection":
			coll = string(e.Text())
		case "batchSize":
			if n, _ := e.Int64(); n > 0 {
				size = n
			}
		}
	}
	x.Result.Target = x.Command.DB + "." + coll
	c, err := call.WithLockValue(x, func(x call.Locked) (*call.Cursor, error) { return takeCursor(x, id, x.Result.Target) })
	if err != nil {
		return err
	}
	x.Result.Opener = c.Use.Command
	err = nextBatch(x, c, size)
	more := err == nil && !c.Exhausted()
	call.WithLock(x, func(x call.Locked) bool { return returnCursor(x, c, more) })
	if more && mayStream(x) {
		x.Result.Streaming = true
		x.Result.Out[wire.HeaderLength] |= byte(wire.MoreToCome)
	}
	return err
}

// nextBatch answers with what the cursor has next.
func nextBatch(x *call.Call, c *call.Cursor, size int64) error {
	docs, err := awaitBatch(x, c, size)
	if err != nil {
		return err
	}
	at, dst := wire.BeginEmbedded(x.Result.Out, "cursor")
	if dst, err = x.AppendBatch(dst, c, "nextBatch", docs); err != nil {
		return x.Executing("getMore", err)
	}
	x.Result.Out = c.AppendIdentity(dst, at)
	c.Use.Docs, c.Use.Batches, c.Use.Last = c.Use.Docs+int64(len(docs)), c.Use.Batches+1, time.Now()
	return nil
}

// patience is how long a getMore waits for something to return if it does not say so itself.
const patience = time.Second

// awaitBatch takes the next batch. Of a cursor that awaits data it waits for one that is not empty.
func awaitBatch(x *call.Call, c *call.Cursor, size int64) ([][]byte, error) {
	limit := patience
	if x.Command.MaxTime > 0 {
		limit = x.Command.MaxTime
	}
	deadline := time.Now().Add(limit)
	for {
		docs, err := c.Batch(x, size)
		switch {
		case err != nil && mongoerr.CodeOf(err) != mongoerr.QueryPlanKilled: // the real server tells that as it is
			return nil, x.Executing("getMore", err)
		case err != nil || len(docs) > 0 || !c.Await || c.Exhausted():
			return docs, err
		}
		if more, err := awaitNews(x, c, time.Until(deadline)); !more {
			return nil, err
		}
	}
}

// awaitNews waits until a cursor may have something more to return, and reports whether it may. Who waits is idle.
func awaitNews(x *call.Call, c *call.Cursor, limit time.Duration) (more bool, err error) {
	x.Client.Cluster.Rest()
	defer x.Client.Cluster.Active.Add(1)
	return call.WithLockValue(x, func(x call.Locked) (bool, error) { return newsOf(x, c, limit) })
}

func newsOf(x call.Locked, c *call.Cursor, limit time.Duration) (more bool, err error) {
	m := x.Client.Member
	w := replica.NewWaiter(func() bool {
		switch {
		case x.Client.Epoch != m.Epoch:
			err = call.ErrHangUp // a mongos tells that otherwise than a cursor that was killed
		case m.Cursors[c.ID] != c:
			err = mongoerr.Errorf(mongoerr.CursorKilled, "operation was interrupted")
		default:
			more = c.Feed.News(x)
		}
		return more || err != nil
	})
	if end := x.Client.Set.AwaitLocked(w, x.Client.Done, max(limit, 0)); errors.Is(end, call.ErrHangUp) {
		return false, call.ErrHangUp
	}
	return more, err
}

// takeCursor returns a cursor that nobody else may use until returnCursor.
func takeCursor(x call.Locked, id int64, ns string) (*call.Cursor, error) {
	if x.Client.Epoch != x.Client.Member.Epoch {
		return nil, call.ErrHangUp
	}
	c := x.Client.Member.Cursors[id]
	if x.Client.Router != nil && x.Client.Router.Cursors[id] == nil {
		c = nil // it was opened through another one
	}
	switch {
	case c == nil:
		return nil, mongoerr.Errorf(mongoerr.CursorNotFound, "cursor id %d not found", id)
	case c.Pinned:
		return nil, mongoerr.Errorf(mongoerr.CursorInUse, "cursor id %d is already in use", id)
	case c.NS != ns:
		return nil, mongoerr.Errorf(mongoerr.Unauthorized, "Requested getMore on namespace '%s', but cursor belongs to a different namespace %s",
			ns, c.NS)
	}
	if c.User != "" && c.User != x.UserName() {
		return nil, mongoerr.Errorf(mongoerr.Unauthorized, "cursor id %d was not created by the authenticated user", id)
	}
	if err := x.Belongs(c); err != nil {
		return nil, err
	}
	if x.Command.Timed && !c.Await {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "cannot set maxTimeMS on getMore command for a non-awaitData cursor")
	}
	if err := c.Origin.Check(x); err != nil {
		delete(x.Client.Member.Cursors, id)
		if x.Client.Router != nil {
			delete(x.Client.Router.Cursors, id)
		}
		return nil, err
	}
	_, x.Result.Watches = c.Feed.(call.Stream)
	if err := failGetMore(x, c); err != nil {
		return nil, err
	}
	if err := limitCursor(x, c); err != nil {
		return nil, err
	}
	c.Pinned = true
	return c, nil
}

// returnCursor ends the use of a cursor, and forgets it unless it is kept. It reports whether it is.
func returnCursor(x call.Locked, c *call.Cursor, keep bool) bool {
	c.Pinned = false
	if !keep && x.Client.Member.Cursors[c.ID] == c {
		delete(x.Client.Member.Cursors, c.ID)
		if x.Client.Router != nil {
			delete(x.Client.Router.Cursors, c.ID)
		}
	}
	return keep
}

// dropCursor forgets a cursor and reports whether it was there.
func dropCursor(x call.Locked, id int64) bool {
	m := x.Client.Member
	if x.Client.Router != nil {
		m = x.Client.Router.Cursors[id]
		delete(x.Client.Router.Cursors, id)
	}
	if m == nil {
		return false
	}
	_, ok := m.Cursors[id]
	delete(m.Cursors, id)
	x.Client.Set.ChangedLocked() // who waits for more of it
	return ok
}

// mayStream reports whether the replies to one getMore may be many. A mongos answers each getMore once.
func mayStream(x *call.Call) bool {
	return x.Command.Flags&wire.ExhaustAllowed != 0 && x.Client.Router == nil && x.Client.Set.Version.AtLeast(4, 2)
}

// failGetMore does what the fail point for getMore says about a cursor that was found.
func failGetMore(x call.Locked, c *call.Cursor) error {
	p := x.Point(failpoint.GetMore)
	if p == nil || !p.Take() {
		return nil
	}
	delete(x.Client.Member.Cursors, c.ID)
	code := mongoerr.OperationFailed
	if p.HasCode {
		code = p.Code
	}
	return mongoerr.Errorf(code, "Failing getMore via 'failGetMoreAfterCursorCheckout' failpoint")
}

// limitCursor is Limit for a getMore of a cursor whose command had a limit, of which it has what is left.
func limitCursor(x call.Locked, c *call.Cursor) error {
	if !c.Limited || c.Await {
		return nil
	}
	err := x.Limit()
	if err != nil {
		delete(x.Client.Member.Cursors, c.ID)
	}
	return err
}
