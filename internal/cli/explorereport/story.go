package explorereport

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/cli/timeline"
	"github.com/holdfast-db/holdfast/internal/cli/webpage"
	"github.com/holdfast-db/holdfast/internal/explore"
)

// A story has at most mostSteps of the events of a run, and at most stepsBefore of them before the first failure.
const (
	mostSteps   = 40
	stepsBefore = 10
)

// story is one run: its case, its chart, its events in words, and what came of it.
type story struct {
	ID, Heading   string
	Mark          webpage.Mark
	Chart         template.HTML
	Before, After int // the events that are left out
	Steps         []step
	Problems, Log []string
	Dump          string
	Repeat        string
}

type step struct {
	Time, Who, Words string
	Struck           bool
}

func (r *Report) story(o *explore.Outcome) story {
	s := story{
		ID: o.Case.String(), Heading: r.Words(o.Case), Mark: markOf(o.Verdict),
		Problems: o.Problems, Log: o.Log, Dump: o.Dump,
	}
	if len(o.Case) > 0 {
		s.Repeat = r.Repeat(o.Case)
	} else {
		s.ID, s.Heading = "first", "The run without any failure"
	}
	s.tell(o.Events)
	return s
}

// tell draws and tells the events around the first failure.
func (s *story) tell(events []explore.Event) {
	first := max(0, slices.IndexFunc(events, func(e explore.Event) bool { return e.Struck })-stepsBefore)
	first = max(0, min(first, len(events)-mostSteps))
	last := min(len(events), first+mostSteps)
	s.Before, s.After = first, len(events)-last
	if events = events[first:last]; len(events) == 0 {
		return
	}
	s.Chart = chart(events)
	for i := range events {
		e := &events[i]
		words := e.Words
		if e.Message != nil {
			words = e.Message.Words() + ": " + words
		}
		s.Steps = append(s.Steps, step{timeline.Seconds(e.At), e.Who, words, e.Struck})
	}
}

// Names in the field Who of an event that are no servers.
const (
	program = "program"
	cluster = "cluster"
)

// chart draws the program above, the cluster below, and the servers between them.
func chart(events []explore.Event) template.HTML {
	c := timeline.Chart{Lanes: lanes(events)}
	for i := range events {
		e := &events[i]
		one := timeline.Event{At: e.At, Lane: slices.Index(c.Lanes, e.Who), Mark: shapeOf(e)}
		if e.Message != nil && one.Lane > 0 {
			one.Way = timeline.Solid
			if e.Lost {
				one.Way = timeline.Dashed
			}
		}
		c.Events = append(c.Events, one)
	}
	return c.Draw()
}

func lanes(events []explore.Event) []string {
	var servers []string
	hasCluster := false
	for i := range events {
		switch who := events[i].Who; {
		case who == cluster:
			hasCluster = true
		case who != program && !slices.Contains(servers, who):
			servers = append(servers, who)
		}
	}
	slices.Sort(servers)
	list := append([]string{program}, servers...)
	if hasCluster {
		list = append(list, cluster)
	}
	return list
}

// shapeOf returns the mark of an event. What changed data is filled also if its reply was lost.
func shapeOf(e *explore.Event) timeline.Mark {
	switch {
	case e.Changed:
		return timeline.Filled
	case e.Struck || e.Lost:
		return timeline.Square
	}
	return timeline.Circle
}

// Left returns in words how many events are left out.
func (s *story) Left() string {
	var parts []string
	if s.Before > 0 {
		parts = append(parts, fmt.Sprintf("%d before these", s.Before))
	}
	if s.After > 0 {
		parts = append(parts, fmt.Sprintf("%d after them", s.After))
	}
	return strings.Join(parts, " and ")
}
