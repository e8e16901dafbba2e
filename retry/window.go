package retry

import "time"

// slots is the number of parts of a breaker's window.
const slots = 10

// window counts the attempts of the recent past. It reads the time of failures only: the successes between two failures are
// spread evenly over the time between them, so that a success need not read the clock.
type window struct {
	slot    time.Duration
	from    time.Time // the beginning of slot 0
	current int64     // the number of the latest slot; the ring holds it and those before it. An int of 32 bits is too small.
	at      time.Time // of the latest failure
	counted uint64    // the successes until then
	ring    [slots]struct{ succeeded, failed float64 }
}

func (w *window) start(length time.Duration, successes uint64, now time.Time) {
	*w = window{slot: length / slots, from: now, at: now, counted: successes}
}

// add adds an attempt that was not a simple success, and all successes before it.
func (w *window) add(h Health, successes uint64, now time.Time) {
	if now.Before(w.at) { // another caller read the clock later and locked first
		now = w.at
	}
	w.advance(now)
	w.spread(float64(successes-w.counted), now)
	w.counted, w.at = successes, now
	switch slot := &w.ring[w.current%slots]; h {
	case HealthBad:
		slot.failed++
	case HealthGood:
		slot.succeeded++
	case HealthUnknown:
	}
}

// advance moves the window to now and clears the slots that left it.
func (w *window) advance(now time.Time) {
	to := int64(now.Sub(w.from) / w.slot)
	if to-w.current >= slots {
		clear(w.ring[:])
	} else {
		for s := w.current + 1; s <= to; s++ {
			w.ring[s%slots].succeeded, w.ring[s%slots].failed = 0, 0
		}
	}
	w.current = to
}

// spread spreads successes over the time since the latest failure. Those that fall before the window are not counted.
func (w *window) spread(successes float64, now time.Time) {
	if successes == 0 {
		return
	}
	length := now.Sub(w.at)
	if length == 0 {
		w.ring[w.current%slots].succeeded += successes
		return
	}
	for s := w.current; s > w.current-slots && s >= 0; s-- {
		begin, end := w.from.Add(time.Duration(s)*w.slot), w.from.Add(time.Duration(s+1)*w.slot)
		if begin.Before(w.at) {
			begin = w.at
		}
		if end.After(now) {
			end = now
		}
		if end.After(begin) {
			w.ring[s%slots].succeeded += successes * float64(end.Sub(begin)) / float64(length)
		}
	}
}

func (w *window) counts() (succeeded, failed float64) {
	for _, s := range w.ring {
		succeeded += s.succeeded
		failed += s.failed
	}
	return succeeded, failed
}
