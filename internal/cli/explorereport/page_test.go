package explorereport

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

func html(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"<script", "http:", "https:", " src=", "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("the page has %q", not)
		}
	}
	return b.String()
}

func checkHas(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

func TestThePageHasTheMatrixAndTheStories(t *testing.T) {
	checkHas(t, html(t, aReport()),
		`■</b> What the program promises is broken.`, "5 runs, 3 messages, 2 failures, 3 broken, 1 not reached",
		`<td title="find shop.orders: the primary dies: not reached"><span class="mark none">`,
		`<td title="update shop.orders: the primary dies: hung"><a href="#update%2fshop.orders%2f1%3aprimary-killed"><span class="mark bad">`,
		`<td title="commitTransaction: the primary dies: no run"></td>`,
		`<td class="count">0</td><td class="count">2</td><td class="count">0</td>`,
		"Cases with 2 failures, one after another: 0 held, 1 broken, 0 not reached.",
		`id="update/shop.orders/1:reply-lost"`, `id="find/shop.orders/1:reply-lost"`, "message 2 of 3 (update shop.orders): the reply is lost",
		`<li>At <b>0.003 s</b> member 2: <span class="struck">update shop.orders: executed, the &lt;reply&gt; is lost (the failure)</span></li>`,
		`<li>At <b>0.099 s</b> program: ended with exit code 1</li>`,
		`>program</text>`, `>member 1</text>`, `>cluster</text>`, "paid &lt;twice&gt;", "goroutine 1 [select]",
		"holdfast explore --only &#39;update/shop.orders/1:reply-lost&#39; -- ./shop --all",
	)
}

func TestThePageOfAnExplorationThatShowsNothing(t *testing.T) {
	fails := aReport()
	fails.First.Verdict, fails.First.Problems, fails.Outcomes = explore.Broken, []string{"exit code 2"}, nil
	page := html(t, fails)
	checkHas(t, page, "The run without any failure fails.", "exit code 2", `id="first"`)
	if strings.Contains(page, `id="matrix"`) {
		t.Error("it has a matrix")
	}
	ended := aReport()
	ended.Outcomes, ended.Left = ended.Outcomes[:1], 4
	checkHas(t, html(t, ended), "○</b> The exploration ended before its end.", "4 not run")
	nothing := aReport()
	nothing.Outcomes = nil
	checkHas(t, html(t, nothing), "Nothing was explored.")
	right := aReport()
	right.Outcomes = right.Outcomes[:2]
	checkHas(t, html(t, right), "●</b> What the program promises held in each run that reached its failures.")
}

func TestThePageTellsTwentyBrokenCasesAndOneThatHeldForEachFailure(t *testing.T) {
	r := large()
	page := html(t, r)
	var broken int
	for i := range r.Outcomes {
		if r.Outcomes[i].Verdict == explore.Broken {
			broken++
		}
	}
	if broken != 20-4 {
		t.Fatalf("%d are broken", broken)
	}
	if got := strings.Count(page, `<section class="cell"`); got != broken+30 {
		t.Errorf("%d stories, want %d broken and 30 that held", got, broken)
	}
	for i := range r.Outcomes {
		r.Outcomes[i].Verdict = explore.Hung
	}
	page = html(t, r)
	if got := strings.Count(page, `<section class="cell"`); got != mostBroken {
		t.Errorf("%d stories, want %d", got, mostBroken)
	}
	checkHas(t, page, "more cases are broken. The other reports have them all.")
}

// A story has the events around the first failure, and says how many are left out.
func TestALongStoryIsCut(t *testing.T) {
	for _, c := range []struct {
		name                 string
		events, struck       int // -1: none
		before, after, steps int
	}{
		{"none", 0, -1, 0, 0, 0},
		{"short", 40, 35, 0, 0, 40},
		{"struck early", 100, 5, 0, 60, 40},
		{"in the middle", 100, 50, 40, 20, 40},
		{"struck late", 100, 99, 60, 0, 40},
		{"never struck", 100, -1, 0, 60, 40},
	} {
		events := make([]explore.Event, c.events)
		for i := range events {
			events[i] = explore.Event{At: time.Duration(i), Who: "program", Struck: i == c.struck}
		}
		var s story
		s.tell(events)
		if s.Before != c.before || s.After != c.after || len(s.Steps) != c.steps {
			t.Errorf("%s: %d before, %d after, %d steps", c.name, s.Before, s.After, len(s.Steps))
		}
	}
	s := story{Before: 40, After: 20}
	if got := s.Left(); got != "40 before these and 20 after them" {
		t.Errorf("%q", got)
	}
}
