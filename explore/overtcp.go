package explore

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// closing is how long a run may take to end after its budget, and its goroutines after its end.
var closing = 5 * time.Second

// label is the label of the goroutines of a run; its value is the run's number.
const label = "holdfast-explore"

var runs atomic.Int64

// overTCP runs the function against servers on sockets.
func (x *explorer) overTCP(ctx context.Context, c explore.Case) (o explore.Outcome) {
	o.Case = c
	began := time.Now()
	defer func() { o.Took = time.Since(began) }()
	e, err := x.begin(ctx, c)
	if err != nil {
		o.Problems = append(o.Problems, err.Error())
		return o
	}
	number := strconv.FormatInt(runs.Add(1), 10)
	var ended chan struct{}
	pprof.Do(ctx, pprof.Labels(label, number), func(context.Context) { ended = e.perform(x.function) })
	within := before(ended, x.budget)
	if !within {
		o.Verdict, o.Dump = explore.Hung, goroutinesLabelled(number)
		o.Problems = append(o.Problems, fmt.Sprintf("the run has taken longer than its budget of %v", x.budget))
	}
	e.end()
	if !within {
		o.Unstoppable = !before(ended, closing)
	} else if dump := x.leftovers(number); dump != "" {
		o.Verdict, o.Dump = explore.Leaked, dump
		o.Problems = append(o.Problems, "the function has ended, and goroutines that it started go on: is every client closed?")
	}
	e.fill(&o)
	return o
}

// before reports whether a channel is closed within a time.
func before(ended <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-ended:
		return true
	case <-t.C:
		return false
	}
}

// leftovers returns the goroutines of a run that do not end, "" if all do.
func (x *explorer) leftovers(number string) (dump string) {
	if x.mayLeak {
		return ""
	}
	tick := time.NewTicker(closing / 500)
	defer tick.Stop()
	for limit := time.Now().Add(closing); ; <-tick.C {
		if dump = goroutinesLabelled(number); dump == "" || time.Now().After(limit) {
			return dump
		}
	}
}
