package prove

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/retry"
)

// The failures by what the rules of the article and of retryable writes say about them.
var (
	// The server does not execute the message, and the client gets no answer.
	neverExecuted = []string{"request-lost", "killed-before", "partitioned"}
	// The server executes it, and the client gets no answer.
	unanswered = []string{"reply-lost", "late-request", "half-reply", "silence", "pool-cleared", "killed-after"}
	// The primary has applied it, and dies. Another is elected before it is back, so it rolls this back.
	rolledBack = []string{"killed-during"}
	// The server is not the primary, or is shutting down or recovering. The article counts these among the network errors.
	stateChanged = []string{"step-down-before", "error-91", "error-189", "error-10107", "error-11600", "error-11602", "error-13435", "error-13436"}
	// These are retried by retryable writes only: the server labels them.
	labelled   = []string{"error-6", "error-7", "error-89", "error-134", "error-262", "error-9001"}
	overloaded = []string{"overload"}
	refused    = []string{"error-2"}
	// It is applied, and its write concern fails: for another reason, or because of a change of state.
	concernFailed, concernState = []string{"write-concern-64"}, []string{"write-concern-91"}
)

// exploredExpectation has the names of failures with the number of the message before them. All other cases end acknowledged, applied once.
type exploredExpectation struct {
	extra            []string
	givenUp          []string // an honest error, and not applied
	failedButApplied []string // an honest error, and applied once
}

func at(message string, lists ...[]string) (names []string) {
	for _, name := range slices.Concat(lists...) {
		names = append(names, message+" "+name)
	}
	return names
}

// exploredExpected follows from the rules.
var exploredExpected = map[string]exploredExpectation{
	// Each error is the end. It never lies.
	NoRetry: {
		givenUp:          at("1", neverExecuted, rolledBack, stateChanged, labelled, overloaded, refused),
		failedButApplied: at("1", unanswered, concernFailed, concernState),
	},
	// Each error is repeated. What dies with a primary is rolled back when another one has been elected.
	FiveBlind: {extra: at("1", unanswered, concernFailed, concernState)},
	// A network error is repeated, and a change of state is one, also if only the write concern has met it.
	OneRetry: {
		extra: at("1", unanswered, concernState), givenUp: at("1", labelled, refused), failedButApplied: at("1", concernFailed),
	},
	// Each step may be repeated. But a late first step puts the token back. The sweep applies what was given up after the first step.
	TwoStep: {
		extra:            at("1", []string{"late-request"}),
		givenUp:          at("1", labelled, refused),
		failedButApplied: slices.Concat(at("1", concernFailed), at("2", labelled, refused, concernFailed)),
	},
	// An unknown outcome is not repeated; the refusal of an old primary is.
	BestEffort: {
		givenUp:          at("1", neverExecuted, rolledBack, labelled, refused),
		failedButApplied: at("1", unanswered, concernFailed, concernState),
	},
	// As two-step, and a late first step finds the token among the finished ones.
	Once: {
		givenUp:          at("1", labelled, refused),
		failedButApplied: slices.Concat(at("1", concernFailed), at("2", labelled, refused, concernFailed)),
	},
	RetryableWrites: {givenUp: at("1", refused), failedButApplied: at("1", concernFailed)},
}

// exploring is an exploration on the fake clock.
type exploring struct {
	strategies []string
	dial       Dial
	do         func(context.Context, *doing) error // if not nil, in place of the strategies' code
}

func (x exploring) run(t *testing.T) (r *Report) {
	t.Helper()
	m := embeddedMatrix(t, Memory(), x.strategies, nil)
	if x.dial != nil {
		m.Dial = x.dial
	}
	if x.do != nil {
		m.Strategies = slices.Clone(m.Strategies)
		m.Strategies[0].do = x.do
	}
	r = &Report{Backend: MongoDB, Settings: m.Settings, Strategies: m.Strategies}
	synctest.Test(t, func(t *testing.T) { m.Explore(t.Context(), r, func(int, int) {}) })
	return r
}

// namesOfRuns returns the runs that have something, each as its message and its failure.
func (s *ExploredStrategy) namesOfRuns(have func(*ExploredRun) bool) (names []string) {
	for _, r := range s.those(have) {
		names = append(names, string(rune('0'+r.Message))+" "+r.Failure)
	}
	return names
}

// Every strategy of the article with every failure at each message.
func TestExploredStrategiesEndAsTheRulesSay(t *testing.T) {
	r := exploring{}.run(t)
	if len(r.Explored.Strategies) != len(exploredExpected) {
		t.Errorf("%d strategies were explored, want %d", len(r.Explored.Strategies), len(exploredExpected))
	}
	// With the outages and silences of real servers these would be minutes. The command waits as long, on the real clock.
	if r.Explored.Seconds > 6 {
		t.Errorf("all runs took %.1f s of the fake clock", r.Explored.Seconds)
	}
	r.Explored.Strategies[0].inTheRules(t)
	for i := range r.Explored.Strategies {
		s := &r.Explored.Strategies[i]
		t.Run(s.Strategy, func(t *testing.T) { s.mustBe(t, exploredExpected[s.Strategy], r.Strategies[i].twoSteps) })
	}
}

func (s *ExploredStrategy) mustBe(t *testing.T, want exploredExpectation, twoSteps bool) {
	t.Helper()
	messages := []string{"update"}
	if twoSteps {
		messages = []string{"first step", "second step"}
	}
	// The failures of a cursor and of a transaction concern no update.
	if !slices.Equal(s.Messages, messages) || len(s.Runs) != 29*len(messages) || s.Interrupted || !s.Without.Acknowledged || s.Without.Applied != 1 {
		t.Errorf("messages %q, %d runs, interrupted %t, without a failure %+v", s.Messages, len(s.Runs), s.Interrupted, s.Without)
	}
	for _, one := range []struct {
		what string
		have func(*ExploredRun) bool
		want []string
	}{
		{"extra", func(r *ExploredRun) bool { return r.Flaw == FlawExtra && r.Applied == 2 }, want.extra},
		{"with another flaw", func(r *ExploredRun) bool { return r.Flaw != "" && r.Flaw != FlawExtra }, nil},
		{"given up", (*ExploredRun).GivenUp, want.givenUp},
		{"failed but applied", (*ExploredRun).FailedButApplied, want.failedButApplied},
		{"silent", (*ExploredRun).silent, nil},
	} {
		got, want := slices.Sorted(slices.Values(s.namesOfRuns(one.have))), slices.Sorted(slices.Values(one.want))
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", one.what, got, want)
		}
	}
}

// inTheRules fails the test unless the lists have each failure of an update once.
func (s *ExploredStrategy) inTheRules(t *testing.T) {
	t.Helper()
	known := at("1", neverExecuted, unanswered, rolledBack, stateChanged, labelled, overloaded, refused, concernFailed, concernState, []string{"step-down-after"})
	got := s.namesOfRuns(func(*ExploredRun) bool { return true })
	slices.Sort(known)
	slices.Sort(got)
	if !slices.Equal(known, got) {
		t.Errorf("the failures are\n%q\nand those of the lists are\n%q", got, known)
	}
}

// The defects of mutants_test.go that change what is applied or reported.
func TestExploringNoticesDefects(t *testing.T) {
	for _, c := range []struct {
		name string
		exploring
		want string // a part of the sentence
	}{
		{"first error returned", exploring{[]string{RetryableWrites}, returnsFirstError(Default()), nil}, "wrong in 25 of 29 cases: misreported at the update with request-lost, reply-lost"},
		{"every write sent twice", exploring{[]string{RetryableWrites}, sendsTwice(Default()), nil}, "wrong without any failure: extra"},
		{"finished not checked", exploring{[]string{Once}, ignoresFinished(Default()), nil}, "wrong in 1 of 58 cases: extra at the first step with late-request"},
		{"sweep keeps tokens", exploring{[]string{Once}, sweepsAndKeeps(Default()), nil}, "extra at the second step with error-6"},
		{"increments idempotent", exploring{[]string{BestEffort}, nil, func(ctx context.Context, d *doing) error {
			return d.withEngine(ctx, retry.Idempotent)
		}}, "extra at the update with reply-lost"},
		{"says that a lost reply was not applied", exploring{[]string{NoRetry}, deniesEffects(Default()), nil}, "misreported at the update with reply-lost"},
		{"success without an answer", exploring{[]string{NoRetry}, nil, func(ctx context.Context, d *doing) error {
			_ = d.increment(ctx)
			return nil
		}}, "missing at the update with request-lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.run(t).Explored.Strategies[0]
			if got := s.Sentence(); !strings.Contains(got, c.want) {
				t.Errorf("%s", got)
			}
		})
	}
}

// denies is a client that says of each error that nothing was applied.
type denies struct{ Client }

func deniesEffects(dial Dial) Dial {
	return withDefect(dial, func(c Client) Client { return denies{c} })
}

// Judge implements [Client].
func (c denies) Judge(err error) Trouble {
	return Trouble{Kind: c.Client.Judge(err).Kind, Claim: NotApplied}
}

// A run that ends has no result, and is not called right.
func TestAnInterruptedExplorationSaysSo(t *testing.T) {
	for _, after := range []int{0, 5} {
		m := embeddedMatrix(t, Memory(), []string{NoRetry}, nil)
		r := &Report{Backend: MongoDB, Settings: m.Settings, Strategies: m.Strategies}
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if after == 0 {
				interrupt()
			}
			m.Explore(ctx, r, func(ended, _ int) {
				if ended == after {
					interrupt()
				}
			})
		})
		s := r.Explored.Strategies[0]
		if !r.Interrupted || !s.Interrupted || len(s.Runs) < after || len(s.Runs) > after+exploredAtOnce || len(s.Silent()) > 0 || s.Without.Error != "" {
			t.Errorf("after %d: interrupted %t, %+v", after, r.Interrupted, s)
		}
		if got := s.Sentence(); !strings.HasSuffix(got, "interrupted") || strings.Contains(got, "all") {
			t.Errorf("after %d: %s", after, got)
		}
	}
}

// The numbers of runs that have ended and that are known come from all strategies, and rise.
func TestExploringTellsItsProgress(t *testing.T) {
	m := embeddedMatrix(t, Memory(), []string{NoRetry, RetryableWrites}, nil)
	r := &Report{Backend: MongoDB, Settings: m.Settings, Strategies: m.Strategies}
	last, known := 0, 0
	synctest.Test(t, func(t *testing.T) {
		m.Explore(t.Context(), r, func(ended, of int) {
			if ended != last+1 || of < known || ended > of {
				t.Errorf("%d of %d after %d of %d", ended, of, last, known)
			}
			last, known = ended, of
		})
	})
	if last != 58 || known != 58 {
		t.Errorf("at the end %d of %d", last, known)
	}
}
