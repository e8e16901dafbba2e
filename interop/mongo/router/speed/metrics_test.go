package speed

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The metrics are those that holdfast router --admin serves. The two are measured first in turns: the second one pays a percent more.
func TestFigureOfTheMetrics(t *testing.T) {
	upstream := startCanned(t).Plain
	var costs []float64
	for i := range inFull(manyPairs) {
		off, on := start(t, "router", upstream), start(t, "router with metrics", upstream)
		turns := []*subject{off, on}
		if i%2 == 1 {
			slices.Reverse(turns)
		}
		for range inFull(roundsOfAPair) {
			cpu := make(map[*subject]time.Duration)
			for _, s := range turns {
				cpu[s] = s.measure(t, many, inFull(operations/many)*many).cpu
			}
			costs = append(costs, 100*(float64(cpu[on])/float64(cpu[off])-1))
			t.Logf("CPU of a find: without metrics %v, with them %v", cpu[off], cpu[on])
		}
	}
	fmt.Printf("figure router-metrics-cost-percent %.1f\n", median(costs))
}
