package kvbench

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

// TestSpeed measures Get and Upsert of one caller and of 64 on one connection, the server being another process: raw bytes on a bare socket, the
// connection of internal/couchbase/kv with a deadline, and gocb. For 64 callers the raw bytes are 64 requests in one write. It prints medians,
// of ratios those of the rounds' ratios. It judges nothing.
func TestSpeed(t *testing.T) {
	address := startServer(t)
	bytes, conn, official := connectRaw(t, address), connectKV(t, address), connectGocb(t, address)
	for _, workers := range []int{1, many} {
		for _, get := range []bool{true, false} {
			buf := make([]byte, 64<<10)
			arms := map[string]func(int) error{
				"raw": func(n int) error {
					for range n / workers {
						if err := bytes.trip(get, workers, buf); err != nil {
							return err
						}
					}
					return nil
				},
				"kv":   callers(workers, func() error { return conn(get) }),
				"gocb": callers(workers, func() error { return official(get) }),
			}
			costs := make(map[string][]cost)
			for range rounds {
				for _, arm := range []string{"raw", "kv", "gocb"} {
					costs[arm] = append(costs[arm], measure(t, operations*min(workers, 10), arms[arm]))
				}
			}
			name := map[bool]string{true: "get", false: "upsert"}[get]
			for _, arm := range []string{"raw", "kv", "gocb"} {
				all := costs[arm]
				fmt.Printf("%s %d %-4s cpu %8.0f ns, wall %8.0f ns, %5.1f allocations\n", name, workers, arm, median(all, cpu), median(all, wall), median(all, allocations))
			}
			fmt.Printf("%s %d: connection/raw %.2f, connection/gocb %.3f, gocb/raw %.2f\n", name, workers,
				ratio(costs["kv"], costs["raw"], cpu), ratio(costs["kv"], costs["gocb"], cpu), ratio(costs["gocb"], costs["raw"], cpu))
		}
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
