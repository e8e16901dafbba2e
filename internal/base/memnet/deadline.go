package memnet

import "time"

// deadline is until when reads or writes may wait. Its timer only wakes who waits, who then looks at the clock.
type deadline struct {
	at    time.Time // zero: never
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set changes the deadline; wake is called when it passes. The caller wakes who waits if it has passed already. There is no timer for that:
// in a synctest bubble one that is due at once runs on the goroutine that sets it, with the race detector's context of the whole bubble,
// and two at once crash the detector (Go 1.26.8).
func (d *deadline) set(t time.Time, wake func()) {
	d.at = t
	switch {
	case t.IsZero(), d.passed():
		d.stop()
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(t), wake)
	default:
		d.timer.Reset(time.Until(t))
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
