package mongofault

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Site is the servers of one run, which do the failures of its case. Its life: Start, then the program's work; Heal, then the check;
// Close, then Fill. Its methods are safe for concurrent use.
type Site struct {
	deployment *mongotest.Deployment
	pace       pace
	failures   map[string]*Failure
	strikes    explore.Case
	began      time.Time
	over       chan struct{} // closed when the failures end

	mu       sync.Mutex
	isOver   bool
	begun    int // the strikes that have begun
	seen     map[string]int
	arrivals []*arrival
	struck   []int // places in arrivals
	notes    []explore.Event
	repairs  []*repair
	running  int           // messages of the program that are being executed
	idle     chan struct{} // closed when there are none, if somebody waits for that
}

// repair is what ends a failure.
type repair struct {
	timer *time.Timer
	once  sync.Once
	do    func()
}

// Start starts the servers of a run.
func Start(s Settings, c explore.Case) (*Site, error) {
	site := &Site{
		pace: s.pace(), failures: make(map[string]*Failure), strikes: c, began: time.Now(), over: make(chan struct{}), seen: make(map[string]int),
	}
	for i := range s.Failures {
		site.failures[s.Failures[i].Name] = &s.Failures[i]
	}
	for _, strike := range c {
		if site.failures[strike.Failure] == nil {
			return nil, fmt.Errorf("explore: the case %s: there is no failure %q", c, strike.Failure)
		}
	}
	d, err := s.run()
	if err != nil {
		return nil, err
	}
	site.deployment = d
	d.Use(mongotest.AnyCommand, site.intercept)
	return site, nil
}

// Deployment returns the servers.
func (s *Site) Deployment() *mongotest.Deployment { return s.deployment }

// later calls a function after a time, or at the end of the failures.
func (s *Site) later(after time.Duration, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &repair{do: f}
	if s.isOver {
		f()
		return
	}
	r.timer = time.AfterFunc(after, func() { r.once.Do(r.do) })
	s.repairs = append(s.repairs, r)
}

// Heal ends the failures: late requests arrive, members run and reach each other again. It returns when there is a primary, and every
// member has all that was written. Messages that come afterwards are not recorded.
func (s *Site) Heal(ctx context.Context) error {
	s.endFailures()
	select {
	case <-s.done():
	case <-ctx.Done():
		return fmt.Errorf("explore: a message of the program was not answered after all failures had ended: %w", context.Cause(ctx))
	}
	if _, err := s.deployment.WaitPrimary(ctx); err != nil {
		return fmt.Errorf("explore: there is no primary after all failures had ended: %w", err)
	}
	if err := s.deployment.WaitIdle(ctx); err != nil {
		return fmt.Errorf("explore: the members have not got all writes after all failures had ended: %w", err)
	}
	return nil
}

// endFailures repairs what is broken, once.
func (s *Site) endFailures() {
	s.mu.Lock()
	repairs := s.repairs
	s.repairs = nil
	first := !s.isOver
	s.isOver = true
	s.mu.Unlock()
	for _, r := range repairs {
		r.timer.Stop()
		r.once.Do(r.do)
	}
	if first {
		s.deployment.Heal()
		close(s.over)
		s.Note("cluster", "all failures end")
	}
}

// ended notes that a message of the program is answered.
func (s *Site) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// done returns a channel that is closed when no message of the program is being executed.
func (s *Site) done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == 0 {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

// Close ends the failures and the servers.
func (s *Site) Close() error {
	s.endFailures()
	return s.deployment.Close()
}

// Fill tells an outcome what happened. The servers may be closed.
func (s *Site) Fill(o *explore.Outcome) {
	fates := s.fates()
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Struck = slices.Clone(s.struck)
	o.Events = slices.Clone(s.notes)
	for _, a := range s.arrivals {
		o.Messages = append(o.Messages, a.Message)
		o.Events = append(o.Events, s.event(a, fates[[2]int64{a.connID, int64(a.requestID)}]))
	}
	slices.SortStableFunc(o.Events, func(a, b explore.Event) int { return int(a.At - b.At) })
}
