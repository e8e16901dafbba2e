package timeline

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Marks keep their order, stay within the chart, and do not overlap as long as there is room.
func TestMarksStandInOrderAndApart(t *testing.T) {
	at := func(ms ...int) (events []Event) {
		for _, m := range ms {
			events = append(events, Event{At: time.Duration(m) * time.Millisecond})
		}
		return events
	}
	for _, c := range []struct {
		name   string
		events []Event
		want   []float64 // nil: any
	}{
		{"one event", at(5), []float64{3}},
		{"in proportion", at(0, 50, 100), []float64{3, 50, 97}},
		{"all at once", at(7, 7, 7), []float64{3, 8.4, 13.8}},
		{"crowded at the end", at(0, 100, 100), []float64{3, 91.6, 97}},
		{"as many as a story has", at(make([]int, 24)...), nil},
	} {
		got := places(c.events)
		gap := min(nearest, (100-2*edge)/float64(max(1, len(got)-1)))
		for i, x := range got {
			if x < edge-1e-9 || x > 100-edge+1e-9 || i > 0 && x-got[i-1] < gap-1e-9 {
				t.Errorf("%s: mark %d stands at %v, after %v", c.name, i, x, got[max(0, i-1)])
			}
			if c.want != nil && math.Abs(x-c.want[i]) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// The chart has a lane for each name, a line for each span and message, and a mark for each event.
func TestAChartHasItsLanesSpansMessagesAndMarks(t *testing.T) {
	c := Chart{
		Lanes: []string{"program", "<server>"},
		Events: []Event{
			{At: time.Second},
			{At: time.Second + time.Millisecond, Lane: 1, Mark: Filled, Way: Dashed},
			{At: 2 * time.Second, Mark: Square},
			{At: 3 * time.Second, Lane: 1, Way: Solid},
		},
		Spans: []Span{{0, 2}, {1, -1}},
	}
	got := string(c.Draw())
	for _, want := range []string{
		`height="108" role="img" aria-label="Chart of the 4 steps below, from 1.000 s to 3.000 s">`,
		`<text class="n" x="0" y="14">program</text><line class="l" x1="0" x2="100%" y1="30" y2="30"/>`,
		`<text class="n" x="0" y="58">&lt;server&gt;</text>`,
		`<line class="s0" x1="3.0%" x2="50.0%" y1="30" y2="30"/>`, `<line class="s1" x1="8.4%" x2="100.0%" y1="74" y2="74"/>`,
		`<line class="m b" x1="8.4%" x2="8.4%" y1="30" y2="74"/>`, `<line class="m" x1="97.0%" x2="97.0%" y1="30" y2="74"/>`,
		`<svg x="3.0%" y="30"><circle r="9"/><text>1</text></svg>`,
		`<svg x="8.4%" y="74" class="a"><circle r="9"/><text>2</text></svg>`,
		`<svg x="50.0%" y="30" class="f"><rect x="-9" y="-9" width="18" height="18"/><text>3</text></svg>`,
		`<text class="n c" x="50%" y="100">2.000 s long</text><text class="n e" x="100%" y="100">3.000 s</text></svg>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the chart does not have %s:\n%s", want, got)
		}
	}
}
