package drain

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/driverload"
)

const (
	drivers = 2
	workers = 4 // of each
	// pace is the pause of a worker after a round of operations.
	pace = 50 * time.Millisecond
)

// load is clients of the official driver that work until they are stopped.
type load struct {
	*site
	drivers []driverload.Loader
	working sync.WaitGroup
	end     context.CancelFunc
	once    sync.Once
	rounds  atomic.Int64
	lost    atomic.Int64

	mu          sync.Mutex
	operations  int
	connections map[connected]int // that may be used now
	changed     chan struct{}     // closed when one of them changes
}

// connected is a driver and the address of a router.
type connected struct {
	driver int
	router string
}

func startLoad(s *site) *load {
	s.Helper()
	l := &load{site: s, connections: make(map[connected]int), changed: make(chan struct{})}
	ctx, end := context.WithCancel(s.Context())
	l.end = end
	for i := range drivers {
		d, err := driverload.Official(fmt.Sprint("driver ", i), l.options(i))
		if err != nil {
			s.Fatal(err)
		}
		l.drivers = append(l.drivers, d)
		for w := range workers {
			l.working.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					l.round(d, fmt.Sprint(d.Name, " ", w, " ", n))
					<-time.After(pace)
				}
			})
		}
	}
	s.Cleanup(l.stop)
	return l
}

// options gives each worker a connection to each router: an operation never waits for a handshake, which may come to a router too late. So
// the driver that does not retry sees no error either, unless a router ends before it has served what it has.
func (l *load) options(driver int) *options.ClientOptions {
	watch := &event.PoolMonitor{Event: func(e *event.PoolEvent) {
		switch e.Type {
		case event.ConnectionReady:
			l.note(func() { l.connections[connected{driver, e.Address}]++ })
		case event.ConnectionPoolCleared:
			l.note(func() { l.connections[connected{driver, e.Address}] = 0 })
		}
	}}
	retries := driver == 0
	return options.Client().ApplyURI(l.uri()).SetRetryReads(retries).SetRetryWrites(retries).
		SetMinPoolSize(workers).SetHeartbeatInterval(500 * time.Millisecond).SetPoolMonitor(watch)
}

// stop ends the work, and the drivers, before the routers end: a driver looks for a server that it can tell of its end.
func (l *load) stop() {
	l.once.Do(func() {
		l.end()
		l.working.Wait()
		for _, d := range l.drivers {
			d.Close()
		}
	})
}

func (l *load) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// await waits until something is so.
func (l *load) await(is func() bool) {
	for {
		l.mu.Lock()
		done, changed := is(), l.changed
		l.mu.Unlock()
		if done {
			return
		}
		<-changed
	}
}

// awaitConnections waits until each worker can have a connection to a router.
func (l *load) awaitConnections(router string) {
	l.await(func() bool {
		for i := range drivers {
			if l.connections[connected{i, router}] < workers {
				return false
			}
		}
		return true
	})
}

// awaitOperations waits until n more operations have ended.
func (l *load) awaitOperations(n int) {
	l.mu.Lock()
	n += l.operations
	l.mu.Unlock()
	l.await(func() bool { return l.operations >= n })
}

// round does each operation once.
func (l *load) round(d driverload.Loader, id string) {
	d.Operate(l.Context(), id, func(what string, do func() error) { l.operate(d, what, do) })
	l.rounds.Add(1)
}

// operate does one operation, and again if the driver lost it.
func (l *load) operate(d driverload.Loader, what string, do func() error) {
	err := do()
	for lostByDriver(err) {
		l.lost.Add(1)
		l.Logf("%s lost a %s: %v", d.Name, what, err)
		err = do()
	}
	if err != nil {
		l.Errorf("%s: %s: %v", d.Name, what, err)
	}
	l.note(func() { l.operations++ })
}

// lostByDriver reports whether an error is the driver's own: it has dropped its connections to a router that will end, and with them a cursor, or
// a connection for an operation that had chosen this router already and that was not sent. No router can help that.
func lostByDriver(err error) bool {
	return err != nil && strings.Contains(err.Error(), "was cleared because another operation failed with")
}
