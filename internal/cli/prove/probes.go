package prove

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// If other programs keep the processors busy, timeouts end without a chance for the operations, and the result of a cell shows the machine and
// not the strategy. So timers measure how late the machine lets a goroutine run. A cell during which one was too late is run again, alone, even
// if its verdict is as expected.

// probeEvery is the time of a timer that measures.
const probeEvery = 10 * time.Millisecond

// tolerance returns how late a timer may fire in a cell that counts: half of the shortest time in which a client or a server must do something.
func (t Timing) tolerance() time.Duration {
	shortest := t.patience()
	for _, d := range []time.Duration{t.Connect, t.Election, t.BlackHole - t.KeyValue} {
		if d > 0 {
			shortest = min(shortest, d)
		}
	}
	return shortest / 2
}

// leastWaste returns the time that an operation must waste before it counts. It is far above what a tolerated delay adds.
func (t Timing) leastWaste() time.Duration { return t.patience() / 2 }

// probes measure how late timers fire.
type probes struct {
	mu     sync.Mutex
	due    []time.Time // when the timer of each probe fires next
	late   []lateTimer
	recent time.Duration // the longest delay since the last call of latest
}

type lateTimer struct {
	fired time.Time
	by    time.Duration
}

// run starts a probe for each processor. They end with ctx.
func (p *probes) run(ctx context.Context) {
	p.due = make([]time.Time, runtime.GOMAXPROCS(0))
	for n := range p.due {
		p.due[n] = time.Now().Add(probeEvery)
		go p.measure(ctx, n)
	}
}

func (p *probes) measure(ctx context.Context, n int) {
	timer := time.NewTimer(probeEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		p.fired(n, time.Now())
		timer.Reset(probeEvery)
	}
}

// fired notes that the timer of a probe has fired.
func (p *probes) fired(n int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	by := now.Sub(p.due[n])
	p.recent = max(p.recent, by)
	if by >= probeEvery {
		p.late = append(p.late, lateTimer{now, by})
	}
	p.due[n] = now.Add(probeEvery)
}

// longest returns the longest delay of a timer that fired after began, or that should have fired by now.
func (p *probes) longest(began, now time.Time) (by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.late {
		if one.fired.After(began) {
			by = max(by, one.by)
		}
	}
	for _, due := range p.due {
		by = max(by, now.Sub(due))
	}
	return by
}

// latest returns the longest delay since the last call.
func (p *probes) latest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	by := p.recent
	p.recent = 0
	return by
}
