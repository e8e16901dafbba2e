package prove

import (
	"fmt"
	"time"
)

// Settings are everything that an experiment depends on besides strategy, failure, client and deployment.
type Settings struct {
	Seed uint64
	// W is the write concern, "majority" or "1".
	W      string
	Size   Size
	Timing Timing
	// ReplicationDelay is how long secondaries of embedded sets lag.
	ReplicationDelay time.Duration
	// Latency is the longest time that bytes travel in memory; the shortest is a tenth of it.
	Latency time.Duration
	// LoadLimit ends a cell's load even if it has not reached its goals.
	LoadLimit time.Duration
	// Parallel is how many cells run side by side.
	Parallel int
}

// Size is how large a cell is. A cell's load goes on until it has all that is asked for, or MaxOperations.
type Size struct {
	Writers int
	// Operations is how many must be acknowledged.
	Operations int
	// MessageHits and ClusterHits are how often each kind of fault must have happened: those that concern one message, and
	// those that the whole cluster feels. MixedHits is the same for each kind where all are mixed.
	MessageHits, ClusterHits, MixedHits int
	// OutageOperations is how many operations each writer tries in the outage.
	OutageOperations int
	// MessageEvery, ClusterEvery and MixedEvery are how many operations there are to one planned fault.
	MessageEvery, ClusterEvery, MixedEvery int
	// MaxOperations is how many there may be in all.
	MaxOperations int
}

// DefaultSettings are those of the command: small enough that the whole matrix takes less than a minute, large enough
// that no verdict is luck.
func DefaultSettings() Settings {
	return Settings{
		Seed: 1, W: Majority, Timing: DefaultTiming(), Latency: time.Millisecond, LoadLimit: 40 * time.Second, Parallel: 15,
		Size: Size{
			Writers: 4, Operations: 200, MessageHits: 20, ClusterHits: 4, MixedHits: 4, OutageOperations: 2,
			MessageEvery: 8, ClusterEvery: 24, MixedEvery: 10, MaxOperations: 20_000,
		},
	}
}

// The write concerns.
const (
	Majority = "majority"
	One      = "1"
)

// lagOfOne is the lag that makes visible what write concern 1 costs.
const lagOfOne = 30 * time.Millisecond

// WithW returns the settings with another write concern. With "1" the secondaries of embedded sets lag, as they do in
// real sets, so that there is something to lose.
func (s Settings) WithW(w string) Settings {
	s.W = w
	if w == One {
		s.ReplicationDelay = lagOfOne
	}
	return s
}

// Check says which setting breaks which rule.
func (s Settings) Check() error {
	switch {
	case s.W != Majority && s.W != One:
		return fmt.Errorf("--w is %q; it must be majority or 1", s.W)
	case s.Size.Writers < 1 || s.Size.Writers > MaxPerDocument:
		return fmt.Errorf("--writers is %d; it must be from 1 to %d", s.Size.Writers, MaxPerDocument)
	case s.LoadLimit <= 0:
		return fmt.Errorf("--duration is %v; it must be positive", s.LoadLimit)
	case s.Parallel < 1:
		return fmt.Errorf("parallel is %d; it must be at least 1", s.Parallel)
	}
	return nil
}

// goal is how often a kind of fault must have happened in a failure.
func (s Size) goal(f Failure, kind FaultKind) int {
	switch {
	case kind == Outage:
		return s.Writers * s.OutageOperations / 2
	case f.Name == Mixed:
		return s.MixedHits
	case kind.breaksCluster():
		return s.ClusterHits
	default:
		return s.MessageHits
	}
}

// every is how many operations there are to one planned fault of a failure.
func (s Size) every(f Failure) int {
	switch {
	case f.Name == Mixed:
		return s.MixedEvery
	case f.faults[0].breaksCluster():
		return s.ClusterEvery
	default:
		return s.MessageEvery
	}
}
