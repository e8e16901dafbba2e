package router

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// How a command may be repeated, before a member is selected.
func TestWhatMayBeRepeated(t *testing.T) {
	numbered := bson.E{Key: "txnNumber", Value: int64(1)}
	r, err := New(Config{Upstream: options.Client().ApplyURI("mongodb://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for name, c := range map[string]struct {
		command     bson.D
		flags       wire.MsgFlags
		kind        operation.Kind
		idempotency retry.Idempotency
		retryable   bool
		several     bool
	}{
		"a read":                    {list("find", "x"), 0, operation.Read, retry.ReadOnly, true, false},
		"a read of the primary":     {list("listIndexes", "x"), 0, operation.Read, retry.ReadOnly, true, false},
		"a numbered write":          {append(list("insert", "x"), numbered), 0, operation.Write, retry.Idempotent, true, false},
		"an update of many":         {list("update", "updates", e("multi", true)), 0, operation.Write, retry.NotIdempotent, true, true},
		"one with w: 0":             {append(list("insert", "x"), e("writeConcern", e("w", 0))...), 0, operation.Write, retry.NotIdempotent, false, true},
		"one without an answer":     {list("insert", "x"), wire.MoreToCome, operation.Write, retry.NotIdempotent, false, true},
		"a commit":                  {append(list("commitTransaction", "x"), numbered), 0, operation.Write, retry.Idempotent, true, false},
		"a read in a transaction":   {append(list("find", "x"), e("autocommit", false)...), 0, operation.Write, retry.NotIdempotent, true, true},
		"a getMore":                 {e("getMore", int64(1)), 0, operation.Read, retry.ReadOnly, false, true},
		"a killCursors":             {list("killCursors", "cursors"), 0, operation.Read, retry.ReadOnly, false, true},
		"a command that none knows": {e("noSuchCommand", 1), 0, operation.Write, retry.NotIdempotent, true, true},
	} {
		at, b := wire.BeginMsg(nil, 1, 0, c.flags)
		var p parser
		q, err := p.parse(wire.EndMessage(append(b, marshal(t, c.command)...), at))
		if err != nil {
			t.Fatal(err)
		}
		client := &client{router: r}
		f := newForwarded(client, q)
		client.describe(f, nil)
		if op := &f.op; op.Kind != c.kind || op.Idempotency != c.idempotency || op.Retryable != c.retryable || op.Several != c.several {
			t.Errorf("%s: kind %d, %v, retryable %v, several %v", name, op.Kind, op.Idempotency, op.Retryable, op.Several)
		}
		if acknowledged := f.op.WriteConcern.Acknowledged(); acknowledged != (c.flags == 0) {
			t.Errorf("%s: acknowledged %v", name, acknowledged)
		}
		if !f.op.OwnTimeLimit || f.op.Waits == nil || f.op.Session != operation.NoSession {
			t.Errorf("%s: the time limit, the wait or the session is not the router's", name)
		}
		f.recycle()
	}
}

// A hello waits 24 days at most: more would overflow.
func TestTheLongestAwaitedHello(t *testing.T) {
	r := &Router{process: bson.NewObjectID()}
	r.quiesce.began = make(chan struct{})
	q := &command{}
	q.Body = marshal(t, bson.D{
		{Key: "hello", Value: 1},
		{Key: "maxAwaitTimeMS", Value: int64(math.MaxInt64)},
		{Key: "topologyVersion", Value: bson.D{{Key: "processId", Value: r.process}, {Key: "counter", Value: int64(0)}}},
	})
	if got := (&client{router: r}).awaited(q); got != math.MaxInt32*time.Millisecond {
		t.Errorf("it waits %v", got)
	}
}
