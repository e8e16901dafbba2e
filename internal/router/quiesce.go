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
	at    time.Time     // when it began
	began chan struct{} // closed when it begins
}

func (q *quiesce) begin() {
	q.once.Do(func() {
		q.at = time.Now()
		close(q.began)
	})
}

func (q *quiesce) on() bool {
	select {
	case <-q.began:
		return true
	default:
		return false
	}
}

// tells reports whether the reply to a hello says that the router will end. Some connections are still welcome in the quiesce: without them an
// operation would fail that could be served.
func (q *quiesce) tells(hello *command, isFirst bool) bool {
	balanced := field(hello.Body, "loadBalanced")
	switch {
	case !q.on():
		return false
	case balanced.True(): // its driver has no monitor, and cannot choose another router
		return false
	case isFirst:
		return time.Since(q.at) >= newsTravel
	}
	return true
}

// newsTravel is how long after the begin of the quiesce a new connection is still welcome: its driver may have chosen this router before its
// monitor knew. Some drivers show the error of a handshake to the application. It is less than the 500 ms after which a monitor that knows
// comes again (minHeartbeatFrequencyMS).
const newsTravel = 400 * time.Millisecond

// Quiesce tells the clients that the router will end. It goes on serving them until Shutdown or Close ends it.
func (r *Router) Quiesce() { r.quiesce.begin() }

// Shutdown tells the clients that the router will end, goes on serving until they have left and no others will come, at most for the time of quiesce
// or until ctx ends, and closes the router.
func (r *Router) Shutdown(ctx context.Context) {
	defer r.Close() //nolint:contextcheck // what ctx limits has ended then
	r.Quiesce()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Quiesce)
	defer cancel()
	departs := time.After(r.cfg.Quiesce / 2) // by then a balancer has asked /readyz
	ends := time.After(r.cfg.Quiesce - min(lastMoments, r.cfg.Quiesce/4))
	look := time.Tick(leaveLook)
	for r.Clients() > 0 || time.Since(r.quiesce.at) < r.stays() {
		select {
		case <-ctx.Done():
			return
		case <-r.ctx.Done(): // Close has ended it
			return
		case <-departs:
			r.depart()
		case <-ends:
			r.ending.Store(true)
		case <-look:
		}
	}
}

// stays returns how long the quiesce takes at least, although no client is connected. Clients of short lives come through a balancer until that has
// asked /readyz, and a driver may have chosen this router just before its monitor left.
func (r *Router) stays() time.Duration {
	switch {
	case r.balanced.Load():
		return r.cfg.Quiesce / 2
	case r.used():
		return newsTravel
	}
	return 0
}

// lastMoments are those at the end of the quiesce in which each client that is still there gets its reply, and nothing more: otherwise what runs at the
// end would be done without an answer.
const lastMoments = time.Second

// leaveLook is how often Shutdown looks whether the clients have left.
const leaveLook = 50 * time.Millisecond
