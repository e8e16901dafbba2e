package bench

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// Many short rounds, because the CPU time of one binary changes within seconds: each ratio is of two samples that follow each other.
	rounds     = 40
	operations = 2_000 // of a sample of one caller; ten times as many for 64
	many       = 64
)

// cost is what one operation takes of the process, and how long it takes.
type cost struct{ cpu, wall, allocations float64 }

// measure returns the cost of n operations that f makes, after some of them.
func measure(t *testing.T, n int, f func(n int) error) cost {
	t.Helper()
	if err := f(n / 20); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before, allocated, began := cpuTime(t), mallocs(), time.Now()
	if err := f(n); err != nil {
		t.Fatal(err)
	}
	return cost{
		cpu: float64(cpuTime(t)-before) / float64(n), wall: float64(time.Since(began)) / float64(n),
		allocations: float64(mallocs()-allocated) / float64(n),
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// callers returns a function that makes n operations by so many goroutines.
func callers(workers int, op func() error) func(n int) error {
	return func(n int) error {
		errs := make(chan error, workers)
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for range (n + workers - 1) / workers {
					if err := op(); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		running.Wait()
		close(errs)
		return <-errs
	}
}

// arms are what is measured in turn: raw bytes on a bare socket, the connection of internal/couchbase/kv with a deadline, and the two
// clients with their defaults. For 64 callers the raw bytes are 64 requests in one write.
var arms = []string{"raw", "kv", "couchbase", "gocb"}

// TestSpeed measures Get and Upsert of one caller and of 64 on one connection, the server being another process. It prints medians, of
// ratios those of the rounds' ratios. Because the machine may be busy, only a ratio far above its bar fails.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	address := startServer(t)
	bytes := connectRaw(t, address)
	clients := map[string]client{
		"kv": connectKV(t, address), "couchbase": connectCouchbase(t, address), "gocb": connectGocb(t, address),
	}
	for _, workers := range []int{1, many} {
		for _, w := range works {
			costs, name := compare(t, workers, w, bytes, clients), w.name
			for _, arm := range arms {
				all := costs[arm]
				fmt.Printf("%-11s %2d %-9s cpu %8.0f ns, wall %8.0f ns, %5.1f allocations\n",
					name, workers, arm, median(all, cpu), median(all, wall), median(all, allocations))
			}
			fmt.Printf("%s %d: CPU over raw: connection %.2f, couchbase %.2f, gocb %.2f\n", name, workers,
				ratio(costs["kv"], costs["raw"], cpu), ratio(costs["couchbase"], costs["raw"], cpu), ratio(costs["gocb"], costs["raw"], cpu))
			judge(t, name, workers, costs)
		}
	}
}

// compare measures the arms in turn.
func compare(t *testing.T, workers int, w work, bytes *raw, clients map[string]client) map[string][]cost {
	t.Helper()
	buf := make([]byte, 64<<10)
	run := map[string]func(int) error{
		"raw": func(n int) error {
			for range n / workers {
				if err := bytes.trip(w.get, workers, buf); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for arm, op := range clients {
		run[arm] = callers(workers, func() error { return op(w) })
	}
	costs := make(map[string][]cost)
	for range rounds {
		for _, arm := range arms {
			costs[arm] = append(costs[arm], measure(t, operations*min(workers, 10), run[arm]))
		}
	}
	return costs
}

// judge prints the figures.
func judge(t *testing.T, name string, workers int, costs map[string][]cost) {
	t.Helper()
	ours, official := costs["couchbase"], costs["gocb"]
	toOfficial := ratio(ours, official, cpu)
	switch {
	case workers == 1:
		figure(t, "kv-"+name+"-vs-gocb", toOfficial, 0.52)
	case name == "get-decoded": // half of it is encoding/json, in both clients
		fmt.Printf("figure kv-get-decoded-64-vs-gocb %.3f\n", toOfficial)
	default:
		figure(t, "kv-"+name+"-64-vs-gocb", toOfficial, 0.20)
	}
	if workers == many && name == "get" {
		throughput := ratio(official, ours, wall)
		fmt.Printf("figure kv-get-64-throughput %.2f\n", throughput)
		if throughput < 4/tolerance {
			t.Errorf("the throughput is %.2f times gocb's, want at least 4", throughput)
		}
		figure(t, "kv-get-64-raw-ratio", ratio(ours, costs["raw"], cpu), 12)
	}
}

// tolerance is how far from its bar a ratio fails: the machine may have other work.
const tolerance = 1.5

func figure(t *testing.T, name string, value, bar float64) {
	t.Helper()
	fmt.Printf("figure %s %.3f\n", name, value)
	if value > bar*tolerance {
		t.Errorf("%s is %.3f, want at most %.2f", name, value, bar)
	}
}

func cpu(c cost) float64         { return c.cpu }
func wall(c cost) float64        { return c.wall }
func allocations(c cost) float64 { return c.allocations }

func median(costs []cost, of func(cost) float64) float64 {
	values := make([]float64, len(costs))
	for i, c := range costs {
		values[i] = of(c)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// ratio returns the median of the rounds' ratios.
func ratio(a, b []cost, of func(cost) float64) float64 {
	values := make([]float64, len(a))
	for i := range a {
		values[i] = of(a[i]) / of(b[i])
	}
	slices.Sort(values)
	return values[len(values)/2]
}
