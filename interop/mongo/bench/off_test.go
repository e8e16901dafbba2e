package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestOff prints what an operation costs a client that nobody listens to, for the comparison of two commits: see internal/devtools/beside.
func TestOff(t *testing.T) {
	skipIfRace(t)
	counter := openCounter(t)
	ours := connectAll(t, startServer(t), 1)[oursClient]
	for _, c := range []struct {
		figure string
		op     operation
	}{{"findone", ours.findOne}, {"insertone", ours.insertOne}} {
		alone := load{workers: 1}
		alone.run(t, c.op, sampled(operations)/20)
		runtime.GC()
		unlimited := debug.SetGCPercent(-1) // a collection empties the pools of memory
		bytes, before := allocated(), usage(t, counter)
		n := float64(alone.run(t, c.op, sampled(operations)))
		after := usage(t, counter)
		fmt.Printf("figure off-%s-allocs %.1f\n", c.figure, (after.allocations-before.allocations)/n)
		fmt.Printf("figure off-%s-bytes %.0f\n", c.figure, float64(allocated()-bytes)/n)
		if counter != nil {
			fmt.Printf("figure off-%s-instructions %.0f\n", c.figure, (after.instructions-before.instructions)/n)
		}
		debug.SetGCPercent(unlimited)
	}
}

// allocated returns the bytes that were allocated until now.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
