package explore

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

// singles returns one case for each failure of each message.
func singles(messages []Message, failures []Failure) []Case {
	var list []Case
	for _, m := range messages {
		for i := range failures {
			if failures[i].concerns(m) {
				list = append(list, Case{{m, failures[i].Name}})
			}
		}
	}
	return list
}

// deeper draws n cases with one strike more, without a case twice, and returns them in their order. Each goes on from a run that held,
// with a failure at a message that came after its last strike: also at one that only the failure made the program send. There are fewer
// if there are not so many.
func deeper(held []Outcome, failures []Failure, n int, draw *rand.Rand) []Case {
	f := fork{held: held, failures: failures}
	f.weigh()
	n = min(max(0, n), f.count)
	if n == f.count {
		return f.all()
	}
	drawn := make(map[branch]bool)
	for len(drawn) < n {
		drawn[f.at(draw.IntN(f.sum))] = true
	}
	list := make([]Case, 0, n)
	for _, b := range slices.SortedFunc(maps.Keys(drawn), compareBranches) {
		list = append(list, f.toCase(b))
	}
	return list
}

// fork is all the ways to go on from runs that held. There may be millions, so none is kept.
type fork struct {
	held     []Outcome
	failures []Failure
	count    int
	sum      int   // of the weights of all ways
	until    []int // the sum up to and with each run
}

// branch is one way: a failure at a message of a run.
type branch struct{ run, message, failure int }

func compareBranches(a, b branch) int {
	return cmp.Or(a.run-b.run, a.message-b.message, a.failure-b.failure)
}

// each calls see with the ways to go on from a run, until it returns false.
func (f *fork) each(run int, see func(b branch, weight int) bool) {
	for m, message := range f.held[run].after() {
		for k := range f.failures {
			if f.failures[k].concerns(message) && !see(branch{run, m, k}, f.failures[k].weight()) {
				return
			}
		}
	}
}

// weigh counts the ways, and adds up their weights.
func (f *fork) weigh() {
	for run := range f.held {
		f.each(run, func(_ branch, weight int) bool {
			f.count++
			f.sum += weight
			return true
		})
		f.until = append(f.until, f.sum)
	}
}

// at returns the way at a place among the weights.
func (f *fork) at(place int) (found branch) {
	run, _ := slices.BinarySearch(f.until, place+1)
	if run > 0 {
		place -= f.until[run-1]
	}
	f.each(run, func(b branch, weight int) bool {
		found = b
		place -= weight
		return place >= 0
	})
	return found
}

func (f *fork) all() (list []Case) {
	for run := range f.held {
		f.each(run, func(b branch, _ int) bool {
			list = append(list, f.toCase(b))
			return true
		})
	}
	return list
}

func (f *fork) toCase(b branch) Case {
	from := &f.held[b.run]
	return append(slices.Clone(from.Case), Strike{from.after()[b.message], f.failures[b.failure].Name})
}
