package simlife

import (
	"math/rand/v2"
	"time"
)

// Load says how much a life has of everything, and how fast.
type Load struct {
	Seed       uint64
	Workers    int
	Operations int // of each worker
	Duration   time.Duration
	Round      time.Duration // workers begin their operations at the beginning of a round, so that they meet
	// Slowness multiplies the times of the faults: 1 on the fake clock.
	Slowness float64
	TCP      bool
	Faults   int // beside one of each kind
}

// What a life on the fake clock must have.
const (
	SimulatedDuration = 10 * time.Minute
	LeastCalls        = 5000
	LeastFaults       = 40
)

// Simulated is the load of a life on the fake clock.
func Simulated(seed uint64) Load {
	return Load{
		Seed: seed, Workers: 16, Operations: 325, Duration: SimulatedDuration, Round: 4 * time.Second, Slowness: 1, Faults: 30,
	}
}

// OnTCP is the load of a life on the real clock. It ends after its duration, however many operations were made.
func OnTCP(seed uint64, duration time.Duration) Load {
	return Load{
		Seed: seed, Workers: 64, Operations: int(duration / (200 * time.Millisecond)), Duration: duration, Round: 200 * time.Millisecond,
		Slowness: 0.05, TCP: true, Faults: int(duration / time.Second / 2),
	}
}

// Scaled returns a time of a fault.
func (l Load) Scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * l.Slowness)
}

// Random returns the choices for one purpose.
func (l Load) Random(purpose, who, what uint64) *rand.Rand {
	return rand.New(rand.NewPCG(l.Seed<<8|purpose, who<<32|what))
}

// Due returns when an operation begins, since the begin of the life: shortly after the beginning of a round.
func (l Load) Due(r *rand.Rand, number int) time.Duration {
	due := l.Duration * time.Duration(number) / time.Duration(l.Operations) / l.Round * l.Round
	return due + time.Duration(r.Int64N(int64(5*time.Millisecond)))
}

// Most is the largest number of operations of a worker.
func (l Load) Most() int { return l.Operations + l.Operations/3 }

// An epoch is a part of the life in which all workers use the same few documents, so that no history of a document gets too long.
const epochLength = 20 // operations of each worker

// Epoch returns the epoch of a worker's operation.
func (l Load) Epoch(number int) int { return number / epochLength }

// Epochs is the number of epochs.
func (l Load) Epochs() int { return l.Epoch(l.Most()) + 1 }

// Hot is the number of documents of one sort that an epoch uses.
func (l Load) Hot() int { return max(4, l.Workers/4) }
