package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

var errSilent = errors.New("the connection answers nothing any more")

// doubt is called when a connection has not answered in time. If it answers no NOOP either, in the time that a handshake may take, it is
// closed: such a connection may look alive for a quarter of an hour, until the operating system gives up sending on it.
func (l *link) doubt() {
	b := l.bucket
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || l.doubted {
		return
	}
	l.doubted = true
	b.cluster.start(func(ctx context.Context) {
		q := kv.Request{Opcode: memd.OpNoop, Deadline: time.Now().Add(b.cluster.config.KV.Timeout), Cancelled: ctx.Done()}
		var reply kv.Reply
		if err := l.conn.RoundTrip(&q, &reply); errors.Is(err, kv.ErrDeadline) {
			l.conn.Close(errSilent)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		l.doubted = false
	})
}
