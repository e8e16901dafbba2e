package main

import (
	"fmt"
	"io"
	"time"
)

// runProgress prints how many runs have ended: on a terminal one line that is updated, else a line after each fifth of them.
type runProgress struct {
	status  *statusLine
	w       io.Writer
	began   time.Time
	printed int // fifths
}

func newRunProgress(s *session) *runProgress {
	p := &runProgress{status: newStatusLine(s), w: s.stderr, began: time.Now()}
	p.status.show("the run without failures")
	return p
}

// ran is called after each run. When cases with more failures follow, more runs are known.
func (p *runProgress) ran(ended, known int) {
	text := fmt.Sprintf("%d of %d runs, %.1f s", ended, known, time.Since(p.began).Seconds())
	if p.status.terminal.is {
		p.status.show(text)
		return
	}
	fifth := ended * 5 / known
	if fifth > p.printed {
		fmt.Fprintln(p.w, text)
	}
	p.printed = fifth
}

func (p *runProgress) end() { p.status.end() }
