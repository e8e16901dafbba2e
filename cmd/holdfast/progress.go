package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// progress prints the progress of a matrix: on a terminal one line that is updated, else a line after each fifth of
// the cells, and one when the strategies have been explored.
type progress struct {
	w       io.Writer
	live    bool
	columns int
	began   time.Time

	mu      sync.Mutex
	last    prove.Event
	odd     int
	running []string
	printed int // fifths of the cells that were printed, if not live
	ended   int // runs of the exploration
	known   int // 0 before the exploration
	done    chan struct{}
	wg      sync.WaitGroup
}

const refresh = 250 * time.Millisecond

func newProgress(w io.Writer, t terminal) *progress {
	p := &progress{w: w, live: t.is, columns: t.columns, began: time.Now(), done: make(chan struct{})}
	if p.live {
		p.wg.Go(p.tick)
	}
	return p
}

func (p *progress) tick() {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.mu.Lock()
			p.writeLocked()
			p.mu.Unlock()
		case <-p.done:
			return
		}
	}
}

// end removes the line, or tells how far the exploration came.
func (p *progress) end() {
	close(p.done)
	p.wg.Wait()
	switch {
	case p.live:
		fmt.Fprint(p.w, clearLine)
	case p.known > 0:
		fmt.Fprintln(p.w, p.line())
	}
}

func (p *progress) event(e prove.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := e.Strategy.Name + "/" + e.Failure.Name
	switch {
	case e.Disturbed:
		p.remove(name)
	case e.Result == nil:
		p.running = append(p.running, name)
	default:
		p.remove(name)
		if !e.Result.AsExpected() && !e.Result.Interrupted && !e.Result.Busy {
			p.odd++
		}
	}
	p.last = e
	if p.live {
		p.writeLocked()
		return
	}
	if fifth := e.Ended * 5 / max(1, e.Cells); fifth > p.printed && e.Result != nil {
		p.printed = fifth
		fmt.Fprintln(p.w, p.line())
	}
}

// explored notes how many runs of the exploration have ended, of those that are known.
func (p *progress) explored(ended, known int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.known = ended, known
	if p.live {
		p.writeLocked()
	}
}

func (p *progress) remove(name string) {
	for i, n := range p.running {
		if n == name {
			p.running = append(p.running[:i], p.running[i+1:]...)
			return
		}
	}
}

func (p *progress) line() string {
	if p.known > 0 {
		return fmt.Sprintf("explored: %d of %d runs, %.1f s", p.ended, p.known, time.Since(p.began).Seconds())
	}
	text := fmt.Sprintf("%d of %d cells, %.1f s", p.last.Ended, p.last.Cells, time.Since(p.began).Seconds())
	if p.odd > 0 {
		text += fmt.Sprintf(", %d not as expected", p.odd)
	}
	return text
}

func (p *progress) writeLocked() {
	if p.last.Cells == 0 {
		return
	}
	text := p.line()
	for i, name := range p.running {
		separator := ", "
		if i == 0 {
			separator = "; running: "
		}
		if len(text)+len(separator)+len(name)+5 > p.columns {
			text += ", ..."
			break
		}
		text += separator + name
	}
	fmt.Fprintf(p.w, "%s%s", clearLine, text[:min(len(text), p.columns-1)])
}
