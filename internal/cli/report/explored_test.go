package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// anExploration has a strategy of one message and one of two, and a run of each kind.
func anExploration() *prove.Explored {
	run := func(message int, step, failure string) prove.ExploredRun {
		return prove.ExploredRun{Message: message, Step: step, Failure: failure, Title: "words of <" + failure + ">", Acknowledged: true, Applied: 1}
	}
	lost, failed, extra, silent, unreached := run(1, "update", "a"), run(1, "update", "b"), run(1, "update", "c"), run(1, "update", "d"), run(1, "update", "e")
	lost.Acknowledged, lost.Applied, failed.Acknowledged = false, 0, false
	extra.Flaw, silent.Error, unreached.NotReached = prove.FlawExtra, "no server", true
	return &prove.Explored{Failures: 6, Strategies: []prove.ExploredStrategy{
		{Title: "one", Messages: []string{"update"}, Runs: []prove.ExploredRun{lost, failed, extra, silent, unreached}},
		{Title: "two", Messages: []string{"first", "second"}, Runs: []prove.ExploredRun{run(1, "first", "a"), run(2, "second", "a"), run(2, "second", "f")}},
	}}
}

func TestThePageHasARowForEachExploredFailure(t *testing.T) {
	var rows []string
	for _, r := range newExplored(anExploration()).Rows {
		text := r.Failure + ": " + r.Words
		for _, c := range r.Cells {
			text += "; " + c.Strategy
			for _, run := range c.Runs {
				text += strings.TrimRight(" "+run.Step, " ") + " " + string(run.Marks[0].Tone) + " " + run.Marks[0].Words
			}
		}
		rows = append(rows, text)
	}
	const want = `a: words of <a>; one limit given up; two first good right second good right
b: words of <b>; one limit error, applied; two
c: words of <c>; one bad extra; two
d: words of <d>; one none no result; two
e: words of <e>; one none not reached; two
f: words of <f>; one; two second good right`
	if got := strings.Join(rows, "\n"); got != want {
		t.Errorf("the rows are\n%s\nwant\n%s", got, want)
	}
}

func TestThePageHasASectionAboutTheExploration(t *testing.T) {
	r := aReport(t)
	r.Explored = anExploration()
	var b bytes.Buffer
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<section id="explored"`, `href="#explored"`, "<b>one</b>: wrong in 1 of 5 cases: extra at the update with c", "words of &lt;f&gt;",
		"■</b> <span>extra</span>", "▲</b> <span>given up</span>", "–</td>",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not have %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := WriteHTML(&b, aReport(t)); err != nil || strings.Contains(b.String(), "explor") {
		t.Errorf("without an exploration: %v\n%s", err, b.String())
	}
}
