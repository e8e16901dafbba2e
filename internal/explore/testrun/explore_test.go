package testrun

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/site"
)

// servers are those of a run that only the test sends messages to.
type servers struct{ *site.Base }

func (s servers) Heal(context.Context) error { return nil }
func (s servers) Close() error               { return nil }
func (s servers) Fill(o *explore.Outcome)    { s.Tell(o, nil) }

// send reports whether the message meets a failure.
func (s servers) send(command string) bool {
	return s.Arrived(explore.Message{Command: command, Target: "shop.orders"}, "member 0", site.Key{}).Failure != ""
}

// exploreFunction explores a function, with two failures.
func exploreFunction(t *testing.T, s Settings, function func(*Run, servers)) *explore.Report {
	t.Helper()
	s.Depth, s.Parallel = 1, 1
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	report, _, err := Explore(t, s, "", []explore.Failure{{Name: "one"}, {Name: "two"}}, func(c explore.Case) (explore.Site, func(*Run), error) {
		servers := servers{site.New(c)}
		return servers, func(r *Run) { function(r, servers) }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func inMemory() Settings { return Settings{InMemory: true, Samples: 1, Limits: Defaults.Limits} }

func TestGoroutinesMayEndAfterTheFunction(t *testing.T) {
	for name, wait := range map[string]func(*Run){
		"with the context": func(r *Run) { <-r.Context().Done() },
		"a little later":   func(*Run) { <-time.After(grace / 2) },
	} {
		t.Run(name, func(t *testing.T) {
			report := exploreFunction(t, inMemory(), func(r *Run, s servers) {
				s.send("insert")
				go wait(r)
			})
			if report.Failing() || len(report.Outcomes) != 2 {
				t.Error(report.Summary(), report.First.Problems)
			}
		})
	}
}

// On the fake clock a run that did not send a message would not send it the next time.
func TestInMemoryACaseIsRunOnce(t *testing.T) {
	for name, c := range map[string]struct {
		settings Settings
		want     int32
	}{
		"in memory": {inMemory(), 3},
		"over TCP":  {Settings{Samples: 1, Limits: Defaults.Limits}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			report := exploreFunction(t, c.settings, func(_ *Run, s servers) {
				if runs.Add(1) == 1 {
					s.send("insert")
				}
			})
			if runs.Load() != c.want || report.Count(explore.NotReached) != 2 {
				t.Errorf("%d runs: %s", runs.Load(), report.Summary())
			}
		})
	}
}

// No run follows one that does not end.
func TestARunThatCannotBeStoppedIsTheLast(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	limits := Limits{Closing: 10 * time.Millisecond}
	report := exploreFunction(t, Settings{Samples: 1, Budget: time.Second, Limits: limits, MayLeak: true}, func(_ *Run, s servers) {
		if s.send("insert") {
			<-end
		}
	})
	if report.Count(explore.Hung) != 1 || report.Left != 1 {
		t.Error(report.Summary())
	}
}

// A program that fails now and then is not told to fail because of the failure that did not happen.
func TestAFailureThatDidNotHappenIsNotBlamed(t *testing.T) {
	runs := 0
	report := exploreFunction(t, inMemory(), func(r *Run, s servers) {
		if runs++; runs != 2 {
			s.send("insert")
		}
		if runs > 1 {
			r.Errorf("it is there twice")
		}
	})
	const blame = "the failure of this case has not happened in this run, so it is not what breaks the promise"
	broken := report.Broken()
	if len(broken) != 2 {
		t.Fatal(report.Summary())
	}
	first, last := strings.Join(broken[0].Problems, "\n"), strings.Join(broken[1].Problems, "\n")
	if strings.Contains(first, blame) || !strings.Contains(last, blame) || broken[0].Case[0].Failure != "two" {
		t.Errorf("%s: %s\n%s: %s", broken[0].Case, first, broken[1].Case, last)
	}
}

// The line that repeats a case is for a shell, and finds the test and no other one.
func TestTheLineThatRepeatsACase(t *testing.T) {
	const quote = `'\''`
	for _, name := range []string{"it's [a|b] (c)", "$HOME *", `\`} {
		t.Run(name, func(t *testing.T) {
			line := (&explorer{t: t}).repeat(explore.Case{{Message: explore.Message{Command: "ping", Ordinal: 1}, Failure: "one"}})
			_, pattern, _ := strings.Cut(line, " go test -run '")
			pattern = strings.TrimSuffix(pattern, "'")
			if rest := strings.ReplaceAll(pattern, quote, ""); strings.Contains(rest, "'") {
				t.Errorf("a quote ends too early: %s", line)
			}
			_, last, _ := strings.Cut(strings.ReplaceAll(pattern, quote, "'"), "/")
			_, own, _ := strings.Cut(t.Name(), "/")
			if matcher, err := regexp.Compile(last); err != nil || matcher.FindString(own) != own || matcher.MatchString(own+"x") {
				t.Errorf("%s does not find %s: %v", last, own, err)
			}
		})
	}
}
