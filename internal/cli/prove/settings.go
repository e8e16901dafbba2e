package prove

import (
	"fmt"
	"time"
)

// Settings are the parameters of an experiment besides strategy, failure, client and deployment.
type Settings struct {
	Seed uint64
	// W is MongoDB's write concern, "majority" or "1". Couchbase's settings have none.
	W      string
	Size   Size
	Timing Timing
	// ReplicationDelay is the replication lag of embedded servers.
	ReplicationDelay time.Duration
	// Latency is the longest latency of the network in memory. The shortest is a tenth of it.
	Latency time.Duration
	// LoadLimit is the time after which a cell's load ends, even if it has not reached its goals.
	LoadLimit time.Duration
	// Parallel is the largest number of cells that run at the same time. Fewer do while the machine is busy.
	Parallel int
	// RunsAlone is how often a cell that the machine disturbed is run again alone, with longer times, if it is disturbed again each time.
	RunsAlone int
}

// Size has the goals of a cell. A cell's load ends when it has reached them all, or at MaxOperations.
type Size struct {
	Writers int
	// Operations is the number of operations that must be acknowledged.
	Operations int
	// MessageHits is how often each fault of one message must happen, ClusterHits how often each fault of the cluster
	// must. MixedHits is how often each kind must happen in the mixed failure.
	MessageHits, ClusterHits, MixedHits int
	// OutageOperations is the number of operations of each writer that must fail in the outage.
	OutageOperations int
	// MessageEvery, ClusterEvery and MixedEvery are the numbers of operations for one planned fault.
	MessageEvery, ClusterEvery, MixedEvery int
	// MaxOperations is the largest number of operations of a cell.
	MaxOperations int
}

// The write concerns.
const (
	Majority = "majority"
	One      = "1"
)

// Check returns an error that names the first invalid setting and its rule.
func (s Settings) Check() error {
	switch {
	case s.W != Majority && s.W != One && s.W != "":
		return fmt.Errorf("--w is %q; it must be majority or 1", s.W)
	case s.Size.Writers < 1 || s.Size.Writers > MaxPerDocument:
		return fmt.Errorf("--writers is %d; it must be from 1 to %d", s.Size.Writers, MaxPerDocument)
	case s.LoadLimit <= 0:
		return fmt.Errorf("--duration is %v; it must be positive", s.LoadLimit)
	case s.ReplicationDelay < 0:
		return fmt.Errorf("--lag is %v; it must not be negative", s.ReplicationDelay)
	case s.Parallel < 1:
		return fmt.Errorf("parallel is %d; it must be at least 1", s.Parallel)
	case s.RunsAlone < 0:
		return fmt.Errorf("--retry-busy is %d; it must not be negative", s.RunsAlone)
	}
	return nil
}

// toleratedAlone is how late a timer may fire in a cell that runs again alone: for the first time, and after that.
var toleratedAlone = [...]time.Duration{400 * time.Millisecond, 800 * time.Millisecond}

// alone returns the settings of a cell that runs again alone for the nth time, from 0. Its times are so much longer that it tolerates a busy machine.
func (s Settings) alone(n int) Settings {
	factor := max(1, toleratedAlone[min(n, len(toleratedAlone)-1)]/s.Timing.tolerance())
	s.Timing, s.LoadLimit = s.Timing.slower(factor), s.LoadLimit*factor
	return s
}

// goal returns how often a kind of fault must happen in a failure.
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

// every returns the number of operations for one planned fault of a failure.
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
