package prove

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
)

var (
	underLoad = flag.Int("under-load", 0, "how often all cells run beside four busy loops, as the command runs them")
	busyLoop  = flag.Bool("busy-loop", false, "keep a processor busy until the standard input ends")
)

// busyLoops is the number of programs that keep a processor busy.
const busyLoops = 4

// TestProveUnderLoad measures how many verdicts are wrong, and how many cells have none, beside busy loops. It runs only with -under-load.
func TestProveUnderLoad(t *testing.T) {
	if *underLoad < 1 {
		t.Skip("-under-load says how many runs of all cells, of some minutes each")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))) // as the command does
	startBusyLoops(t)
	cells, wrong, without, alone := 0, 0, 0, 0
	for n := range *underLoad {
		for _, d := range []Deployment{TCP(), CouchbaseMemory()} {
			m := embeddedMatrix(t, d, nil, nil)
			m.Settings.Seed = uint64(n + 1)
			r, err := m.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			cells, wrong, without = cells+len(r.Results), wrong+len(r.Unexpected()), without+len(r.Disturbed())
			for _, c := range r.Unexpected() {
				explain(t, n+1, c)
			}
			for i := range r.Results {
				if r.Results[i].Alone {
					alone++
				}
			}
			fmt.Fprintf(os.Stdout, "run %d: %s %s\n", n+1, r.Conclusion(), r.effort())
		}
	}
	fmt.Fprintf(os.Stdout, "of %d cells %d ran again alone\n", cells, alone)
	fmt.Fprintf(os.Stdout, "figure prove-under-load-wrong %d\n", wrong)
	fmt.Fprintf(os.Stdout, "figure prove-under-load-no-verdict-percent %.1f\n", 100*float64(without)/float64(cells))
	if wrong > 0 {
		t.Errorf("%d of %d cells are not as expected", wrong, cells)
	}
}

// startBusyLoops starts this program as often as there are busy loops. They end with the test, or with this process.
func startBusyLoops(t *testing.T) {
	t.Helper()
	for range busyLoops {
		loop := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestABusyLoop$", "-busy-loop") //nolint:gosec // this test itself
		input, err := loop.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := loop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = input.Close()
			_ = loop.Wait()
		})
	}
}

// TestABusyLoop is a busy loop if TestProveUnderLoad starts it.
func TestABusyLoop(t *testing.T) {
	if !*busyLoop {
		t.Skip("it is a program that TestProveUnderLoad starts")
	}
	go func() {
		for turns := new(atomic.Uint64); ; turns.Add(1) {
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}
