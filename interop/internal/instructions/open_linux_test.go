package instructions

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOpenError(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		unsupported bool
	}{
		{"the processor does not count this event", unix.ENOENT, true},
		{"the kernel has no counters for anyone", unix.ENODEV, true},
		{"the hardware cannot do this", unix.EOPNOTSUPP, true},
		{"the kernel does not know the call", unix.ENOSYS, true},
		{"a policy forbids it", unix.EACCES, true},
		{"a privilege is missing", unix.EPERM, true},
		{"the question is malformed", unix.EINVAL, false},
		{"the structure has a wrong size", unix.E2BIG, false},
		{"the thread has ended", unix.ESRCH, false},
		{"too many files are open", unix.EMFILE, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := openError(c.err)
			if !errors.Is(err, c.err) || errors.Is(err, ErrUnsupported) != c.unsupported {
				t.Errorf("got %v; want unsupported: %v", err, c.unsupported)
			}
		})
	}
}

// TestOpen counts a known loop, where instructions can be counted.
func TestOpen(t *testing.T) {
	c, err := Open()
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	one := countTurns(t, c, turns)
	two := countTurns(t, c, 2*turns)
	if ratio := two / one; ratio < 1.8 || ratio > 2.2 {
		t.Errorf("twice the turns are %.2f times the instructions", ratio)
	}
}

func countTurns(t *testing.T, c *Counter, turns int) float64 {
	t.Helper()
	n, err := c.count(func() { spin(turns) })
	if err != nil {
		t.Fatal(err)
	}
	return float64(n)
}

// TestEveryThreadIsCountedOnce counts CPU time instead of instructions, which every kernel can, and compares it with
// what the kernel accounts to the process: by threads that were there before, by ones that start later, and by ones that
// end.
func TestEveryThreadIsCountedOnce(t *testing.T) {
	start := make(chan struct{})
	before := spinOnThreads(3, start)
	c, err := open(event{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK})
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cpu := cpuTime(t)
	counted, err := c.count(func() {
		close(start)
		before.Wait()
		later := make(chan struct{})
		close(later)
		spinOnThreads(3, later).Wait()
		spinOnThreads(3, later).Wait() // on new threads: the ones before have ended
	})
	if err != nil {
		t.Fatal(err)
	}
	cpu = cpuTime(t) - cpu
	if math.Abs(float64(counted)/cpu-1) > 0.05 {
		t.Errorf("counted %d ns; the process used %.0f ns", counted, cpu)
	}
}

// spinOnThreads starts goroutines with a thread each, which spin as soon as start is closed and take their threads with
// them. It returns when all have their thread.
func spinOnThreads(n int, start <-chan struct{}) *sync.WaitGroup {
	var ready, done sync.WaitGroup
	ready.Add(n)
	for range n {
		done.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			ready.Done()
			<-start
			spin(40 * turns)
		})
	}
	ready.Wait()
	return &done
}

// cpuTime returns the CPU time of the process in ns.
func cpuTime(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}
