package simulation

import (
	"math/rand/v2"
	"slices"
	"time"
)

// moment is the time at which a fault of the cluster happens to its message.
type moment uint8

const (
	before     moment = iota // nothing is executed yet
	afterApply               // only the primary has applied it
	after                    // it is executed, its reply is not sent
)

// planned is a fault of the plan.
type planned struct {
	kind   string
	worker int
	number int // of the operation; the fault strikes this one, or the next of this worker that sends a message
	// message is which message of the operation it strikes, counted from 0, and times is how many in a row.
	message, times int
	moment         moment
	hold           time.Duration // until the cluster is repaired, or the delay of a message
	choice         int           // of a code, a member or a length
}

// plan is all faults of a life: a function of the settings.
type plan struct {
	byWorker [][]planned
}

// slide is for how many further operations of its worker a fault waits that found no message.
const slide = 8

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
			kind: name, worker: r.IntN(s.workers), number: last * i / len(all), times: 1, moment: moment(r.IntN(3)),
			hold: s.scaled(holdTime(r)), choice: r.IntN(1 << 20),
		}
		if chosen(s.random(forOperation, uint64(f.worker), uint64(f.number))).name == "transfer" {
			f.message = r.IntN(7)
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

// silences reports whether a server may never answer a message of this operation.
func (p plan) silences(worker, number int) bool {
	return slices.ContainsFunc(p.byWorker[worker], func(f planned) bool {
		return isSilent(f.kind) && number >= f.number && number <= f.number+slide
	})
}

func (p plan) size() (n int) {
	for _, list := range p.byWorker {
		n += len(list)
	}
	return n
}
