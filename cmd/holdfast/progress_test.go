package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/prove"
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
