package storm

import "time"

// bin is the resolution of all that is measured.
const bin = 100 * time.Millisecond

// scene is everything but how the clients retry.
type scene struct {
	clients int
	every   time.Duration // each client begins one operation in each of these

	headroom  float64       // the server's capacity over the original load
	left      float64       // the part of the capacity that is left in the storm
	queue     time.Duration // how long its queue is: the work it holds, at full capacity
	rejection float64       // what a rejection costs, in requests served

	latency  time.Duration // of the network, to the server and back
	patience time.Duration // after which an attempt without an answer is given up
	deadline time.Duration // of an operation

	before, storm, after time.Duration
}

// standard is the scene that the docs describe.
var standard = scene{
	clients: 500, every: 100 * time.Millisecond,
	headroom: 1.5, left: 0.5, queue: 50 * time.Millisecond, rejection: 0.25,
	latency: time.Millisecond, patience: 500 * time.Millisecond, deadline: 2 * time.Second,
	before: 3 * time.Second, storm: 10 * time.Second, after: 20 * time.Second,
}

// few is the scene with a tenth of the clients, a server for as many, and less time, for the tests that run often.
func few(s scene) scene {
	s.clients /= 10
	s.before, s.after = time.Second, 4*time.Second
	return s
}

// load is how many operations begin each second, which is the load that is offered while none is retried.
func (s *scene) load() float64 { return float64(s.clients) / s.every.Seconds() }

func (s *scene) capacity() float64 { return s.headroom * s.load() }

func (s *scene) length() time.Duration { return s.before + s.storm + s.after }
