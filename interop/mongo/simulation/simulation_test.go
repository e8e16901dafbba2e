package simulation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

func TestSimulation(t *testing.T) {
	simlife.Run(t, "simulated", simlife.Seeds(8, raceEnabled), func(t *testing.T, seed uint64) (time.Duration, int) {
		l := liveInBubble(t, simulated(seed))
		found := l.check()
		l.report(t, found)
		l.checkSize(t)
		return l.lasted, len(found)
	})
}

// liveInBubble leads a life on the fake clock.
func liveInBubble(t *testing.T, s settings) (l *life) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := simcheck.Goroutines()
		l = lead(t, s)
		checkBubble(l.history, before)
	})
	return l
}

// checkSize checks that the life was as long and as eventful as it must be.
func (l *life) checkSize(t *testing.T) {
	t.Helper()
	happened := make(map[string]int)
	for _, h := range l.hits {
		happened[h.kind]++
	}
	for _, k := range l.faultKinds() {
		if happened[k.name] == 0 {
			t.Errorf("the fault %q did not happen", k.name)
		}
	}
	done := 0
	for _, c := range l.history.calls {
		if !c.failed() {
			done++
		}
	}
	if n := len(l.history.calls); n < simlife.LeastCalls || done < n*l.succeed/100 || len(l.hits) < simlife.LeastFaults || l.lasted < simlife.SimulatedDuration {
		t.Errorf("%d calls, of which %d succeeded, %d faults, %v; want more", n, done, len(l.hits), l.lasted)
	}
}

// report fails the test if there are violations. It writes the history to a file.
func (l *life) report(t *testing.T, found []violation) {
	t.Helper()
	if len(found) > 0 {
		again := fmt.Sprintf("go -C interop test ./mongo/simulation -run '%s$' -count=1 -seeds 1 -from %d -repeat 50", t.Name()[:strings.IndexByte(t.Name(), '/')], l.Seed)
		simcheck.Report(t, found, simlife.Histories(), l.Seed, l.text(found), again)
	}
}

// text is the whole history: violations, faults, calls and the servers' journal.
func (l *life) text(found []violation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %v\n\n", l.Seed, l.lasted)
	for _, v := range found {
		fmt.Fprintln(&b, v)
	}
	fmt.Fprintln(&b)
	slices.SortFunc(l.hits, func(a, b hit) int { return int(a.at - b.at) })
	for _, h := range l.hits {
		fmt.Fprintln(&b, h)
	}
	fmt.Fprintln(&b)
	for _, c := range l.history.calls {
		fmt.Fprintln(&b, c)
	}
	for _, w := range l.watchers {
		fmt.Fprintf(&b, "\nwatcher %s, opened again %d times\n", w.name, w.opened)
		for _, f := range w.failures {
			fmt.Fprintln(&b, f.text)
		}
	}
	fmt.Fprintln(&b, "\n", l.dump)
	return b.String()
}
