package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func repeatLine(c Case) string { return "go test -run X -case '" + c.String() + "'" }

func TestTheTextHasTheSmallestBrokenCaseWithAllThatHappened(t *testing.T) {
	s := searchFor()
	failures := []Failure{{Name: "reply-lost", Title: "the reply is lost after the server executed it"}, {Name: "refused", Title: "the server refuses it"}}
	s.Failures = failures
	s.Run = func(_ context.Context, c Case) Outcome {
		o := fake(c, mistake{"insert", "reply-lost", ""}, mistake{"commit", "refused", ""})
		if len(o.Problems) > 0 {
			o.Log = []string{"retrying\nnow\n"}
			m := o.Messages[1]
			o.Events = []Event{
				{At: time.Millisecond, Who: "member 1", Message: &m, Words: "executed, the reply is lost", Struck: true},
				{At: 2 * time.Millisecond, Who: "program", Words: "ended"},
			}
			o.Dump = "goroutine 1"
		}
		if len(c) > 0 && c[0].Message.Command == "find" {
			o.Struck = nil
		}
		return o
	}
	const want = `message 2 of 4 (insert shop.orders): the reply is lost after the server executed it:
    retrying
    now
    the order is there twice
what happened:
           1ms  member 1   insert shop.orders: executed, the reply is lost   <-- the failure
           2ms  program    ended
its goroutines:
goroutine 1
repeat it alone:
    go test -run X -case 'insert/shop.orders/1:reply-lost'
and 1 case more:
    commit/shop.orders/1:refused: the order is there twice
not reached, which says nothing about them:
    find/shop.orders/1:reply-lost
    find/shop.orders/1:refused
8 runs, 4 messages, 2 failures, 2 broken, 2 not reached
`
	if got := s.Do(t.Context()).Text(repeatLine); got != want {
		t.Errorf("the text is\n%s\nwant\n%s", got, want)
	}
}

func TestACaseInWordsTellsItsMessagesByTheirPlaces(t *testing.T) {
	r := searchFor().Do(t.Context())
	c := Case{{message("update", 1), "reply-lost"}, {message("update", 2), "refused"}}
	r.Failures = []Failure{{Name: "reply-lost", Title: "the reply is lost"}}
	const want = "message 3 of 4 (update shop.orders): the reply is lost, then a message that the failure made the program send (update shop.orders, the second): refused"
	if got := r.Words(c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheTextOfAnExplorationThatShowsNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	nothing := func(context.Context, Case) Outcome { return Outcome{} }
	for _, c := range []struct {
		name   string
		ctx    context.Context
		search Search
		want   string
	}{
		{
			"the first run fails", t.Context(),
			Search{Run: func(context.Context, Case) Outcome { return Outcome{Problems: []string{"exit code 1"}} }},
			"the run without any failure fails:\n    exit code 1\n",
		},
		{"no message", t.Context(), Search{Run: nothing}, "the program sent no message, so there is nothing to explore\n0 runs, 0 messages, 2 failures, 0 broken, 0 not reached\n"},
		{
			"no chosen message", t.Context(),
			Search{Run: searchFor().Run, Chosen: func(Message) bool { return false }},
			"no failure concerns any of the chosen messages, so there is nothing to explore\n0 runs, 4 messages, 2 failures, 0 broken, 0 not reached\n",
		},
		{
			"it was ended", ended,
			Search{Run: searchFor().Run},
			"the run without any failure was ended before its end\n0 runs, 0 messages, 2 failures, 0 broken, 0 not reached, 1 not run\n",
		},
		{"nothing is broken", t.Context(), Search{Run: searchFor().Run}, "8 runs, 4 messages, 2 failures, 0 broken, 0 not reached\n"},
	} {
		c.search.Failures = fakeFailures
		if got := c.search.Do(c.ctx).Text(repeatLine); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestALongTextIsCut(t *testing.T) {
	r := Report{Failures: fakeFailures}
	r.First = Outcome{Verdict: Held, Messages: []Message{message("update", 1)}}
	for i := range 60 {
		c := Case{{message("update", i+1), "refused"}}
		r.Outcomes = append(r.Outcomes, Outcome{Case: c, Verdict: Hung}, Outcome{Case: c, Verdict: NotReached})
	}
	r.Outcomes[0].Events = make([]Event, 203)
	text := r.Text(func(Case) string { return "" })
	for want, times := range map[string]int{
		"    ... and 3 more events\n": 1, "    ... and 19 more\n": 1, "    ... and 20 more\n": 1, "repeat": 0, "and 59 cases more:\n": 1,
		"    update/shop.orders/2:refused: hung\n": 1, "    update/shop.orders/41:refused: hung\n": 1, "    update/shop.orders/42:refused: hung\n": 0,
		"    update/shop.orders/40:refused\n": 1, "    update/shop.orders/41:refused\n": 0,
	} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%q is there %d times, want %d:\n%s", want, got, times, text)
		}
	}
}

func TestTheSummaryCounts(t *testing.T) {
	r := Report{Failures: fakeFailures[:1], Left: 3, First: Outcome{Verdict: Held, Messages: make([]Message, 1)}, Outcomes: []Outcome{{Verdict: Leaked}}}
	if got, want := r.Summary(), "1 run, 1 message, 1 failure, 1 broken, 0 not reached, 3 not run"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for v, want := range map[Verdict]bool{Held: false, NotReached: false, Broken: true, Hung: true, Leaked: true} {
		r := Report{First: Outcome{Verdict: Held}, Outcomes: []Outcome{{Verdict: v}}}
		if r.Failing() != want {
			t.Errorf("%s: failing %t", fmt.Sprint(v), !want)
		}
	}
}
