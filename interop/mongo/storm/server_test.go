package storm

import (
	"sync"
	"time"
)

// outcome is what becomes of an attempt.
type outcome int

const (
	served outcome = iota
	rejected
	timedOut
	outcomes // how many there are
)

// server has a bounded queue, first in first out, before a capacity that is smaller during the storm. Work is counted in
// requests. A request that finds the queue full is rejected at once, at a cost; when the cost of rejecting has itself piled up as
// high as the queue, further requests are lost: the network's buffers are full, and there is no answer.
type server struct {
	scene
	began time.Time

	mu       sync.Mutex
	accepted float64 // where all accepted work ends, on the scale of done
	offered  []int   // attempts, by the bin in which they arrive
	answers  [outcomes]int
}

func newServer(s scene) *server {
	return &server{scene: s, began: time.Now(), offered: make([]int, (s.length()+s.deadline)/bin+1)}
}

// arrive takes in one attempt, and returns what becomes of it and after how long. Of a lost one nothing is heard.
func (s *server) arrive() (outcome, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Since(s.began)
	s.offered[at/bin]++
	done := s.done(at)
	s.accepted = max(s.accepted, done)
	answer := s.admit(s.accepted - done)
	s.answers[answer]++
	if answer == served {
		return served, s.when(s.accepted) - at
	}
	return answer, 0
}

func (s *server) admit(backlog float64) outcome {
	queue := s.queue.Seconds() * s.capacity()
	switch {
	case backlog < queue:
		s.accepted++
		return served
	case backlog < 2*queue:
		s.accepted += s.rejection
		return rejected
	default:
		return timedOut
	}
}

// done is how much work the server can have done until a time.
func (s *scene) done(at time.Duration) float64 {
	reduced := min(max(at-s.before, 0), s.storm)
	return s.capacity() * (at.Seconds() - (1-s.left)*reduced.Seconds())
}

// when is the inverse of done.
func (s *scene) when(work float64) time.Duration {
	full := work / s.capacity()
	reduced := min(max((full-s.before.Seconds())/s.left, 0), s.storm.Seconds())
	return time.Duration((full + (1-s.left)*reduced) * float64(time.Second))
}
