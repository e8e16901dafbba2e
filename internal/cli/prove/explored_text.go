package prove

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
)

// Effort returns how much was explored, and the time that it took.
func (e *Explored) Effort() string {
	return fmt.Sprintf("%d failures, %d runs, %.1f s", e.Failures, e.Runs(), e.Seconds)
}

// Sentence returns what the runs of a strategy have shown.
func (s *ExploredStrategy) Sentence() string {
	switch {
	case s.Without.Flaw != "":
		return fmt.Sprintf("wrong without any failure: %s", s.Without.Flaw)
	case s.Without.Error != "":
		return "no result without any failure: " + s.Without.Error
	case s.Interrupted && len(s.Runs) == 0:
		return "interrupted"
	}
	parts := []string{s.finding()}
	for _, silent := range s.Silent() {
		why := "not reached"
		if silent.Error != "" {
			why = "no result, " + silent.Error
		}
		parts = append(parts, fmt.Sprintf("the %s with %s: %s", silent.Step, silent.Failure, why))
	}
	if s.Interrupted {
		parts = append(parts, "interrupted")
	}
	return strings.Join(parts, "; ")
}

// finding tells the runs that have a result.
func (s *ExploredStrategy) finding() string {
	if broken := s.Broken(); len(broken) > 0 {
		return fmt.Sprintf("wrong in %d of %s: %s", len(broken), cases(len(s.Runs)), together(broken))
	}
	lost := len(s.those((*ExploredRun).GivenUp))
	honest := lost + len(s.those((*ExploredRun).FailedButApplied))
	return fmt.Sprintf("right in %s, %d of them honest errors (%d not applied)", s.right(), honest, lost)
}

// right tells in how many of the cases the strategy was right, if it was wrong in none.
func (s *ExploredStrategy) right() string {
	switch silent := len(s.Silent()); {
	case silent > 0:
		return fmt.Sprintf("%d of %s", len(s.Runs)-silent, cases(len(s.Runs)))
	case s.Interrupted:
		return cases(len(s.Runs))
	}
	return "all " + cases(len(s.Runs))
}

func cases(n int) string {
	if n == 1 {
		return "1 case"
	}
	return fmt.Sprintf("%d cases", n)
}

// together lists runs with a flaw, those with the same flaw at the same message together.
func together(broken []ExploredRun) string {
	var groups []string
	before := ""
	for _, r := range broken {
		group := fmt.Sprintf("%s at the %s with ", r.Flaw, r.Step)
		if group == before {
			groups[len(groups)-1] += ", " + r.Failure
			continue
		}
		groups, before = append(groups, group+r.Failure), group
	}
	return strings.Join(groups, "; ")
}

// explored returns the section about the exploration, "" if there was none.
func (r *Report) explored(p painter, columns int) string {
	if r.Explored == nil {
		return ""
	}
	width := 0
	for i := range r.Explored.Strategies {
		width = max(width, len(r.Explored.Strategies[i].Title))
	}
	lines := []string{p.With(paint.Bold, paint.Wrap("Every failure at each message of one operation: "+r.Explored.Effort(), columns))}
	for i := range r.Explored.Strategies {
		s := &r.Explored.Strategies[i]
		indent := strings.Repeat(" ", 2+width+2)
		sentence := strings.TrimSpace(paint.Indented(p.With(s.style(), s.Sentence()), indent, columns))
		lines = append(lines, fmt.Sprintf("  %-*s  %s", width, s.Title, sentence))
	}
	return strings.Join(lines, "\n")
}

func (s *ExploredStrategy) style() lipgloss.Style {
	switch {
	case s.Without.Flaw != "", len(s.Broken()) > 0:
		return paint.Bad
	case s.Without.Error != "", len(s.Silent()) > 0, s.Interrupted:
		return paint.Limit
	}
	return paint.Good
}
