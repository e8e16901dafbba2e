package simulation

import (
	"flag"
	"math/rand/v2"
	"os"
	"time"
)

var (
	seedsFlag  = flag.Int("seeds", 0, "how many seeds TestSimulation runs; 0 means a few")
	fromFlag   = flag.Uint64("from", 1, "the first seed")
	repeatFlag = flag.Int("repeat", 1, "how often each seed is run")
	folderFlag = flag.String("histories", os.TempDir(), "the folder for the histories of lives that fail")
)

// settings say how a life is led.
type settings struct {
	seed       uint64
	workers    int
	operations int // of each worker
	duration   time.Duration
	round      time.Duration // workers begin their operations at the beginning of a round, so that they meet
	// slowness multiplies the times of the faults: 1 on the fake clock.
	slowness float64
	election time.Duration
	tcp      bool
	faults   int // beside one of each kind
}

const (
	simulatedLife = 10 * time.Minute
	leastCalls    = 5000
	leastFaults   = 40
)

// simulated are the settings of a life on the fake clock.
func simulated(seed uint64) settings {
	elections := []time.Duration{time.Second, 2 * time.Second, 10 * time.Second}
	return settings{
		seed: seed, workers: 16, operations: 325, duration: simulatedLife, round: 4 * time.Second, slowness: 1,
		election: elections[seed%3], faults: 30,
	}
}

// onTCP are the settings of a life on the real clock. It ends after its duration, however many operations were made.
func onTCP(seed uint64, duration time.Duration) settings {
	return settings{
		seed: seed, workers: 64, operations: int(duration / (200 * time.Millisecond)), duration: duration, round: 200 * time.Millisecond,
		slowness: 0.05, election: 300 * time.Millisecond, tcp: true, faults: int(duration / time.Second / 2),
	}
}

// scaled returns a time of a fault.
func (s settings) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.slowness)
}

// heartbeat is the clients' heartbeat interval.
func (s settings) heartbeat() time.Duration { return max(time.Second, s.scaled(10*time.Second)) }

// The streams of random numbers that come from one seed.
const (
	forOperation uint64 = iota
	forPlan
	forWatcher
)

// random returns the choices for one purpose.
func (s settings) random(purpose, who, what uint64) *rand.Rand {
	return rand.New(rand.NewPCG(s.seed<<8|purpose, who<<32|what))
}

// An epoch is a part of the life in which all workers use the same few documents, so that no history of a document gets too long.
const epochLength = 20 // operations of each worker

func (s settings) epochs() int { return s.most()/epochLength + 1 }

// most is the largest number of operations of a worker.
func (s settings) most() int { return s.operations + s.operations/3 }

// hot is the number of documents of a collection that an epoch uses.
func (s settings) hot() int { return max(4, s.workers/4) }
