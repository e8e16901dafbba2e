package timeline

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Positions are in percent of the width, so that text keeps its size on a narrow screen; heights are in pixels.
const (
	laneHeight = 44
	laneLine   = 30 // the height of a lane's line below its name
	edge       = 3.0
	// nearest is the smallest distance of two marks.
	nearest = 5.4
)

func lineOf(lane int) int { return lane*laneHeight + laneLine }

// drawing collects the parts of a chart.
type drawing struct {
	strings.Builder
	*Chart
	at []float64 // the places of the events
}

// Draw returns the chart as an SVG image.
func (c *Chart) Draw() template.HTML {
	d := drawing{Chart: c, at: places(c.Events)}
	height := lineOf(len(c.Lanes)-1) + 34
	fmt.Fprintf(&d, `<svg class="chart" width="100%%" height="%d" role="img" aria-label="Chart of the %d steps below, from %s to %s">`,
		height, len(c.Events), Seconds(c.Events[0].At), Seconds(c.Events[len(c.Events)-1].At))
	for lane, name := range c.Lanes {
		y := lineOf(lane)
		fmt.Fprintf(&d, `<text class="n" x="0" y="%d">%s</text><line class="l" x1="0" x2="100%%" y1="%d" y2="%d"/>`,
			y-16, template.HTMLEscapeString(name), y, y)
	}
	d.spans()
	d.ways()
	d.marks()
	d.axis(height)
	d.WriteString("</svg>")
	return template.HTML(d.String()) //nolint:gosec // the names of the lanes are escaped, and the rest is of this package and of numbers
}

func (d *drawing) spans() {
	for _, s := range d.Spans {
		to := 100.0
		if s.To >= 0 {
			to = d.at[s.To]
		}
		lane := d.Events[s.From].Lane
		fmt.Fprintf(d, `<line class="s%d" x1="%.1f%%" x2="%.1f%%" y1="%d" y2="%d"/>`, lane, d.at[s.From], to, lineOf(lane), lineOf(lane))
	}
}

// ways draws the messages on their way from one lane to another.
func (d *drawing) ways() {
	classes := map[Way]string{Solid: "m", Dashed: "m b"}
	for i, e := range d.Events {
		if e.Way == NoWay {
			continue
		}
		fmt.Fprintf(d, `<line class="%s" x1="%.1f%%" x2="%.1f%%" y1="%d" y2="%d"/>`, classes[e.Way], d.at[i], d.at[i], lineOf(e.From), lineOf(e.Lane))
	}
}

// marks draws the numbers of the events.
func (d *drawing) marks() {
	for i, e := range d.Events {
		class, shape := "", `<circle r="9"/>`
		switch e.Mark {
		case Circle:
		case Filled:
			class = ` class="a"`
		case Square:
			class, shape = ` class="f"`, `<rect x="-9" y="-9" width="18" height="18"/>`
		}
		fmt.Fprintf(d, `<svg x="%.1f%%" y="%d"%s>%s<text>%d</text></svg>`, d.at[i], lineOf(e.Lane), class, shape, i+1)
	}
}

func (d *drawing) axis(height int) {
	first, last := d.Events[0].At, d.Events[len(d.Events)-1].At
	for _, one := range []struct{ class, x, words string }{
		{"n", "0", Seconds(first)}, {"n c", "50%", Seconds(last-first) + " long"}, {"n e", "100%", Seconds(last)},
	} {
		fmt.Fprintf(d, `<text class="%s" x="%s" y="%d">%s</text>`, one.class, one.x, height-8, one.words)
	}
}

// places returns where the events stand, in proportion to their times. Marks that would overlap stand side by side.
func places(events []Event) []float64 {
	first, last := events[0].At, events[len(events)-1].At
	width := 100 - 2*edge
	gap := nearest
	if n := len(events); n > 1 {
		gap = min(gap, width/float64(n-1))
	}
	at := make([]float64, len(events))
	for i, e := range events {
		at[i] = edge
		if i > 0 {
			at[i] = max(at[i-1]+gap, edge+width*share(e.At-first, last-first))
		}
	}
	limit := edge + width
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = min(at[i], limit)
		limit = at[i] - gap
	}
	return at
}

func share(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
