package storm

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// small is a server that does 100 requests a second and has a queue for five.
var small = scene{
	clients: 10, every: 100 * time.Millisecond, headroom: 1, left: 0.5, queue: 50 * time.Millisecond, rejection: 0.5,
	before: time.Second, storm: time.Second, after: time.Second,
}

func TestServer(t *testing.T) {
	tests := []struct {
		name    string
		at      time.Duration
		waiting int // how many come in the same instant before
		want    outcome
		wait    time.Duration
	}{
		{"an idle server serves in the time of one request", 0, 0, served, 10 * time.Millisecond},
		{"the queue is first in, first out", 0, 4, served, 50 * time.Millisecond},
		{"a request that finds the queue full is rejected at once", 0, 5, rejected, 0},
		{"rejecting costs work, and may pile up as high as the queue", 0, 14, rejected, 0},
		{"what comes then is lost", 0, 15, timedOut, 0},
		{"with half the capacity a request takes twice as long", time.Second, 0, served, 20 * time.Millisecond},
		{"the queue is not longer then", time.Second, 5, rejected, 0},
		{"the capacity returns", 2 * time.Second, 0, served, 10 * time.Millisecond},
		{"what waits when the capacity returns gains by it", 1980 * time.Millisecond, 4, served, 60 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(small)
				wait(t.Context(), test.at)
				for range test.waiting {
					s.arrive()
				}
				got, after := s.arrive()
				if off := after - test.wait; got != test.want || off.Abs() > time.Microsecond {
					t.Errorf("outcome %d after %v, want %d after %v", got, after, test.want, test.wait)
				}
			})
		})
	}
}

func TestServerWorksOffItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(small)
		for range 6 { // five in the queue, and one rejected at half a request's cost
			s.arrive()
		}
		wait(t.Context(), 5*time.Millisecond)
		if got, _ := s.arrive(); got != rejected {
			t.Errorf("outcome %d while the queue is still full, want %d", got, rejected)
		}
		wait(t.Context(), 11*time.Millisecond)
		got, after := s.arrive()
		if want := 54 * time.Millisecond; got != served || (after-want).Abs() > time.Microsecond {
			t.Errorf("outcome %d after %v, want %d after %v", got, after, served, want)
		}
	})
}

func TestAttempt(t *testing.T) {
	tests := []struct {
		name    string
		waiting int
		want    error
		after   time.Duration
	}{
		{"an answer takes the network's time besides", 0, nil, 12 * time.Millisecond},
		{"an answer that comes too late is not waited for", 4, errTimedOut, 40 * time.Millisecond},
		{"a rejection comes at once", 5, errRejected, 2 * time.Millisecond},
		{"of a lost attempt nothing is heard", 15, errTimedOut, 40 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := small
				s.latency, s.patience = 2*time.Millisecond, 40*time.Millisecond
				c := client{server: newServer(s), result: newResult(s)}
				for range test.waiting {
					c.arrive()
				}
				err := c.attempt(t.Context())
				off := time.Since(c.began) - test.after
				if !errors.Is(err, test.want) || off.Abs() > time.Microsecond {
					t.Errorf("%v, %v off; want %v after %v", err, off, test.want, test.after)
				}
			})
		})
	}
}

// TestConservation checks that nothing is counted twice or not at all, and that the server does no more than it can.
func TestConservation(t *testing.T) {
	for _, how := range strategies {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, few(standard), how)
			operations := r.clients * int(r.length()/r.every)
			equal(t, "operations begun", sum(r.begun), operations)
			equal(t, "attempts offered", sum(r.offered), sum(r.answers[:]))
			equal(t, "attempts that clients heard of", sum(r.heard[:]), sum(r.answers[:]))
			equal(t, "attempts heard to be served", r.heard[served], sum(r.succeeded))
			if r.heard[served] > r.answers[served] || r.heard[rejected] > r.answers[rejected] {
				t.Errorf("clients heard %v, the server answered %v", r.heard, r.answers)
			}
			cost := float64(r.answers[served]) + r.rejection*float64(r.answers[rejected])
			most := r.done(r.length()+r.deadline) + 2*r.queue.Seconds()*r.capacity() + 1
			if cost > r.work+1e-6*most || r.work > most {
				t.Errorf("the answers cost %.1f, the server accepted %.1f and can do %.1f", cost, r.work, most)
			}
		})
	}
}

func equal(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

func TestMeasures(t *testing.T) {
	const never = -1
	tests := []struct {
		name          string
		change        func(*result)
		peak, inStorm float64
		recovery      time.Duration
		failed        int
	}{
		{"nothing happens", func(*result) {}, 1, 1, 0, 0},
		{
			"a peak is that of any second, not only whole ones",
			func(r *result) { add(r.offered[15:25], 5) }, 1.5, 1.25, 500 * time.Millisecond, 0,
		},
		{"a peak is not that of less", func(r *result) { r.offered[15] += 50 }, 1.5, 1.5, 0, 0},
		{"the load has not returned", func(r *result) { r.offered[22]++ }, 1.01, 1, 300 * time.Millisecond, 0},
		{"too little load is not well either", func(r *result) { r.offered[22]-- }, 1, 1, 300 * time.Millisecond, 0},
		{"operations still fail", func(r *result) { r.succeeded[20]-- }, 1, 1, 100 * time.Millisecond, 1},
		{"it is for good only", func(r *result) { r.succeeded[20]--; r.succeeded[27]-- }, 1, 1, 800 * time.Millisecond, 2},
		{"it does not last to the end", func(r *result) { r.succeeded[29]-- }, 1, 1, never, 1},
		{"what was before the return does not count", func(r *result) { add(r.succeeded[10:20], -10) }, 1, 1, 0, 100},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newResult(small)
			r.offered = make([]int, len(r.begun))
			for _, series := range [][]int{r.offered, r.begun, r.succeeded} {
				add(series, 10)
			}
			test.change(r)
			recovery, ok := r.recovery()
			if !ok {
				recovery = never
			}
			if !near(r.peak(time.Second), test.peak) || !near(r.inStorm(), test.inStorm) || recovery != test.recovery {
				t.Errorf("peak %v, in the storm %v, recovery %v; want %v, %v, %v",
					r.peak(time.Second), r.inStorm(), recovery, test.peak, test.inStorm, test.recovery)
			}
			equal(t, "failed operations", r.failed(), test.failed)
		})
	}
}

func add(to []int, n int) {
	for i := range to {
		to[i] += n
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
