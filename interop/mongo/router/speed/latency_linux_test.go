package speed

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// All processes share a processor: to wake another one that sleeps takes longer than a find, and how often that happens is luck.
func TestFigureOfTheLatency(t *testing.T) {
	t.Setenv("GOMAXPROCS", strconv.Itoa(runtime.GOMAXPROCS(0))) // else a process takes what it may run on
	onOneProcessor(t)
	var latency []float64
	for floor, router := range pairs(t, fewPairs, startCanned(t).Plain, "floor", "router") {
		f, r := floor.measure(t, 1, inFull(alone)), router.measure(t, 1, inFull(alone))
		latency = append(latency, float64(r.median)/float64(f.median))
		t.Logf("a find of one connection: floor %v, router %v", f.median, r.median)
	}
	fmt.Printf("figure router-latency-vs-floor %.2f\n", median(latency))
}

// onOneProcessor has this process run, until the test ends, on the first processor that it may use, and those that it starts.
func onOneProcessor(t *testing.T) {
	t.Helper()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	setAffinity(t, &one)
	t.Cleanup(func() { setAffinity(t, &all) })
}

func setAffinity(t *testing.T, to *unix.CPUSet) {
	t.Helper()
	for changed := true; changed; { // until there is no thread that another one started before its own change
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", os.Getpid()))
		if err != nil || len(threads) == 0 {
			t.Fatalf("there are no threads: %v", err)
		}
		changed = false
		for _, thread := range threads {
			id, _ := strconv.Atoi(filepath.Base(thread))
			var now unix.CPUSet
			if unix.SchedGetaffinity(id, &now) == nil && now != *to { // else it has ended, maybe
				changed = true
				_ = unix.SchedSetaffinity(id, to)
			}
		}
	}
}
