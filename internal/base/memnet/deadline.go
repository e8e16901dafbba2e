package memnet

import "time"

// deadline is until when reads or writes may wait. Its timer only wakes who waits, who then looks at the clock.
type deadline struct {
	at    time.Time // zero: never
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set changes the deadline; wake is called when it passes.
func (d *deadline) set(t time.Time, wake func()) {
	d.at = t
	switch {
	case t.IsZero():
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
