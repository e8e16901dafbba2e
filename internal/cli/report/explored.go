package report

import (
	_ "embed" // the section's part of the template, and its styles
	"slices"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/webpage"
)

//go:embed explored.html.tmpl
var exploredMarkup string

//go:embed explored.css
var exploredStyles string

// explored is the section about the exploration: a table with a row for each failure and a column for each strategy.
type explored struct {
	Effort     string
	Strategies []exploredStrategy
	Rows       []exploredRow
}

type exploredStrategy struct{ Title, Sentence string }

type exploredRow struct {
	Failure, Words string
	Cells          []exploredCell
}

// exploredCell has a run for each message that the failure concerns.
type exploredCell struct {
	Strategy string
	Runs     []exploredRun
}

type exploredRun struct {
	Step  string // "" if the operation has only one
	Marks []webpage.Mark
}

// newExplored returns nil if there was no exploration.
func newExplored(e *prove.Explored) *explored {
	if e == nil {
		return nil
	}
	x := &explored{Effort: e.Effort()}
	for i := range e.Strategies {
		s := &e.Strategies[i]
		x.Strategies = append(x.Strategies, exploredStrategy{s.Title, s.Sentence()})
		for _, r := range s.Runs {
			x.meet(r)
		}
	}
	for i := range x.Rows {
		for j := range e.Strategies {
			x.Rows[i].Cells = append(x.Rows[i].Cells, newExploredCell(&e.Strategies[j], x.Rows[i].Failure))
		}
	}
	return x
}

// meet adds a row for the failure of a run, if there is none.
func (x *explored) meet(r prove.ExploredRun) {
	if !slices.ContainsFunc(x.Rows, func(before exploredRow) bool { return before.Failure == r.Failure }) {
		x.Rows = append(x.Rows, exploredRow{Failure: r.Failure, Words: r.Title})
	}
}

func newExploredCell(s *prove.ExploredStrategy, failure string) exploredCell {
	c := exploredCell{Strategy: s.Title}
	for i := range s.Runs {
		r := &s.Runs[i]
		if r.Failure != failure {
			continue
		}
		run := exploredRun{Marks: []webpage.Mark{exploredMark(r)}}
		if len(s.Messages) > 1 {
			run.Step = r.Step
		}
		c.Runs = append(c.Runs, run)
	}
	return c
}

// exploredMark returns how a run ended.
func exploredMark(r *prove.ExploredRun) webpage.Mark {
	switch {
	case r.Error != "":
		return webpage.Mark{Tone: webpage.None, Words: "no result"}
	case r.NotReached:
		return webpage.Mark{Tone: webpage.None, Words: "not reached"}
	case r.Flaw != "":
		return webpage.Mark{Tone: webpage.Bad, Words: string(r.Flaw)}
	case r.GivenUp():
		return webpage.Mark{Tone: webpage.Limit, Words: "given up"}
	case r.FailedButApplied():
		return webpage.Mark{Tone: webpage.Limit, Words: "error, applied"}
	}
	return webpage.Mark{Tone: webpage.Good, Words: "right"}
}
