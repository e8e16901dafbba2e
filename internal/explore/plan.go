package explore

import (
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

// deeper draws n cases with one strike more. Each goes on from a run that held, with a failure at a message that came after its last
// strike: also at one that only the failure made the program send. There are fewer if there are not so many.
func deeper(held []Outcome, failures []Failure, n int, draw *rand.Rand) []Case {
	var candidates []Case
	var weights []int
	for i := range held {
		for _, m := range held[i].after() {
			for k := range failures {
				if failures[k].concerns(m) {
					candidates = append(candidates, append(slices.Clone(held[i].Case), Strike{m, failures[k].Name}))
					weights = append(weights, failures[k].weight())
				}
			}
		}
	}
	return sample(candidates, weights, n, draw)
}

// sample draws n of the candidates without putting them back, in proportion to their weights, and returns them in their order.
func sample(candidates []Case, weights []int, n int, draw *rand.Rand) []Case {
	if n = max(0, n); n >= len(candidates) {
		return candidates
	}
	sum := 0
	for _, w := range weights {
		sum += w
	}
	drawn := make([]int, 0, n)
	taken := make([]bool, len(candidates))
	for len(drawn) < n {
		at := draw.IntN(sum)
		i := 0
		for ; ; i++ {
			if taken[i] {
				continue
			}
			if at -= weights[i]; at < 0 {
				break
			}
		}
		taken[i] = true
		sum -= weights[i]
		drawn = append(drawn, i)
	}
	slices.Sort(drawn)
	list := make([]Case, n)
	for i, at := range drawn {
		list[i] = candidates[at]
	}
	return list
}
