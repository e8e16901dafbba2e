package query

import "bytes"

// Work counts what the evaluation of a command does, and asks now and then whether it may go on. A nil *Work is never asked
// anything. It is for one evaluation at a time.
type Work struct {
	check func() error
	left  int   // steps until check is called again
	err   error // what check returned: nothing goes on after an error
}

// stepsPerCheck is how many steps there are between two calls of the check. A step takes some 100 ns, or 2 µs where it is a long
// one, so that the check is called each millisecond at least.
const stepsPerCheck = 1000

// NewWork returns a Work that calls check at least every 10 ms of evaluation. Its first error ends the evaluation at once, and is
// the evaluation's error.
func NewWork(check func() error) *Work { return &Work{check: check, left: stepsPerCheck} }

// Restart begins another evaluation.
func (w *Work) Restart() { w.left, w.err = stepsPerCheck, nil }

// Do counts steps, each of which is as much work as one small value. After an error the evaluation must end.
func (w *Work) Do(steps int) error {
	if w == nil {
		return nil
	}
	if w.left -= steps; w.left > 0 {
		return nil
	}
	return w.ask()
}

// Ask asks whether the evaluation may go on.
func (w *Work) Ask() error {
	if w == nil {
		return nil
	}
	return w.ask()
}

func (w *Work) ask() error {
	w.left = stepsPerCheck
	if w.err == nil {
		w.err = w.check()
	}
	if w.err != nil {
		w.left = 0
	}
	return w.err
}

// Err returns the error with which the evaluation ended, nil if it may go on.
func (w *Work) Err() error {
	if w == nil {
		return nil
	}
	return w.err
}

// Bytes counts work on some bytes that are only copied or compared.
func (w *Work) Bytes(n int) error { return w.Do(1 + n/256) }

// SortStable sorts a list and keeps the order of equal elements. Where the work must end, the list has its elements in any order.
func SortStable[T any](w *Work, list []T, compare func(a, b T) int) error {
	const run = 12 // that many are sorted by insertion
	for from := 0; from < len(list); from += run {
		if err := w.Do(run); err != nil {
			return err
		}
		insertionSort(list[from:min(from+run, len(list))], compare)
	}
	if len(list) <= run {
		return nil
	}
	from, to := list, make([]T, len(list))
	for size := run; size < len(list); size *= 2 {
		for at := 0; at < len(list); at += 2 * size {
			middle, end := min(at+size, len(list)), min(at+2*size, len(list))
			if err := mergeRuns(w, to[at:end], from[at:middle], from[middle:end], compare); err != nil {
				return err
			}
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
	return nil
}

func insertionSort[T any](list []T, compare func(a, b T) int) {
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && compare(list[j], list[j-1]) < 0; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

// mergeRuns merges two sorted lists.
func mergeRuns[T any](w *Work, to, a, b []T, compare func(a, b T) int) error {
	if len(a) == 0 || len(b) == 0 || compare(a[len(a)-1], b[0]) <= 0 {
		copy(to[copy(to, a):], b)
		return w.Do(1 + len(to)/64)
	}
	for i := range to {
		if err := w.Do(1); err != nil {
			return err
		}
		switch {
		case len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) <= 0:
			to[i], a = a[0], a[1:]
		default:
			to[i], b = b[0], b[1:]
		}
	}
	return nil
}

// Unasked is how many bytes of a text are worked on without asking.
const Unasked = 64 << 10

// Index is bytes.Index that ends with the work.
func (w *Work) Index(s, part []byte) (int, error) {
	if len(s) <= 2*Unasked || len(part) > Unasked {
		return bytes.Index(s, part), w.Bytes(len(s))
	}
	for at := 0; ; at += Unasked {
		if err := w.Bytes(Unasked); err != nil {
			return -1, err
		}
		end := at + Unasked + len(part) - 1
		if end >= len(s) {
			if i := bytes.Index(s[at:], part); i >= 0 {
				return at + i, nil
			}
			return -1, nil
		}
		if i := bytes.Index(s[at:end], part); i >= 0 {
			return at + i, nil
		}
	}
}
