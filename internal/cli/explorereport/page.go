package explorereport

import (
	_ "embed" // the template and its styles
	"io"
	"slices"

	"github.com/holdfast-db/holdfast/internal/cli/webpage"
	"github.com/holdfast-db/holdfast/internal/explore"
)

// mostBroken is how many broken cases the page tells.
const mostBroken = 20

var (
	//go:embed page.html.tmpl
	markup string
	//go:embed page.css
	styles string

	layout = webpage.New(markup, styles)
)

// WriteHTML writes the report as an HTML page.
func (r *Report) WriteHTML(w io.Writer) error { return layout.Write(w, r.page()) }

// page is the data of the template.
type page struct {
	Program, Summary string
	Conclusion       webpage.Mark
	Failures         []explore.Failure
	Rows             []row
	Deeper           []deeper
	FirstFails       bool
	Broken, Held     []story
	Others           int // the broken cases that are not told
}

// row is a message with all failures.
type row struct {
	Number        int
	Words         string
	Cells         []cell
	Held, Skipped int
	Broken        int
}

// cell is one failure at one message.
type cell struct {
	Mark  webpage.Mark
	Title string
	Story string // the id of its story; "" if it has none
}

func (r *Report) page() page {
	p := page{Program: r.Program, Summary: r.Summary(), Conclusion: r.conclusion(), Failures: r.Failures, Deeper: r.perDepth()}
	if p.FirstFails = r.First.Verdict.Failing(); p.FirstFails {
		p.Broken = []story{r.story(&r.First)}
		return p
	}
	told := r.Broken()
	if len(told) > mostBroken {
		p.Others, told = len(told)-mostBroken, told[:mostBroken]
	}
	held := r.heldExamples()
	for _, o := range told {
		p.Broken = append(p.Broken, r.story(o))
	}
	for _, o := range held {
		p.Held = append(p.Held, r.story(o))
	}
	p.Rows = r.rows(append(told, held...))
	return p
}

func (r *Report) conclusion() webpage.Mark {
	switch {
	case r.First.Verdict.Failing():
		return webpage.Mark{Tone: webpage.Bad, Words: "The run without any failure fails."}
	case len(r.Broken()) > 0:
		return webpage.Mark{Tone: webpage.Bad, Words: "What the program promises is broken."}
	case r.Left > 0:
		return webpage.Mark{Tone: webpage.None, Words: "The exploration ended before its end."}
	case r.Failing():
		return webpage.Mark{Tone: webpage.None, Words: "Nothing was explored."}
	}
	return webpage.Mark{Tone: webpage.Good, Words: "What the program promises held in each run that reached its failures."}
}

// heldExamples returns for each failure the first run with it alone that held.
func (r *Report) heldExamples() (list []*explore.Outcome) {
	for _, f := range r.Failures {
		at := slices.IndexFunc(r.Outcomes, func(o explore.Outcome) bool {
			return o.Verdict == explore.Held && len(o.Case) == 1 && o.Case[0].Failure == f.Name
		})
		if at >= 0 {
			list = append(list, &r.Outcomes[at])
		}
	}
	return list
}

// rows returns the matrix. The cells of the told runs lead to their stories.
func (r *Report) rows(told []*explore.Outcome) []row {
	list := make([]row, len(r.First.Messages))
	for i, t := range r.perMessage() {
		list[i] = row{Number: i + 1, Words: r.First.Messages[i].Words(), Held: t.held, Broken: t.broken, Skipped: t.notReached}
		list[i].Cells = make([]cell, len(r.Failures))
		for k, f := range r.Failures {
			list[i].Cells[k] = cell{Title: list[i].Words + ": " + f.Title + ": no run"}
		}
	}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		at := r.messageOf(o)
		failure := slices.IndexFunc(r.Failures, func(f explore.Failure) bool { return f.Name == o.Case[0].Failure })
		if at < 0 || failure < 0 || len(o.Case) > 1 {
			continue
		}
		c := &list[at].Cells[failure]
		c.Mark, c.Title = markOf(o.Verdict), list[at].Words+": "+r.Failures[failure].Title+": "+string(o.Verdict)
		if slices.Contains(told, o) {
			c.Story = o.Case.String()
		}
	}
	return list
}

func markOf(v explore.Verdict) webpage.Mark {
	switch {
	case v.Failing():
		return webpage.Mark{Tone: webpage.Bad, Words: string(v)}
	case v == explore.NotReached:
		return webpage.Mark{Tone: webpage.None, Words: string(v)}
	}
	return webpage.Mark{Tone: webpage.Good, Words: string(v)}
}
