// Package profiling holds which operations the profiler of a server records.
//
// https://www.mongodb.com/docs/manual/reference/command/profile/
package profiling

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// The levels of profiling.
const (
	Off  = 0
	Slow = 1 // what takes long or, with a filter, what matches it
	All  = 2
)

// Rule is what a database has of its own.
type Rule struct {
	Level  int32
	Filter []byte // nil: how long an operation took decides
}

// Settings are those of a server, after Reset. They are safe for concurrent use.
type Settings struct {
	on         atomic.Bool // some database is profiled
	mu         sync.Mutex
	slowMS     int32
	sampleRate float64
	rules      map[string]Rule // of the databases
}

// Reset makes the settings those of a server that has just started.
func (s *Settings) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowMS, s.sampleRate, s.rules = 100, 1, make(map[string]Rule)
	s.on.Store(false)
}

// Idle reports whether no database is profiled.
func (s *Settings) Idle() bool { return !s.on.Load() }

// State is what holds for a database.
type State struct {
	Rule
	SlowMS     int32
	SampleRate float64
}

// Of returns what holds for a database.
func (s *Settings) Of(db string) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{s.rules[db], s.slowMS, s.sampleRate}
}

// Change lets change the state of a database, whose limits are those of all, and returns what it was.
func (s *Settings) Change(db string, change func(*State)) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := State{s.rules[db], s.slowMS, s.sampleRate}
	after := before
	change(&after)
	s.rules[db], s.slowMS, s.sampleRate = after.Rule, after.SlowMS, after.SampleRate
	s.noteLocked()
	return before
}

// Forget takes back what a database has of its own: it was dropped.
func (s *Settings) Forget(db string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rules, db)
	s.noteLocked()
}

func (s *Settings) noteLocked() {
	on := false
	for _, r := range s.rules {
		on = on || r.Level != Off
	}
	s.on.Store(on)
}

// Wants reports whether an operation that took so long is recorded. Matches tells whether the filter, if there is one, has it.
func (s *State) Wants(took time.Duration, matches func(filter []byte) bool) bool {
	switch {
	case s.Level != Slow:
		return s.Level == All
	case s.Filter != nil:
		return matches(s.Filter)
	}
	return took.Milliseconds() >= int64(s.SlowMS) && (s.SampleRate >= 1 || rand.Float64() < s.SampleRate)
}
