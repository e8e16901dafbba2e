package testrun

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// label is the label of the goroutines of a run; its value is the run's number.
const label = "holdfast-explore"

var runs atomic.Int64

// overTCP runs the function against servers on sockets.
func (x *explorer) overTCP(ctx context.Context, c explore.Case) (o explore.Outcome) {
	o.Case = c
	began := time.Now()
	defer func() { o.Took = time.Since(began) }()
	r, function, err := x.start(ctx, c)
	if err != nil {
		o.Problems = append(o.Problems, err.Error())
		return o
	}
	number := strconv.FormatInt(runs.Add(1), 10)
	var ended chan struct{}
	pprof.Do(ctx, pprof.Labels(label, number), func(context.Context) { ended = r.perform(func() { function(r) }) })
	within := before(ended, x.Budget)
	if !within {
		o.Verdict, o.Dump = explore.Hung, goroutinesLabelled(number)
		o.Problems = append(o.Problems, fmt.Sprintf("the run has taken longer than its budget of %v", x.Budget))
	}
	r.end()
	if !within {
		o.Unstoppable = !before(ended, x.Limits.Closing)
	} else if dump := x.leftovers(number); dump != "" {
		o.Verdict, o.Dump = explore.Leaked, dump
		o.Problems = append(o.Problems, "the function has ended, and goroutines that it started go on: is every client closed?")
	}
	r.fill(&o)
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
	if x.MayLeak {
		return ""
	}
	tick := time.NewTicker(x.Limits.Closing / 500)
	defer tick.Stop()
	for limit := time.Now().Add(x.Limits.Closing); ; <-tick.C {
		if dump = goroutinesLabelled(number); dump == "" || time.Now().After(limit) {
			return dump
		}
	}
}
