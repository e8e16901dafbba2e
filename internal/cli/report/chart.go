package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// The lanes of a chart, from above: who does what. Positions are in percent of the width, so that text keeps its size on a narrow screen;
// heights are in pixels.
const (
	strategyLane = iota
	clientLane
	serverLane
	clusterLane

	laneHeight = 44
	laneLine   = 30 // the height of a lane's line below its name
	edge       = 3.0
	// nearest is the smallest distance of two marks.
	nearest = 5.4
)

var laneNames = [...]string{"writer and strategy", "client", "servers", "cluster"}

func laneOf(k prove.EventKind) int {
	switch k {
	case prove.OperationBegan, prove.OperationEnded, prove.EventsOmitted:
		return strategyLane
	case prove.CallBegan, prove.CallEnded:
		return clientLane
	case prove.MessageArrived, prove.MessageExecuted, prove.Swept:
		return serverLane
	case prove.ClusterStruck, prove.ClusterWritable, prove.ClusterRepaired:
	}
	return clusterLane
}

// lanesOf returns the number of lanes that have events.
func lanesOf(events []prove.StoryEvent) int {
	lanes := clusterLane
	for _, e := range events {
		lanes = max(lanes, laneOf(e.Kind)+1)
	}
	return lanes
}

func lineOf(lane int) int { return lane*laneHeight + laneLine }

// drawing collects the parts of a chart.
type drawing struct {
	strings.Builder
	at []float64 // the places of the events
}

// chart draws the events of a story as numbered marks on a line for each part of the system. The numbers are those of the steps in words.
func chart(s *prove.Story) template.HTML {
	d := drawing{at: places(s.Events)}
	lanes := lanesOf(s.Events)
	height := lineOf(lanes-1) + 34
	fmt.Fprintf(&d, `<svg class="chart" width="100%%" height="%d" role="img" aria-label="Chart of the %d steps below, from %s to %s">`,
		height, len(s.Events), seconds(s.Events[0].At), seconds(s.Events[len(s.Events)-1].At))
	for lane, name := range laneNames[:lanes] {
		y := lineOf(lane)
		fmt.Fprintf(&d, `<text class="n" x="0" y="%d">%s</text><line class="l" x1="0" x2="100%%" y1="%d" y2="%d"/>`, y-16, name, y, y)
	}
	d.spans(s.Events)
	for i := range s.Events {
		d.messageLine(i, &s.Events[i])
	}
	for i := range s.Events {
		d.mark(i, &s.Events[i])
	}
	d.axis(s.Events, height)
	d.WriteString("</svg>")
	return template.HTML(d.String()) //nolint:gosec // the text is of this package and of numbers
}

// spans draws the times from the begin to the end of the operation, of each call, and of each fault of the cluster.
func (d *drawing) spans(events []prove.StoryEvent) {
	for i, e := range events {
		end, long := endOf(e.Kind)
		if !long {
			continue
		}
		to := 100.0
		if k := slices.IndexFunc(events[i:], func(later prove.StoryEvent) bool { return later.Kind == end }); k >= 0 {
			to = d.at[i+k]
		}
		lane := laneOf(e.Kind)
		fmt.Fprintf(d, `<line class="s%d" x1="%.1f%%" x2="%.1f%%" y1="%d" y2="%d"/>`, lane, d.at[i], to, lineOf(lane), lineOf(lane))
	}
}

// endOf returns the kind of event that ends what an event begins.
func endOf(begin prove.EventKind) (end prove.EventKind, long bool) {
	switch begin {
	case prove.OperationBegan:
		return prove.OperationEnded, true
	case prove.CallBegan:
		return prove.CallEnded, true
	case prove.ClusterStruck:
		return prove.ClusterWritable, true
	case prove.MessageArrived, prove.MessageExecuted, prove.ClusterWritable, prove.ClusterRepaired, prove.CallEnded, prove.OperationEnded,
		prove.Swept, prove.EventsOmitted:
	}
	return 0, false
}

// messageLine draws a message on its way from the client to the server.
func (d *drawing) messageLine(i int, e *prove.StoryEvent) {
	if e.Kind != prove.MessageArrived {
		return
	}
	class := "m"
	if e.Message.Effect == prove.NotExecuted || e.Message.NoReply || delayed(e) {
		class = "m b"
	}
	fmt.Fprintf(d, `<line class="%s" x1="%.1f%%" x2="%.1f%%" y1="%d" y2="%d"/>`, class, d.at[i], d.at[i], lineOf(clientLane), lineOf(serverLane))
}

// mark draws the number of an event. A filled circle has changed data; a square is a fault or an error.
func (d *drawing) mark(i int, e *prove.StoryEvent) {
	shape := `<circle r="9"/>`
	class := ""
	switch {
	case e.Message.Effect == prove.Applies:
		class = ` class="a"`
	case e.Kind == prove.ClusterStruck, e.Error != "", e.Fault != nil && laneOf(e.Kind) == serverLane:
		class, shape = ` class="f"`, `<rect x="-9" y="-9" width="18" height="18"/>`
	}
	fmt.Fprintf(d, `<svg x="%.1f%%" y="%d"%s>%s<text>%d</text></svg>`, d.at[i], lineOf(laneOf(e.Kind)), class, shape, i+1)
}

func (d *drawing) axis(events []prove.StoryEvent, height int) {
	first, last := events[0].At, events[len(events)-1].At
	for _, one := range []struct{ class, x, words string }{
		{"n", "0", seconds(first)}, {"n c", "50%", seconds(last-first) + " long"}, {"n e", "100%", seconds(last)},
	} {
		fmt.Fprintf(d, `<text class="%s" x="%s" y="%d">%s</text>`, one.class, one.x, height-8, one.words)
	}
}

// places returns where the events stand, in proportion to their times. Marks that would overlap stand side by side.
func places(events []prove.StoryEvent) []float64 {
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
