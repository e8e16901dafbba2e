package simulation

import (
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// settings say how a life is led.
type settings struct {
	simlife.Load
	vbuckets int

	version  string
	replicas int
	// lag is how long a write takes to a replica, saving how long to disk.
	lag, saving time.Duration

	// staleReads makes the nodes answer reads with what a replica has.
	staleReads bool
}

// simulated are the settings of a life on the fake clock.
func simulated(seed uint64) settings {
	return settings{
		Load: simlife.Simulated(seed), vbuckets: 32,
		version: []string{"8.0", "7.6", "7.2", "7.0"}[seed%4], replicas: 1 + int(seed%2),
		lag: time.Duration(seed%3) * 8 * time.Millisecond, saving: time.Duration(seed%5) * 5 * time.Millisecond,
	}
}

// onTCP are the settings of a life on the real clock.
func onTCP(seed uint64, duration time.Duration) settings {
	return settings{
		Load: simlife.OnTCP(seed, duration), vbuckets: 1024,
		version: "8.0", replicas: 1, lag: 2 * time.Millisecond, saving: 2 * time.Millisecond,
	}
}

// nodes is the number of nodes at the beginning.
func (s settings) nodes() int { return s.replicas + 2 }

// The streams of random numbers that come from one seed.
const (
	forOperation uint64 = iota
	forPlan
	forMoves
)
