package router

import (
	"context"
	"sync"
	"time"
)

// quiesce is the time in which a router that will end tells so in its hellos, and goes on working, so that clients find another one
// before it ends.
type quiesce struct {
	once  sync.Once
	began chan struct{} // closed when it begins
}

func (q *quiesce) begin() { q.once.Do(func() { close(q.began) }) }

func (q *quiesce) on() bool {
	select {
	case <-q.began:
		return true
	default:
		return false
	}
}

// Quiesce tells the clients that the router will end. It goes on serving them until Shutdown or Close ends it.
func (r *Router) Quiesce() { r.quiesce.begin() }

// Shutdown tells the clients that the router will end, goes on serving until they have left, at most for the time of quiesce or until ctx
// ends, and closes the router.
func (r *Router) Shutdown(ctx context.Context) {
	defer r.Close() //nolint:contextcheck // what ctx limits has ended then
	r.Quiesce()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Quiesce)
	defer cancel()
	look := time.NewTicker(leaveLook)
	defer look.Stop()
	for r.Clients() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

// leaveLook is how often Shutdown looks whether the clients have left.
const leaveLook = 50 * time.Millisecond
