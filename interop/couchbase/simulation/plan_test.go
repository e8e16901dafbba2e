package simulation

import (
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
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

type plan = simlife.Plan[planned]

func newPlan(s settings) plan {
	r := s.Random(forPlan, 0, 0)
	return simlife.NewPlan(s.Load, r, faultNames(), func(kind string, worker, number int) planned {
		f := planned{
			kind: kind, worker: worker, number: number, times: 1, after: r.IntN(2) == 0,
			hold: s.Scaled(simlife.HoldTime(r)), choice: r.IntN(1 << 20),
		}
		if r.IntN(4) == 0 {
			f.times = 2
		}
		return f
	})
}

func faultNames() (names []string) {
	for _, k := range faultKinds() {
		names = append(names, k.name)
	}
	return names
}
