package prove

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Explored is one operation of each strategy with every failure at each of its messages: nothing is sampled. Each pair is a run with
// servers of its own.
type Explored struct {
	Failures   int                `json:"failures"` // not each concerns each message
	Strategies []ExploredStrategy `json:"strategies"`
	Seconds    float64            `json:"seconds"`
}

// ExploredStrategy is what the runs of one strategy have shown.
type ExploredStrategy struct {
	Strategy string `json:"strategy"`
	Title    string `json:"-"`
	// Messages are the steps of the operation without a failure, a message each.
	Messages []string `json:"messages"`
	// Without is the run without a failure. If it has a flaw or no result, there are no others.
	Without ExploredRun   `json:"without_failure"`
	Runs    []ExploredRun `json:"runs"`
	// Interrupted means that the user ended the run before all was explored.
	Interrupted bool `json:"interrupted,omitempty"`
}

// ExploredRun is how the operation ended when one failure had happened at one of its messages.
type ExploredRun struct {
	Message int    `json:"message,omitempty"` // from 1; 0 in the run without a failure
	Step    string `json:"step,omitempty"`
	Failure string `json:"failure,omitempty"`
	Title   string `json:"-"` // of the failure
	// NotReached means that the message was not sent. Error is the reason why the run ended without a result. Both say nothing about the
	// strategy.
	NotReached   bool   `json:"not_reached,omitempty"`
	Error        string `json:"error,omitempty"`
	Acknowledged bool   `json:"acknowledged"`
	Applied      int    `json:"applied"`
	// Flaw is "missing" if the operation was acknowledged and not applied, "extra", "misreported", or "". An honest error is no flaw, unlike
	// in a cell.
	Flaw Flaw `json:"flaw,omitempty"`
}

// GivenUp reports whether the operation ended with an honest error, and was not applied.
func (r *ExploredRun) GivenUp() bool {
	return !r.silent() && r.Flaw == "" && !r.Acknowledged && r.Applied == 0
}

// FailedButApplied reports whether the operation ended with an error that leaves the outcome open, and was applied once.
func (r *ExploredRun) FailedButApplied() bool {
	return !r.silent() && r.Flaw == "" && !r.Acknowledged && r.Applied == 1
}

// silent reports whether the run says nothing about the strategy.
func (r *ExploredRun) silent() bool { return r.NotReached || r.Error != "" }

// Broken returns the runs with a flaw.
func (s *ExploredStrategy) Broken() []ExploredRun {
	return s.those(func(r *ExploredRun) bool { return r.Flaw != "" })
}

// Silent returns the runs that say nothing about the strategy.
func (s *ExploredStrategy) Silent() []ExploredRun { return s.those((*ExploredRun).silent) }

func (s *ExploredStrategy) those(have func(*ExploredRun) bool) (list []ExploredRun) {
	for i := range s.Runs {
		if have(&s.Runs[i]) {
			list = append(list, s.Runs[i])
		}
	}
	return list
}

// Runs returns the number of runs of all strategies, with those that have no failure.
func (e *Explored) Runs() (n int) {
	for i := range e.Strategies {
		n += 1 + len(e.Strategies[i].Runs)
	}
	return n
}

// exploredAtOnce is how many runs of a strategy go side by side. They wait most of the time, for an election or a timeout.
const exploredAtOnce = 4

// CanExplore reports whether the experiment's servers are MongoDB's in this process. Only these can have every failure.
func (m Matrix) CanExplore() bool {
	_, embedded := m.Deployment.(*Embedded)
	return embedded
}

// Explore adds to a report what every failure does at each message of one operation of each strategy. The strategies are explored side by
// side. Progress is called after each run, not concurrently, with the numbers of runs that have ended and that are known by then.
func (m Matrix) Explore(ctx context.Context, r *Report, progress func(ended, known int)) {
	began := time.Now()
	servers := exploredServers(m.Settings)
	r.Explored = &Explored{Failures: len(servers.Kinds()), Strategies: make([]ExploredStrategy, len(m.Strategies))}
	told := newTold(len(m.Strategies), progress)
	var group sync.WaitGroup
	for i, s := range m.Strategies {
		group.Go(func() {
			e := explorer{
				strategy: s, settings: exploredSettings(m.Settings), dial: m.Dial, servers: servers, ended: make(map[string]ExploredRun),
			}
			r.Explored.Strategies[i] = e.explore(ctx, func(ended, known int) { told.tell(i, ended, known) })
		})
	}
	group.Wait()
	r.Explored.Seconds = time.Since(began).Seconds()
	r.Interrupted = r.Interrupted || ctx.Err() != nil
}

// exploredServers returns the servers of each run: those of a cell, in memory.
func exploredServers(s Settings) mongofault.Settings {
	return mongofault.Settings{
		Members: members, InMemory: true, Quick: true, Failures: mongofault.All(),
		Server: []mongotest.Option{
			mongotest.Seed(int64(s.Seed)), mongotest.ReplicationDelay(s.ReplicationDelay), mongotest.JournalKey(journalKey),
		},
	}
}

// The times of a run's client. A busy machine must not make it give up a server that is well: in each run there is a primary again long
// before the selection ends, and a cut-off member stays so for longer than a heartbeat and a connection attempt take.
const (
	exploredSelection = 10 * time.Second
	exploredConnect   = time.Second
)

func exploredSettings(s Settings) Settings {
	s.Timing.ServerSelection, s.Timing.Connect = exploredSelection, exploredConnect
	return s
}

// told adds up the progress of strategies that are explored side by side.
type told struct {
	mu           sync.Mutex
	ended, known []int
	progress     func(ended, known int)
}

func newTold(strategies int, progress func(ended, known int)) *told {
	return &told{ended: make([]int, strategies), known: make([]int, strategies), progress: progress}
}

func (t *told) tell(strategy, ended, known int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[strategy], t.known[strategy] = ended, known
	sumEnded, sumKnown := 0, 0
	for i := range t.ended {
		sumEnded, sumKnown = sumEnded+t.ended[i], sumKnown+t.known[i]
	}
	t.progress(sumEnded, sumKnown)
}
