package failover

import (
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// More handshakes would find the primary sooner, but they would overload the servers.
const (
	leastBetweenChecks = 500 * time.Millisecond
	leastBetweenProbes = 250 * time.Millisecond
)

// greeting is a hello that a member received.
type greeting struct {
	at        time.Time
	conn      int64
	handshake bool // only the first hello on a connection has the client's metadata
}

// greetings are the hellos of one run, by member.
type greetings struct {
	mu     sync.Mutex
	member map[int][]greeting
}

func (g *greetings) see(r *mongotest.Request) mongotest.Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := r.Body.LookupErr("client")
	g.member[r.Member] = append(g.member[r.Member], greeting{time.Now(), r.ConnID, err == nil})
	return mongotest.Fault{}
}

// TestPollingClientsAreSparing kills the primary of a set without another candidate for two seconds, with 32 waiting writers
// of our client, at 20 moments between two heartbeats.
func TestPollingClientsAreSparing(t *testing.T) {
	for i := range runs {
		synctest.Test(t, func(t *testing.T) {
			set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Latency(time.Millisecond, time.Millisecond),
				mongotest.ElectionTimeout(2*time.Second))
			client := connect(t, driver.NameOurs, set, options.ServerMonitoringModePoll)
			w := new(sync.WaitGroup)
			coll := client.Collection("failover", "c")
			if _, err := coll.InsertOne(t.Context(), bson.D{}); err != nil {
				t.Fatal(err)
			}
			pause(t.Context(), time.Second+time.Duration(i)*53*time.Millisecond)
			seen := &greetings{member: make(map[int][]greeting)}
			set.Use("hello", mongotest.Decide(seen.see))
			killed := set.Primary()
			set.Kill(killed)
			for range 32 {
				w.Go(func() {
					if _, err := coll.InsertOne(t.Context(), bson.D{}); err != nil {
						t.Error(err)
					}
				})
			}
			elected, err := set.WaitPrimary(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for member, list := range seen.untilNow() {
				if member != elected {
					checkPace(t, member, list)
				}
			}
			w.Wait()
		})
	}
}

func (g *greetings) untilNow() map[int][]greeting {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.member)
}

// checkPace checks the hellos that a member received before the election: those of its monitor's connection, and the
// handshakes.
func checkPace(t *testing.T, member int, list []greeting) {
	t.Helper()
	checks, probes := 0, 0
	last := make(map[int64]time.Time)
	var handshake time.Time
	for _, g := range list {
		if before, ok := last[g.conn]; ok && g.at.Sub(before) < leastBetweenChecks {
			t.Errorf("member %d was checked again after %v", member, g.at.Sub(before))
		}
		last[g.conn] = g.at
		if !g.handshake {
			checks++
			continue
		}
		probes++
		if !handshake.IsZero() && g.at.Sub(handshake) < leastBetweenProbes {
			t.Errorf("member %d got two handshakes within %v", member, g.at.Sub(handshake))
		}
		handshake = g.at
	}
	if checks < 3 || probes < 6 {
		t.Errorf("member %d got %d checks and %d handshakes in two seconds without a primary", member, checks, probes)
	}
}
