package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// feed sends the events of a number of cells, one after another.
func feed(p *progress, cells int) {
	s, f := prove.MongoDB.Strategies()[0], prove.MongoDB.Failures()[0]
	for i := range cells {
		p.event(prove.Event{Strategy: s, Failure: f, Ended: i, Cells: cells})
		p.event(prove.Event{Strategy: s, Failure: f, Ended: i + 1, Cells: cells, Result: &prove.Result{}})
	}
	p.end()
}

func TestProgressWithoutATerminalHasAFewLines(t *testing.T) {
	var b bytes.Buffer
	feed(newProgress(&b, terminal{columns: 80}), 45)
	if n := strings.Count(b.String(), "\n"); n != 5 || strings.ContainsAny(b.String(), "\r\x1b") {
		t.Errorf("%d lines:\n%q", n, b.String())
	}
}

func TestProgressOnATerminalFitsOnOneLine(t *testing.T) {
	const columns = 30
	var b bytes.Buffer
	feed(newProgress(&b, terminal{columns: columns, is: true}), 45)
	if strings.Contains(b.String(), "\n") || !strings.HasSuffix(b.String(), "\r\x1b[K") {
		t.Errorf("%q", b.String())
	}
	for line := range strings.SplitSeq(b.String(), "\r\x1b[K") {
		if len(line) >= columns {
			t.Errorf("%q is longer than the terminal is wide", line)
		}
	}
}

// The exploration has the line when the cells have ended, and without a terminal one line at its end.
func TestProgressOfAnExploration(t *testing.T) {
	for _, live := range []bool{false, true} {
		var b bytes.Buffer
		p := newProgress(&b, terminal{columns: 80, is: live})
		p.event(prove.Event{Ended: 1, Cells: 1, Result: &prove.Result{}})
		p.explored(1, 58)
		p.explored(29, 58)
		p.end()
		if text := b.String(); live != strings.Contains(text, "explored: 1 of 58 runs") || !strings.Contains(text, "explored: 29 of 58 runs") {
			t.Errorf("live %t: %q", live, text)
		}
	}
}

// A cell that is to run again does not run meanwhile, and one without a verdict is not one that is not as expected.
func TestProgressOfADisturbedCell(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, terminal{columns: 80})
	s, f := prove.MongoDB.Strategies()[0], prove.MongoDB.Failures()[0]
	p.event(prove.Event{Strategy: s, Failure: f, Cells: 1})
	p.event(prove.Event{Strategy: s, Failure: f, Cells: 1, Disturbed: true})
	if len(p.running) != 0 || p.last.Ended != 0 {
		t.Errorf("running %v, %d ended", p.running, p.last.Ended)
	}
	p.event(prove.Event{Strategy: s, Failure: f, Cells: 1, Ended: 1, Result: &prove.Result{Busy: true}})
	if p.odd != 0 {
		t.Errorf("%d cells are not as expected", p.odd)
	}
	p.end()
}

func TestColours(t *testing.T) {
	with := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		name    string
		t       terminal
		noColor bool
		getenv  func(string) string
		want    bool
	}{
		{"a terminal", terminal{is: true}, false, with("TERM", "xterm"), true},
		{"no terminal", terminal{}, false, with("TERM", "xterm"), false},
		{"--no-color", terminal{is: true}, true, with("TERM", "xterm"), false},
		{"NO_COLOR", terminal{is: true}, false, with("TERM", "xterm", "NO_COLOR", "1"), false},
		{"a dumb terminal", terminal{is: true}, false, with("TERM", "dumb"), false},
	} {
		if got := c.t.coloured(c.noColor, c.getenv); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
