package instructions

import (
	"errors"
	"fmt"
)

var (
	// ErrUnsupported is in Open's error if this kernel, processor or virtual machine does not count instructions for this
	// process. Any other error of Open is a mistake in the counting.
	ErrUnsupported = errors.New("instructions cannot be counted here")

	errWrong   = errors.New("the count of a known loop is wrong")
	errPartial = errors.New("not counted all the time: another program uses the processor's counters, or its cores are of different kinds")
)

// Counter counts what all threads of the process execute, those that start later included. It is not safe for concurrent
// use.
type Counter struct{ threads []thread }

// thread counts what one thread executes, and all threads that descend from it.
type thread interface {
	read() (reading, error)
	close() error
}

// reading is the count since the start, with the time (in ns) for which it was asked for and for which it was really
// counted. The kernel shares a processor's counters out if there are not enough of them; then the second is the smaller.
type reading struct{ count, asked, counted uint64 }

// whole returns the count, or an error if it is only part of one.
func (r reading) whole() (uint64, error) {
	if r.counted != r.asked {
		return 0, fmt.Errorf("%w: for %d of %d ns", errPartial, r.counted, r.asked)
	}
	return r.count, nil
}

// Read returns the number of instructions since Open. It fails if they were not counted all the time.
func (c *Counter) Read() (uint64, error) {
	var sum uint64
	for _, t := range c.threads {
		r, err := t.read()
		if err != nil {
			return 0, err
		}
		count, err := r.whole()
		if err != nil {
			return 0, err
		}
		sum += count
	}
	return sum, nil
}

// Close ends the counting.
func (c *Counter) Close() error {
	var errs []error
	for _, t := range c.threads {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}
