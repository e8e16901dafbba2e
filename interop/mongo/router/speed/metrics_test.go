package speed

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The metrics are those that holdfast router --admin serves. The two are measured first in turns: the second one pays a percent more.
func TestFigureOfTheMetrics(t *testing.T) {
	var costs []float64
	for off, on := range pairs(t, manyPairs, startCanned(t).Plain, "router", "router with metrics") {
		turns := []*subject{off, on}
		if len(costs)%2 == 1 {
			slices.Reverse(turns)
		}
		cpu := make(map[*subject]time.Duration)
		for _, s := range turns {
			cpu[s] = s.measure(t, many, inFull(operations/many)*many).cpu
		}
		costs = append(costs, 100*(float64(cpu[on])/float64(cpu[off])-1))
		t.Logf("CPU of a find: without metrics %v, with them %v", cpu[off], cpu[on])
	}
	fmt.Printf("figure router-metrics-cost-percent %.1f\n", median(costs))
}
