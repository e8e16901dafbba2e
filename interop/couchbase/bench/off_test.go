package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/instructions"
)

// TestOff prints what an operation costs a client that nobody listens to, for the comparison of two commits: see internal/devtools/beside.
func TestOff(t *testing.T) {
	counter, err := instructions.Open()
	if err == nil {
		defer counter.Close()
	}
	ours := connectCouchbase(t, startServer(t))
	for _, w := range []work{{name: "get", get: true}, {name: "upsert"}} {
		const n = 10 * operations
		run := callers(1, func() error { return ours(w) })
		if err := run(n); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		unlimited := debug.SetGCPercent(-1) // a collection empties the pools of memory
		bytes, number, executed := allocated(), mallocs(), executedBy(t, counter)
		if err := run(n); err != nil {
			t.Fatal(err)
		}
		executed, number, bytes = executedBy(t, counter)-executed, mallocs()-number, allocated()-bytes
		fmt.Printf("figure off-%s-allocs %.1f\n", w.name, float64(number)/n)
		fmt.Printf("figure off-%s-bytes %.0f\n", w.name, float64(bytes)/n)
		if counter != nil {
			fmt.Printf("figure off-%s-instructions %.0f\n", w.name, float64(executed)/n)
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

// executedBy returns the instructions that were executed until now, 0 if they cannot be counted.
func executedBy(t *testing.T, counter *instructions.Counter) uint64 {
	t.Helper()
	if counter == nil {
		return 0
	}
	n, err := counter.Read()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
