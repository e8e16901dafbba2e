package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/webpage"
)

// page is the data of the template.
type page struct {
	Title, Conclusion  string
	Strategies         []string
	Rows               []row
	Explored           *explored
	Legend, Conditions []string
}

// row is a failure with all strategies.
type row struct {
	ID, Failure string
	Cells       []cell
}

// cell is one strategy with one failure.
type cell struct {
	ID, Strategy, Failure string
	Marks                 []webpage.Mark
	Expectation           string // whether the verdict is the expected one; "" without a verdict
	Odd                   bool   // it is not as expected
	Why                   string // why there is no verdict
	Summary               []string
	Numbers               []number
	Stories               []story
}

type number struct{ Name, Value string }

func newPage(r *prove.Report) page {
	p := page{
		Title: "holdfast prove: " + r.Backend.Title, Conclusion: r.Conclusion(),
		Legend: r.Backend.Legend(), Conditions: r.Conditions(), Explored: newExplored(r.Explored),
	}
	for _, s := range r.Strategies {
		p.Strategies = append(p.Strategies, s.Title)
	}
	for f, failure := range r.Failures {
		one := row{ID: "failure-" + failure.Name, Failure: failure.Title}
		for s, strategy := range r.Strategies {
			result := &r.Results[f*len(r.Strategies)+s]
			one.Cells = append(one.Cells, newCell(strategy.Title, failure.Title, result))
		}
		p.Rows = append(p.Rows, one)
	}
	return p
}

func newCell(strategy, failure string, r *prove.Result) cell {
	c := cell{
		ID: r.Failure + "--" + r.Strategy, Strategy: strategy, Failure: failure,
		Summary: r.Summary(), Numbers: numbers(r),
	}
	c.judge(r)
	for i := range r.Stories {
		c.Stories = append(c.Stories, newStory(&r.Stories[i], c.ID))
	}
	return c
}

// judge sets the marks and the expectation.
func (c *cell) judge(r *prove.Result) {
	switch {
	case r.Unavailable != "":
		c.Marks, c.Why = []webpage.Mark{{Tone: webpage.None, Words: "not available"}}, r.Unavailable
		return
	case r.Interrupted:
		c.Marks, c.Why = []webpage.Mark{{Tone: webpage.None, Words: "interrupted"}}, "The run was ended before this cell."
		return
	case r.Busy:
		c.Marks, c.Why = []webpage.Mark{{Tone: webpage.None, Words: "no verdict"}}, r.WhyBusy()
		return
	case r.Error != "":
		c.Marks, c.Why = []webpage.Mark{{Tone: webpage.Bad, Words: "error"}}, r.Error
	case r.NotShown != "":
		c.Marks, c.Why = []webpage.Mark{{Tone: webpage.None, Words: "not shown"}}, "There is too little for a verdict: "+r.NotShown
	default:
		c.Marks = verdictMarks(r.Verdict)
	}
	c.Expectation, c.Odd = "as expected", !r.AsExpected()
	if c.Odd {
		c.Expectation = fmt.Sprintf("not as expected (expected: %s)", r.Expected)
	}
}

func verdictMarks(v prove.Verdict) []webpage.Mark {
	var marks []webpage.Mark
	words := v.Words()
	for i, element := range v.Elements() {
		tone := webpage.Bad
		switch {
		case element == prove.Right:
			tone = webpage.Good
		case element.IsRight():
			tone = webpage.Limit
		}
		marks = append(marks, webpage.Mark{Tone: tone, Words: words[i]})
	}
	return marks
}

// numbers returns the numbers of a cell that are not in its summary.
func numbers(r *prove.Result) []number {
	if r.Unavailable != "" || r.Interrupted {
		return nil
	}
	c := &r.Counts
	list := []number{
		{"operations acknowledged", fmt.Sprint(c.Acknowledged)},
		{"operations with an error", fmt.Sprint(c.Errored)},
		{"acknowledged, by the times they are applied", byTimes(c.AcknowledgedApplied)},
		{"with an error, by the times they are applied", byTimes(c.ErroredApplied)},
		{"messages", fmt.Sprintf("%d, at most %d for one operation", c.Messages, c.MostMessages)},
	}
	for kind, h := range r.Hits {
		list = append(list, number{"faults: " + kind.String(), fmt.Sprintf("%d, %d of them early and %d late", h.Verified, h.Early, h.Late)})
	}
	slices.SortStableFunc(list, func(a, b number) int { return strings.Compare(a.fault(), b.fault()) })
	list = append(list, number{"seconds", fmt.Sprintf("%.1f", r.Seconds)})
	if r.Repeats > 0 {
		list = append(list, number{"times the cell was run again", fmt.Sprint(r.Repeats)})
	}
	return list
}

// fault returns the number's name if it is about faults, which come from a map and are to have an order.
func (n number) fault() string {
	if strings.HasPrefix(n.Name, "faults: ") {
		return n.Name
	}
	return ""
}

func byTimes(n [3]int) string {
	return fmt.Sprintf("never %d, once %d, more often %d", n[0], n[1], n[2])
}
