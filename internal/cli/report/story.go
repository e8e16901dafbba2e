package report

import (
	"html/template"
	"strings"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/timeline"
)

// story is one operation: its heading, its chart, its steps in words, and what came of it.
type story struct {
	ID, Heading string
	Chart       template.HTML
	Steps       []step
	Fate        string
}

type step struct{ Time, Words string }

func newStory(s *prove.Story, cell string) story {
	t := story{ID: cell + "--" + s.Operation, Heading: heading(s), Chart: chart(s), Fate: fate(s)}
	for i := range s.Events {
		t.Steps = append(t.Steps, step{timeline.Seconds(s.Events[i].At), sentence(s, &s.Events[i])})
	}
	return t
}

func heading(s *prove.Story) string {
	if len(s.Flaws) == 0 {
		return "Operation " + s.Operation + " met a fault and came out right"
	}
	var flaws []string
	for _, f := range s.Flaws {
		flaws = append(flaws, wordsOf(f, s.Applied).heading)
	}
	return "Operation " + s.Operation + " " + strings.Join(flaws, " and ")
}
