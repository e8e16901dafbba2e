package instructions

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// spin's loop has 6 to 12 instructions, as the processor has a shift within its exclusive or, or has not.
const (
	turns        = 2_000_000
	leastPerTurn = 4
	mostPerTurn  = 16
)

// spun keeps the compiler from leaving the loop out.
var spun atomic.Uint64

// spin is the known loop.
//
//go:noinline
func spin(turns int) {
	x := uint64(88_172_645_463_325_252)
	for range turns {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	spun.Store(x)
}

// verify makes sure that the counter counts the known loop, and counts it on another thread as on this one.
func (c *Counter) verify() error {
	runtime.LockOSThread() // so that the goroutine below has another
	defer runtime.UnlockOSThread()
	here, err := c.count(func() { spin(turns) })
	if err != nil {
		return err
	}
	elsewhere, err := c.count(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			spin(turns)
		}()
		<-done
	})
	if err != nil {
		return err
	}
	return plausible(here, elsewhere)
}

// count returns how many instructions there were while work ran.
func (c *Counter) count(work func()) (uint64, error) {
	before, err := c.Read()
	if err != nil {
		return 0, err
	}
	work()
	after, err := c.Read()
	return after - before, err
}

// plausible judges the counts of the known loop on this thread and on another one.
func plausible(here, elsewhere uint64) error {
	switch {
	case here == 0 && elsewhere == 0:
		return fmt.Errorf("%w: the count stays at zero", ErrUnsupported)
	case here < leastPerTurn*turns, here > mostPerTurn*turns:
		return fmt.Errorf("%w: %d for %d turns", errWrong, here, turns)
	case elsewhere*5 < here*4, elsewhere*4 > here*5:
		return fmt.Errorf("%w: %d on one thread, %d on another", errWrong, here, elsewhere)
	}
	return nil
}
