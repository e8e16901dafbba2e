package simulation

import (
	"math/rand/v2"
	"slices"
	"time"
)

// planned is a fault of the plan.
type planned struct {
	kind   string
	worker int
	number int // of the operation; the fault strikes a message about its document, or about that of the next operation of this worker
	// times is how many messages in a row it strikes.
	times  int
	after  bool          // the fault of the cluster happens when the message has been executed, before its reply is sent
	hold   time.Duration // until the cluster is repaired, or the delay of a message
	choice int           // of a status, a node or a length
}

// plan is all faults of a life: a function of the settings.
type plan struct {
	byWorker [][]planned
}

func newPlan(s settings) plan {
	r := s.random(forPlan, 0, 0)
	var names []string
	for _, k := range faultKinds() {
		names = append(names, k.name)
	}
	all := slices.Clone(names)
	for range s.faults {
		all = append(all, names[r.IntN(len(names))])
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	p := plan{byWorker: make([][]planned, s.workers)}
	last := s.operations * 9 / 10 // late faults would not all find an operation
	for i, name := range all {
		f := planned{
			kind: name, worker: r.IntN(s.workers), number: last * i / len(all), times: 1, after: r.IntN(2) == 0,
			hold: s.scaled(holdTime(r)), choice: r.IntN(1 << 20),
		}
		if r.IntN(4) == 0 {
			f.times = 2
		}
		p.byWorker[f.worker] = append(p.byWorker[f.worker], f)
	}
	return p
}

// holdTime is mostly a few seconds, and up to half a minute.
func holdTime(r *rand.Rand) time.Duration {
	if r.IntN(5) == 0 {
		return time.Duration(r.Int64N(int64(35 * time.Second)))
	}
	return 200*time.Millisecond + time.Duration(r.Int64N(int64(6*time.Second)))
}

func (p plan) size() (n int) {
	for _, list := range p.byWorker {
		n += len(list)
	}
	return n
}
