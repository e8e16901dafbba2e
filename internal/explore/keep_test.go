package explore

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

// A long exploration keeps the first stories, whatever the order in which the runs end.
func TestALongExplorationKeepsFewStories(t *testing.T) {
	var messages []Message
	for n := range 200 {
		messages = append(messages, message("update", n+1))
	}
	s := Search{Failures: []Failure{{Name: "reply-lost"}, {Name: "request-lost"}}, Parallel: 4, Run: func(_ context.Context, c Case) Outcome {
		o := Outcome{Case: c, Messages: messages, Events: []Event{{Words: "it ran"}}, Log: []string{"a line"}}
		for _, strike := range c {
			o.Struck = append(o.Struck, strike.Message.Ordinal-1)
			if strike.Failure == "reply-lost" {
				o.Problems = []string{fmt.Sprintf("lost %d", strike.Message.Ordinal)}
			}
		}
		return o
	}}
	r := s.Do(t.Context())
	for i, o := range r.Outcomes {
		broken := o.Case[0].Failure == "reply-lost"
		want := i < 2*brokenStories && broken || i == 1
		if got := len(o.Events) == 1 && len(o.Log) == 1; got != want {
			t.Errorf("outcome %d, %s: it has a story: %t, want %t", i, o.Case, got, want)
		}
		if o.Messages != nil || broken && len(o.Problems) != 1 {
			t.Errorf("outcome %d: %d messages, problems %q", i, len(o.Messages), o.Problems)
		}
	}
}

// On the real clock a run is repeated if its messages were not reached, and does not count if they were others.
func TestOnTheRealClockMessagesMayDiffer(t *testing.T) {
	learned := []Message{message("insert", 1), message("update", 1)}
	for _, c := range []struct {
		name      string
		others    int // runs whose messages are others
		messages  []Message
		realClock bool
		want      Verdict
		runs      int
	}{
		{"the same", 0, nil, true, Held, 1},
		{"in another order", 9, []Message{learned[0], learned[1]}, true, Held, 1},
		{"others once", 1, []Message{message("find", 1), learned[1]}, true, Held, 2},
		{"others always", 9, []Message{message("find", 1), learned[1]}, true, NotReached, tries},
		{"more always", 9, []Message{learned[0], message("find", 1), learned[1]}, true, NotReached, tries},
		{"others, on the fake clock", 9, []Message{message("find", 1), learned[1]}, false, Held, 1},
	} {
		var ran atomic.Int64
		s := Search{Failures: someFailures[:1], RealClock: c.realClock, Chosen: learned[1].Same, Run: func(_ context.Context, one Case) Outcome {
			o := Outcome{Case: one, Messages: learned}
			if one == nil {
				return o
			}
			if ran.Add(1) <= int64(c.others) {
				o.Messages = c.messages
			}
			o.Struck = []int{len(o.Messages) - 1}
			return o
		}}
		r := s.Do(t.Context())
		if got := r.Outcomes[0].Verdict; got != c.want || int(ran.Load()) != c.runs {
			t.Errorf("%s: %s after %d runs, want %s after %d", c.name, got, ran.Load(), c.want, c.runs)
		}
	}
}
