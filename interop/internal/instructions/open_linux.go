package instructions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Open begins to count, and makes sure by a known loop that the count is right.
func Open() (*Counter, error) {
	c, err := open(event{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS})
	if err != nil {
		return nil, err
	}
	if err := c.verify(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// event is one of those that the kernel counts.
type event struct {
	kind   uint32
	config uint64
}

// attempts is how often open begins again because threads started or ended meanwhile. The runtime starts few, so that
// the second attempt nearly always succeeds.
const attempts = 100

// open counts the event in each thread of the process and in its descendants.
//
// Threads may start and end meanwhile. If the list of threads is the same before and after, then each thread of the list
// is counted once, and each later one descends from one of them. If it is not, nobody can say whether a new thread
// descends from one that was already counted, and open begins again.
func open(e event) (*Counter, error) {
	for range attempts {
		before, err := threadIDs()
		if err != nil {
			return nil, err
		}
		c, err := openThreads(e, before)
		if errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return nil, err
		}
		after, err := threadIDs()
		if err == nil && slices.Equal(before, after) {
			return c, nil
		}
		if err := errors.Join(err, c.Close()); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: in %d attempts threads started or ended", errWrong, attempts)
}

func threadIDs() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	ids := make([]int, len(entries))
	for i, entry := range entries {
		if ids[i], err = strconv.Atoi(entry.Name()); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func openThreads(e event, ids []int) (*Counter, error) {
	c := &Counter{}
	for _, id := range ids {
		t, err := openThread(e, id)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.threads = append(c.threads, t)
	}
	return c, nil
}

// openThread counts in user space only, which the kernel allows to programs without privileges too.
func openThread(e event, id int) (thread, error) {
	const anyCPU, noGroup = -1, -1
	attr := unix.PerfEventAttr{
		Type:        e.kind,
		Config:      e.config,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attr, id, anyCPU, noGroup, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, openError(err)
	}
	return perfEvent{os.NewFile(uintptr(fd), "perf event")}, nil
}

// unsupported are the answers of a kernel that does not count, does not know how, or does not allow it.
var unsupported = []error{unix.ENOENT, unix.ENODEV, unix.EOPNOTSUPP, unix.ENOSYS, unix.EACCES, unix.EPERM}

// openError tells a kernel that does not count from a mistake in how it was asked.
func openError(err error) error {
	if slices.ContainsFunc(unsupported, func(target error) bool { return errors.Is(err, target) }) {
		return fmt.Errorf("%w: perf_event_open: %w", ErrUnsupported, err)
	}
	return fmt.Errorf("perf_event_open: %w", err)
}

// perfEvent is a counter of the kernel.
type perfEvent struct{ file *os.File }

func (p perfEvent) read() (reading, error) {
	var b [24]byte
	if _, err := io.ReadFull(p.file, b[:]); err != nil {
		return reading{}, err
	}
	word := binary.NativeEndian.Uint64
	return reading{count: word(b[:8]), asked: word(b[8:16]), counted: word(b[16:])}, nil
}

func (p perfEvent) close() error { return p.file.Close() }
