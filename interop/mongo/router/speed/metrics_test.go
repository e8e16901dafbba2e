package speed

import (
	"fmt"
	"testing"
)

// pairs is how often both processes are started: where one lies in memory changes its cost by as much as the metrics do.
const pairs = 5

// The metrics are those that holdfast router --admin serves.
func TestFigureOfTheMetrics(t *testing.T) {
	upstream := startCanned(t).Plain
	var costs []float64
	for range inFull(pairs) {
		off, on := start(t, "router", upstream), start(t, "router with metrics", upstream)
		for range inFull(rounds) {
			without, with := off.measure(t, many, inFull(operations/many)*many), on.measure(t, many, inFull(operations/many)*many)
			costs = append(costs, 100*(float64(with.cpu)/float64(without.cpu)-1))
			t.Logf("CPU of a find: without metrics %v, with them %v", without.cpu, with.cpu)
		}
	}
	fmt.Printf("figure router-metrics-cost-percent %.1f\n", median(costs))
}
