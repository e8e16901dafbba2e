package tail

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
)

// The places of the two plots, in pixels. The second is plotStep to the right of the first.
const (
	pictureWidth, pictureHeight = 880, 370
	plotLeft, plotStep          = 70, 420
	plotWidth                   = 330
	plotTop, plotBottom         = 40, 290
	legendTop                   = 345
)

// The ends of the axes.
const (
	fewest, most      = 1, 10_000.0
	shortest, longest = 10 * time.Microsecond, 10 * time.Second
)

// line is a client's line for a percentile.
type line struct {
	client, name, style string
	of                  func(measured) time.Duration
}

var lines = func() []line {
	var all []line
	for _, c := range []struct{ client, colour string }{{driver.NameOurs, "#1b5fa7"}, {driver.NameOfficial, "#c2510f"}} {
		for _, p := range []struct {
			name, dashes string
			of           func(measured) time.Duration
		}{
			{"p50", "", func(m measured) time.Duration { return m.p50 }},
			{"p99", "7 4", func(m measured) time.Duration { return m.p99 }},
			{"p99.9", "2 3", func(m measured) time.Duration { return m.p999 }},
		} {
			style := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"`, c.colour, p.dashes)
			all = append(all, line{c.client, c.client + " " + p.name, style, p.of})
		}
	}
	return all
}()

// plot draws the percentiles over the number of goroutines, without deadlines on the left and with them on the right, as SVG.
func (r results) plot() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="sans-serif" font-size="12" fill="#222222">`+"\n", pictureWidth, pictureHeight)
	fmt.Fprintf(&b, "<title>How long a FindOne takes, by the number of goroutines</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", pictureWidth, pictureHeight)
	for i, deadline := range []bool{false, true} {
		left := float64(plotLeft + i*plotStep)
		axes(&b, left, map[bool]string{false: "without deadlines", true: "a deadline for each operation"}[deadline])
		for _, l := range lines {
			fmt.Fprintf(&b, `<polyline %s points="%s"/>`+"\n", l.style, r.points(l, deadline, left))
		}
	}
	for i, l := range lines {
		at, y := float64(plotLeft+(i%3)*125+(i/3)*plotStep), float64(legendTop)
		fmt.Fprintf(&b, `<path d="M%.1f %.1fh30" %s/>`+"\n", at, y, l.style)
		text(&b, at+36, y+4, "start", l.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// axes draws one frame with its ticks and labels.
func axes(b *strings.Builder, left float64, title string) {
	text(b, left+plotWidth/2, plotTop-14, "middle", title)
	for d := shortest; d <= longest; d *= 10 {
		fmt.Fprintf(b, `<path d="M%.1f %.1fh%d" stroke="#dddddd"/>`+"\n", left, y(d), plotWidth)
		text(b, left-6, y(d)+4, "end", d.String())
	}
	for _, l := range loads {
		if !l.deadline {
			at := x(left, l.goroutines)
			fmt.Fprintf(b, `<path d="M%.1f %dv5" stroke="#222222"/>`+"\n", at, plotBottom)
			text(b, at, plotBottom+18, "middle", fmt.Sprint(l.goroutines))
		}
	}
	fmt.Fprintf(b, `<path d="M%.1f %dV%dh%d" fill="none" stroke="#222222"/>`+"\n", left, plotTop, plotBottom, plotWidth)
	text(b, left+plotWidth/2, plotBottom+36, "middle", "goroutines on 100 connections")
}

// points are the places of a line in the plot at left.
func (r results) points(l line, deadline bool, left float64) string {
	var all []string
	for _, at := range loads {
		if at.deadline == deadline {
			all = append(all, fmt.Sprintf("%.1f,%.1f", x(left, at.goroutines), y(l.of(r[run{l.client, at}]))))
		}
	}
	return strings.Join(all, " ")
}

// x and y are the places on the logarithmic axes.
func x(left float64, goroutines int) float64 {
	return left + plotWidth*math.Log(float64(goroutines)/fewest)/math.Log(most/fewest)
}

func y(d time.Duration) float64 {
	d = min(max(d, shortest), longest)
	return plotBottom - (plotBottom-plotTop)*math.Log(float64(d)/float64(shortest))/math.Log(float64(longest)/float64(shortest))
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
}
