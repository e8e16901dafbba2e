package instructions

import (
	"errors"
	"testing"
)

// fakeThread is a thread whose counter reads the same each time.
type fakeThread struct {
	reading reading
	err     error
}

func (f fakeThread) read() (reading, error) { return f.reading, f.err }
func (f fakeThread) close() error           { return f.err }

func TestRead(t *testing.T) {
	errGone := errors.New("gone")
	for _, c := range []struct {
		name    string
		threads []thread
		want    uint64
		err     error
	}{
		{"the threads' counts are summed", []thread{fakeThread{reading: reading{3, 9, 9}}, fakeThread{reading: reading{4, 8, 8}}}, 7, nil},
		{"a thread that never ran counts nothing", []thread{fakeThread{}, fakeThread{reading: reading{4, 8, 8}}}, 4, nil},
		{"a count of part of the time is an error", []thread{fakeThread{reading: reading{3, 9, 9}}, fakeThread{reading: reading{4, 8, 7}}}, 0, errPartial},
		{"a thread that cannot be read is an error", []thread{fakeThread{reading: reading{3, 9, 9}}, fakeThread{err: errGone}}, 0, errGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := (&Counter{threads: c.threads}).Read()
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %d, %v; want %d, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestPlausible(t *testing.T) {
	for _, c := range []struct {
		name            string
		here, elsewhere uint64
		want            error
	}{
		{"a right count", 12 * turns, 12*turns + 40_000, nil},
		{"a right count of a processor with fewer instructions", 6 * turns, 6 * turns, nil},
		{"a count that stays at zero is no counter", 0, 0, ErrUnsupported},
		{"too few", turns, turns, errWrong},
		{"too many", 24 * turns, 24 * turns, errWrong},
		{"this thread is not counted", 0, 12 * turns, errWrong},
		{"the other thread is not counted", 12 * turns, 0, errWrong},
		{"the other thread is counted twice", 6 * turns, 12 * turns, errWrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := plausible(c.here, c.elsewhere); !errors.Is(err, c.want) {
				t.Errorf("got %v; want %v", err, c.want)
			}
		})
	}
}
