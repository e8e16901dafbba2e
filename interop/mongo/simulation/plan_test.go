package simulation

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
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

type plan = simlife.Plan[planned]

// slide is for how many further operations of its worker a fault waits that found no message.
const slide = 8

func newPlan(s settings) plan {
	r := s.Random(forPlan, 0, 0)
	return simlife.NewPlan(s.Load, r, s.faultNames(), func(kind string, worker, number int) planned {
		f := planned{
			kind: kind, worker: worker, number: number, times: 1, moment: moment(r.IntN(3)),
			hold: s.Scaled(simlife.HoldTime(r)), choice: r.IntN(1 << 20),
		}
		if chosen(s.Random(forOperation, uint64(worker), uint64(number))).name == "transfer" {
			f.message = r.IntN(7)
		}
		if r.IntN(4) == 0 {
			f.times = 2
		}
		return f
	})
}

func (s settings) faultNames() (names []string) {
	for _, k := range s.faultKinds() {
		names = append(names, k.name)
	}
	return names
}

// silences reports whether a server may never answer a message of this operation.
func (i *injector) silences(worker, number int) bool {
	return slices.ContainsFunc(i.plan[worker], func(f planned) bool {
		return isSilent(f.kind) && number >= f.number && number <= f.number+slide
	})
}
