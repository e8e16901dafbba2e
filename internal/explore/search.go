// Package explore finds out which failure, at which message, breaks what a program promises. It knows no database: it is given a
// function that runs the program once with the failures of a case. A run without failures shows the messages; then each failure of
// each message is a case, and each case is a run.
//
// Begin with search.go. Then message.go, case.go, plan.go, site.go, outcome.go, report.go.
package explore

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
)

// Search is what is explored. Do explores it.
type Search struct {
	// Run runs the program once. Several runs go at once, each on a goroutine of its own.
	Run      func(context.Context, Case) Outcome
	Failures []Failure
	// Chosen reports whether failures happen to a message; nil means to all.
	Chosen func(Message) bool
	// Depth is how many strikes a case has at most, 1 if it is 0. Of those with more than one, Samples are drawn for each depth with Seed.
	Depth, Samples int
	Seed           int64
	// RealClock is whether the runs are on the real clock, so that the messages of two runs may differ. One whose messages before its first
	// strike are not those of the run without failures counts as not reached.
	RealClock bool
	// Parallel is how many runs go at once; 0 means one for each processor, and four on the real clock, where most wait.
	Parallel int
	// Only, if it is not nil, is the one case that is run.
	Only Case
	// Progress, if it is not nil, is called after each run with the numbers of runs that have ended and that are known. It is called by
	// one goroutine at a time.
	Progress func(ended, known int)
}

// Do explores until everything is explored, ctx ends, or a run cannot be stopped.
func (s *Search) Do(ctx context.Context) *Report {
	r := &Report{Failures: s.Failures, Seed: s.Seed, Only: s.Only}
	first := s.Run(ctx, nil)
	if ctx.Err() != nil { // it was ended, so it says nothing
		r.Left = 1
		return r
	}
	r.First = first
	if r.First.Settle(); r.First.Verdict.Failing() {
		return r
	}
	if s.Only != nil {
		s.all(ctx, r, []Case{s.Only})
		return r
	}
	s.all(ctx, r, singles(s.chosen(r.First.Messages), s.Failures))
	draw := rand.New(rand.NewPCG(uint64(s.Seed), 1)) //nolint:gosec // a sample, no secret
	for depth := 2; depth <= s.Depth && !r.stopped(); depth++ {
		s.all(ctx, r, deeper(s.held(r.Outcomes, depth-1), s.Failures, s.Samples, draw))
	}
	return r
}

func (s *Search) chosen(messages []Message) []Message {
	if s.Chosen == nil {
		return messages
	}
	var list []Message
	for _, m := range messages {
		if s.Chosen(m) {
			list = append(list, m)
		}
	}
	return list
}

// held returns the runs with a number of strikes that held, with the chosen ones of their messages.
func (s *Search) held(outcomes []Outcome, strikes int) []Outcome {
	var list []Outcome
	for _, o := range outcomes {
		if o.Verdict != Held || len(o.Case) != strikes {
			continue
		}
		if s.Chosen != nil {
			o.Messages, o.Struck = s.chosen(o.after()), []int{-1}
		}
		list = append(list, o)
	}
	return list
}

// all runs cases side by side, and adds their outcomes in the order of the cases.
func (s *Search) all(ctx context.Context, r *Report, cases []Case) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	q := queue{outcomes: make([]Outcome, len(cases)), shelves: make(map[string]*shelf)}
	var workers sync.WaitGroup
	for range s.parallel() {
		workers.Go(func() {
			for at, ok := q.take(); ok && ctx.Err() == nil; at, ok = q.take() {
				o := s.reach(ctx, r.First.Messages, cases[at])
				if ctx.Err() != nil { // it was ended, so it says nothing
					return
				}
				if o.Unstoppable {
					stop()
				}
				if len(cases[at]) >= s.Depth { // no case goes on from it
					o.Messages = nil
				}
				q.end(at, o, func(ended int) {
					if s.Progress != nil {
						s.Progress(len(r.Outcomes)+ended, len(r.Outcomes)+len(cases))
					}
				})
			}
		})
	}
	workers.Wait()
	r.add(q.outcomes)
}

// queue hands out the places of cases, and keeps their outcomes.
type queue struct {
	mu          sync.Mutex
	next, ended int
	outcomes    []Outcome
	shelves     map[string]*shelf
}

func (q *queue) take() (at int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next++
	return q.next - 1, q.next <= len(q.outcomes)
}

func (q *queue) end(at int, o Outcome, tell func(ended int)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outcomes[at] = o
	q.keep(at)
	q.ended++
	tell(q.ended)
}

// tries is how often a case is run until its messages are reached.
const tries = 3

// reach runs a case, again if its messages were not reached: on the real clock a program may send other ones.
func (s *Search) reach(ctx context.Context, learned []Message, c Case) (o Outcome) {
	for range tries {
		o = s.Run(ctx, c)
		if o.Settle(); o.Verdict == Held && s.RealClock && o.differs(learned) {
			o.Verdict = NotReached
		}
		if o.Verdict != NotReached || !s.RealClock || ctx.Err() != nil {
			break
		}
	}
	if o.Verdict.Failing() && o.missed() {
		o.Problems = append(o.Problems, "the failure of this case has not happened in this run, so it is not what breaks the promise")
	}
	return o
}

// waiting is how many runs go at once for each processor on the real clock, where most of them wait.
const waiting = 4

func (s *Search) parallel() int {
	if s.Parallel > 0 {
		return s.Parallel
	}
	if s.RealClock {
		return waiting * runtime.GOMAXPROCS(0)
	}
	return runtime.GOMAXPROCS(0)
}
