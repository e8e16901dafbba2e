package growth

import (
	"context"
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
	"github.com/holdfast-db/holdfast/mongo"
)

var rounds = flag.Int("rounds", 1, "how often TestGrowth measures each size; more than one measure the large sizes too")

// whole reports whether the large sizes are measured too.
func whole() bool { return *rounds > 1 }

// bar is the worst growth that is allowed, in percent.
const bar = 20

// TestGrowth measures the CPU time (user and system) of our client's process for one thing at several sizes, the server being a
// process of its own: a FindOne and a hello in topologies of 3 to 1,000 servers, a document in batches of 10 to 1,000,000, a
// document in each tenth of a cursor of 10,000,000, a session among 100,000. The figure growth-worst-percent is the worst growth
// over the smallest size. The short form has smaller sizes, and only checks that all is measured.
func TestGrowth(t *testing.T) {
	if raceEnabled {
		t.Skip("measurements mean nothing under the race detector")
	}
	w := startServer(t)
	worst := math.Inf(-1)
	fmt.Printf("%-44s %10s %12s %13s\n", "CPU of one, least of rounds", "of", "ns", "growth")
	for _, c := range []struct {
		name string
		make func(*testing.T, *world) []series
	}{{"topologies", topologies}, {"batches", batches}, {"cursor", longCursor}, {"sessions", sessions}} {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range c.make(t, w) {
				worst = max(worst, s.print(s.measure(t)))
			}
		})
	}
	fmt.Printf("figure growth-worst-percent %.0f\n", worst)
	if whole() && worst > bar {
		t.Errorf("growth-worst-percent is %.0f; it must be at most %d", worst, bar)
	}
}

// world is the server, and how clients reach it.
type world struct {
	server  *serverprocess.Process
	address string
}

func startServer(t *testing.T) *world {
	t.Helper()
	p := serverprocess.Start(t, "server", serverRole+"=1")
	return &world{server: p, address: p.Line(t)}
}

// connect returns a client of a topology. Its monitors check nothing while it is measured.
func (w *world) connect(t *testing.T, of topology) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI(of.uri()).SetDialer(dialer{w.address, of}).SetHeartbeatInterval(time.Hour)
	c, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	if err := c.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// alone is a topology of one server.
var alone = topology{members: 1}
