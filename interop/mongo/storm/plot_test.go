package storm

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// line is how a strategy is drawn.
type line struct {
	colour string
	dashes string
	width  float64 // 0: 1.5
}

// The plot's places, in pixels.
const (
	plotWidth, plotHeight = 760, 320
	plotLeft, plotRight   = 58, 500
	plotTop, plotBottom   = 16, 272
	legendLeft            = 514
	leastLoad, mostLoad   = 0.9, 12.0
)

// plot draws the offered load over time, one line for each result, as SVG.
func plot(results []*result) string {
	var b strings.Builder
	s := &results[0].scene
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="sans-serif" font-size="12" fill="#222222">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, "<title>Offered load over time, by how clients retry</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, plotHeight)
	axes(&b, s)
	for i, r := range results {
		fmt.Fprintf(&b, `<polyline fill="none" %s points="%s"/>`+"\n", strategies[i].line.stroke(), points(r))
	}
	legend(&b, results)
	b.WriteString("</svg>\n")
	return b.String()
}

// axes draws the frame, the ticks with their labels, and the time of the storm as a grey area.
func axes(b *strings.Builder, s *scene) {
	from, to := x(s, s.before.Seconds()), x(s, (s.before+s.storm).Seconds())
	fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#eeeeee"/>`+"\n", from, plotTop, to-from, plotBottom-plotTop)
	text(b, (from+to)/2, plotTop+14, "middle", "half the capacity")
	for _, load := range []float64{1, 2, 5, 10} {
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#cccccc"/>`+"\n", plotLeft, y(load), plotRight)
		text(b, plotLeft-6, y(load)+4, "end", fmt.Sprintf("%gx", load))
	}
	for second := 0.0; second <= (s.storm + s.after).Seconds(); second += 5 {
		at := x(s, s.before.Seconds()+second)
		fmt.Fprintf(b, `<path d="M%.1f %dv5" stroke="#222222"/>`+"\n", at, plotBottom)
		text(b, at, plotBottom+18, "middle", fmt.Sprintf("%g", second))
	}
	fmt.Fprintf(b, `<path d="M%d %dV%dH%d" fill="none" stroke="#222222"/>`+"\n", plotLeft, plotTop, plotBottom, plotRight)
	text(b, (plotLeft+plotRight)/2, plotBottom+38, "middle", "seconds since half the capacity was lost")
	middle := (plotTop + plotBottom) / 2
	fmt.Fprintf(b, `<g transform="rotate(-90 16 %d)">`, middle)
	text(b, 16, float64(middle), "middle", "offered load / original load (log)")
	b.WriteString("</g>\n")
}

// legend names the lines beside the plot, from the highest in the storm to the lowest.
func legend(b *strings.Builder, results []*result) {
	for i, r := range results {
		above := 0
		for _, other := range results {
			if other.inStorm() > r.inStorm() {
				above++
			}
		}
		at := float64(plotTop + 12 + 22*above)
		fmt.Fprintf(b, `<path d="M%d %.1fh22" %s/>`+"\n", legendLeft, at, strategies[i].line.stroke())
		text(b, legendLeft+28, at+4, "start", strategies[i].name)
	}
}

func (l line) stroke() string {
	width := l.width
	if width == 0 {
		width = 1.5
	}
	return fmt.Sprintf(`stroke="%s" stroke-width="%g" stroke-dasharray="%s"`, l.colour, width, l.dashes)
}

// points are the loads bin by bin.
func points(r *result) string {
	var b strings.Builder
	for bin := range r.begun {
		load := float64(r.offered[bin]) / float64(r.begun[bin])
		fmt.Fprintf(&b, "%.1f,%.1f ", x(&r.scene, float64(bin)*binSeconds), y(load))
	}
	return strings.TrimSpace(b.String())
}

var binSeconds = bin.Seconds()

func x(s *scene, second float64) float64 {
	return plotLeft + (plotRight-plotLeft)*second/s.length().Seconds()
}

func y(load float64) float64 {
	part := math.Log(max(load, leastLoad)/leastLoad) / math.Log(mostLoad/leastLoad)
	return plotBottom - (plotBottom-plotTop)*part
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}
