package retry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The tables in docs/ENGINE.md are written by hand, from the rules. The tests in this file compare every cell of them with the
// decision function and with the engine around it.

// anyOr reports whether a cell is "any" or lists the value.
func anyOr(cell, value string) bool {
	return cell == "any" || slices.Contains(strings.Split(cell, ", "), value)
}

// alwaysRetried is a reason that is retried whatever the strategy says.
var alwaysRetried = NewReason("ALWAYS_RETRIED", FlagAlways)

// ownReasons are made once: a process has room for some thousands, and a test may run many times.
var ownReasons = [...]Reason{
	NewReason("MY_PLAIN"), NewReason("MY_ALLOWING", FlagAllowsNonIdempotent), NewReason("MY_ALWAYS", FlagAlways),
	NewReason("MY_BOTH", FlagAllowsNonIdempotent, FlagAlways),
}

// everyReason returns every reason of this module, and one of a user's own for each combination of the flags.
func everyReason() []Reason {
	return append(KnownReasons(), ownReasons[:]...)
}

// everyFailure returns every combination of reason, stage and idempotency.
func everyFailure() []Failure {
	var all []Failure
	for _, reason := range everyReason() {
		for _, stage := range []Stage{StageInFlight, StageBeforeSending, StageAnswered} {
			for _, idempotency := range []Idempotency{NotIdempotent, Idempotent, ReadOnly} {
				for _, unsettled := range []bool{false, true} {
					all = append(all, Failure{Err: io.EOF, Reason: reason, Stage: stage, Idempotency: idempotency, Unsettled: unsettled})
				}
			}
		}
	}
	return all
}

// theEngines are the stop reasons that only the engine can give.
var theEngines = []StopReason{NotStopped, StopCancelled, StopDeadlineWouldPass}

// refusals returns every stop reason that a strategy or an attempt can give.
func refusals() []StopReason {
	var all []StopReason
	for w := NotStopped + 1; int(w) < len(stopReasonTexts); w++ {
		if !slices.Contains(theEngines, w) {
			all = append(all, w)
		}
	}
	return all
}

// everyStop returns every value of Failure.Stop, right, wrong or unset.
func everyStop() []StopReason { return append(append(refusals(), theEngines...), StopNone) }

func describe(f *Failure) string {
	return fmt.Sprintf("%v, %s, %v", f.Reason, stageColumn(f), f.Idempotency)
}

func class(r Reason) string {
	switch {
	case r == ReasonUnknown:
		return "UNKNOWN"
	case r.AlwaysRetry():
		return "always"
	case r.AllowsNonIdempotentRetry():
		return "allowing"
	default:
		return "plain"
	}
}

func stageColumn(f *Failure) string {
	if f.Stage == StageAnswered && f.Unsettled {
		return "answered, unsettled"
	}
	return f.Stage.String()
}

// onlyRow returns the one row that matches; name is for the error.
func onlyRow(t *testing.T, rows [][]string, name string, matches func(row []string) bool) []string {
	t.Helper()
	var found [][]string
	for _, row := range rows[1:] {
		if matches(row) {
			found = append(found, row)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s is in %d rows, want one: %q", name, len(found), found)
	}
	return found[0]
}

// result is a row of the table "The result of an answer".
type result struct{ again, no string }

// outcome returns the result for a strategy's answer, which is "again" or a stop reason.
func (r result) outcome(answer string) string {
	switch {
	case answer == "again":
		return r.again
	case r.no == "the strategy's":
		return answer
	default:
		return r.no
	}
}

func resultOf(t *testing.T, rows [][]string, f *Failure) result {
	t.Helper()
	row := onlyRow(t, rows, describe(f), func(row []string) bool {
		return (row[0] == "any" || row[0] == stageColumn(f)) && anyOr(row[1], class(f.Reason)) && anyOr(row[2], f.Idempotency.String())
	})
	return result{row[3], row[4]}
}

// endsAtOnce reads the table "Decided without a strategy". It returns "" for "see below".
func endsAtOnce(t *testing.T, rows [][]string, ended, refuse StopReason) string {
	t.Helper()
	state := map[StopReason]string{StopNone: "alive", StopCancelled: "cancelled", StopDeadlineWouldPass: "past its deadline"}[ended]
	refused := "with another stop reason"
	switch {
	case refuse == StopNone:
		refused = "no"
	case slices.Contains(theEngines, refuse):
		refused = "as cancelled, deadline would pass or retried"
	}
	row := onlyRow(t, rows, state+" and refused "+refused, func(row []string) bool {
		return row[0] == state && (row[1] == "yes or no" || row[1] == refused)
	})
	switch row[2] {
	case "that stop reason":
		return refuse.String()
	case "see below":
		return ""
	default:
		return row[2]
	}
}

func TestTheDecisionIsThatOfTheTables(t *testing.T) {
	document := readFile(t, engineDocs)
	atOnce := tableUnder(t, document, "### Decided without a strategy")
	rows := tableUnder(t, document, "### The result of an answer")
	answers := map[string]Action{"again": After(0)}
	for _, w := range refusals() {
		answers[w.String()] = Decline(w)
	}
	now := time.Date(2016, 6, 28, 0, 0, 0, 0, time.UTC)
	decided := 0
	for _, ended := range []StopReason{StopNone, StopCancelled, StopDeadlineWouldPass} {
		for _, refuse := range everyStop() {
			early := endsAtOnce(t, atOnce, ended, refuse)
			for _, f := range everyFailure() {
				f.Stop = refuse
				row := resultOf(t, rows, &f)
				for answer, action := range answers {
					want := early
					if want == "" {
						want = row.outcome(answer)
					}
					d := decide(&state{ended: ended, action: action}, &f, now)
					if d.stop.String() != want {
						t.Errorf("%s; ended %v, refused %v, the strategy says %s: %v, want %s", describe(&f), ended, refuse, answer, d.stop, want)
					}
					decided++
				}
			}
		}
	}
	if least := 3 * 10 * 32 * 18 * 10; decided < least {
		t.Errorf("%d decisions were compared, want at least %d", decided, least)
	}
}

func declining(action Action, err error) Strategy {
	return StrategyFunc(func(context.Context, OperationState, Failure) (Action, error) { return action, err })
}

// theStrategies are the strategies of the table, by its first column.
var theStrategies = map[string]Strategy{
	"`RetryOnce()`":                                            RetryOnce(),
	"`UntilDeadline()`":                                        UntilDeadline(),
	"`BestEffort(BackoffOptions{})`":                           BestEffort(BackoffOptions{}),
	"`Limited(1, UntilDeadline())`":                            Limited(1, UntilDeadline()),
	"`Limited(3, UntilDeadline())`":                            Limited(3, UntilDeadline()),
	"`Limited(3, BestEffort(BackoffOptions{}))`":               Limited(3, BestEffort(BackoffOptions{})),
	"`Limited(3, ...)` around one that declines as `disabled`": Limited(3, declining(Decline(StopDisabled), nil)),
	"`Overload(2, RetryOnce())`":                               Overload(2, RetryOnce()),
	"your own, returning the zero `Action`":                    declining(Action{}, nil),
	"your own, returning `Decline(StopDisabled)`":              declining(Decline(StopDisabled), nil),
	"your own, returning an error":                             declining(After(0), io.ErrNoProgress),
}

// strategyAnswers reads the table "The answers of the strategies".
func strategyAnswers(t *testing.T, rows [][]string, name string, reason Reason, overloadedBefore bool, retries int) string {
	t.Helper()
	row := onlyRow(t, rows, fmt.Sprintf("%s, %v after %d retries", name, reason, retries), func(row []string) bool {
		if row[0] != name {
			return false
		}
		switch row[1] {
		case "any":
			return true
		case "no overload so far":
			return reason != ReasonOverloaded && !overloadedBefore
		case "another, after SYSTEM_OVERLOADED":
			return reason != ReasonOverloaded && overloadedBefore
		default:
			return row[1] == reason.String()
		}
	})
	return row[2+min(retries, 3)]
}

// before returns the failures after which an operation has made so many retries, whatever its strategy: they are always
// retried. If overloaded is set, the first is that of an overloaded server.
func before(retries int, overloaded bool) []Failure {
	failures := slices.Repeat([]Failure{{Err: io.EOF, Stage: StageBeforeSending, Reason: alwaysRetried}}, retries)
	if overloaded {
		failures[0].Reason = ReasonOverloaded
	}
	return failures
}

// decisionOn returns an engine's decision about the last of an operation's failures.
func decisionOn(t *testing.T, o Options, op Operation, failures []Failure) string {
	t.Helper()
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	err = e.Do(context.Background(), op, func(context.Context, int) Failure {
		made++
		if made > len(failures) {
			return Failure{}
		}
		return failures[made-1]
	})
	var failed *Error
	switch {
	case err == nil && made == len(failures)+1:
		return NotStopped.String()
	case errors.As(err, &failed) && made == len(failures):
		return failed.StopReason().String()
	default:
		return fmt.Sprintf("%d attempts, then %v", made, err)
	}
}

// The decision is the table's whether the strategy is the engine's or the operation's.
func TestTheEngineDecidesAsTheTableSays(t *testing.T) {
	document := readFile(t, engineDocs)
	rows := tableUnder(t, document, "### The result of an answer")
	answers := tableUnder(t, document, "### The answers of the strategies")
	for _, row := range answers[1:] {
		if theStrategies[row[0]] == nil {
			t.Fatalf("the table names %s, which this test does not know", row[0])
		}
	}
	for name, strategy := range theStrategies {
		for _, overloadedBefore := range []bool{false, true} {
			if _, is := strategy.(*overload); overloadedBefore && !is {
				continue
			}
			t.Run(fmt.Sprintf("%s %v", name, overloadedBefore), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for _, retries := range []int{0, 1, 2, 3, 5} {
						if overloadedBefore && retries == 0 {
							continue
						}
						for _, f := range everyFailure() {
							want := resultOf(t, rows, &f).outcome(strategyAnswers(t, answers, name, f.Reason, overloadedBefore, retries))
							failures := append(before(retries, overloadedBefore), f)
							if got := decisionOn(t, Options{Strategy: strategy}, Operation{}, failures); got != want {
								t.Errorf("the engine's strategy, after %d retries: %s: %s, want %s", retries, describe(&f), got, want)
							}
							if got := decisionOn(t, Options{Strategy: declining(Action{}, nil)}, Operation{Strategy: strategy}, failures); got != want {
								t.Errorf("the operation's strategy, after %d retries: %s: %s, want %s", retries, describe(&f), got, want)
							}
						}
					}
				})
			})
		}
	}
}

// A strategy is asked only about failures that may be retried at all. The engine, too, ends an operation at once where the table does.
func TestTheStrategyIsAskedOnlyWhereItDecides(t *testing.T) {
	document := readFile(t, engineDocs)
	atOnce := tableUnder(t, document, "### Decided without a strategy")
	rows := tableUnder(t, document, "### The result of an answer")
	asked := 0
	e, err := New(Options{Strategy: StrategyFunc(func(context.Context, OperationState, Failure) (Action, error) {
		asked++
		return Decline(StopDisabled), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		for _, ended := range []StopReason{StopNone, StopCancelled, StopDeadlineWouldPass} {
			for _, refuse := range everyStop() {
				for _, f := range everyFailure() {
					f.Stop = refuse
					want := endsAtOnce(t, atOnce, ended, refuse)
					wantAsked := 0
					if want == "" {
						want = resultOf(t, rows, &f).outcome(StopDisabled.String())
						if c := class(f.Reason); c == "plain" || c == "allowing" {
							wantAsked = 1
						}
					}
					asked = 0
					if got := endedWhile(e, ended, f); got != want || asked != wantAsked {
						t.Errorf("%s; ended %v, refused %v: %s, the strategy was asked %d times; want %s, %d times",
							describe(&f), ended, refuse, got, asked, want, wantAsked)
					}
				}
			}
		}
	})
}

// endedWhile returns the decision about a failure whose context ended during the attempt, as given.
func endedWhile(e *Engine, ended StopReason, f Failure) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := e.Do(ctx, Operation{}, func(ctx context.Context, n int) Failure {
		if n > 0 {
			return Failure{}
		}
		if ended == StopCancelled {
			cancel()
		}
		if ended == StopDeadlineWouldPass {
			<-ctx.Done()
		}
		return f
	})
	var failed *Error
	if errors.As(err, &failed) {
		return failed.StopReason().String()
	}
	return NotStopped.String()
}

// situation is the state of deadline, breaker and budget beside a delay.
type situation struct {
	state
	now        time.Time
	delay      time.Duration
	retryAfter time.Duration
	wake       <-chan struct{}
}

func (s *situation) left() time.Duration { return s.deadline.Sub(s.now) }

// conditions are those of the first column of the table.
var conditions = map[string]func(*situation) bool{
	"the server asked for a longer delay than `Options.MaxRetryAfter`": func(s *situation) bool { return s.retryAfter > s.ceiling },
	"the delay would end at the deadline or later, with `DeadlineGiveUp`": func(s *situation) bool {
		return !s.deadline.IsZero() && s.mode == DeadlineGiveUp && s.left() <= s.delay
	},
	"the delay would end at the deadline or later, with `DeadlineCapDelay`, and nothing can wake it before": func(s *situation) bool {
		canWake := s.wake != nil && s.retryAfter == 0 && s.left() > 0
		return !s.deadline.IsZero() && s.mode == DeadlineCapDelay && s.left() <= s.delay && !canWake
	},
	"the breaker permits nothing until after the delay": func(s *situation) bool {
		delay := s.delay
		if !s.deadline.IsZero() {
			delay = min(delay, s.left())
		}
		return s.openUntil.Sub(s.now) > delay
	},
	"the budget has no token": func(s *situation) bool { return s.budgetEmpty },
	"none":                    func(*situation) bool { return true },
}

// byTheTable returns the result of the first row that applies and refuses.
func byTheTable(t *testing.T, rows [][]string, s *situation, always bool) (outcome string, waited time.Duration) {
	t.Helper()
	for i, row := range rows[1:] {
		applies := conditions[row[0]]
		if applies == nil {
			t.Fatalf("the table has a row %q, which this test does not know", row[0])
		}
		outcome := row[1]
		if always {
			outcome = row[2]
		}
		last := i == len(rows)-2
		if !applies(s) || outcome == NotStopped.String() && !last {
			continue
		}
		delay := s.delay
		if !s.deadline.IsZero() {
			delay = min(delay, s.left())
		}
		waits := map[string]time.Duration{"nothing": 0, "the time until the deadline": max(s.left(), 0), "the delay, at most until the deadline": delay}
		waited, ok := waits[row[3]]
		if !ok {
			t.Fatalf("the table says that %q is waited", row[3])
		}
		return outcome, waited
	}
	t.Fatal("no row applies")
	return "", 0
}

// situations returns all combinations of deadline, breaker and budget beside a delay, as near to it as a nanosecond, each twice.
func situations(delay time.Duration) []situation {
	now := time.Date(2016, 6, 28, 0, 0, 0, 0, time.UTC)
	var all []situation
	for _, mode := range []DeadlineMode{DeadlineGiveUp, DeadlineCapDelay} {
		for _, deadline := range []time.Time{{}, now.Add(-time.Second), now, now.Add(delay - 1), now.Add(delay), now.Add(delay + 1)} {
			for _, open := range []time.Time{{}, now.Add(-time.Second), now.Add(delay - 1), now.Add(delay), now.Add(delay + 1)} {
				for _, empty := range []bool{false, true} {
					for _, ceiling := range []time.Duration{delay - 1, delay, time.Hour} {
						s := situation{now: now, delay: delay}
						s.state = state{mode: mode, ceiling: ceiling, deadline: deadline, openUntil: open, budgetEmpty: empty}
						all = append(all, s, s)
					}
				}
			}
		}
	}
	return all
}

func TestDeadlineBreakerAndBudgetDecideAsTheTableSays(t *testing.T) {
	const delay = 100 * time.Millisecond // also the controlled backoff after three retries
	rows := tableUnder(t, readFile(t, engineDocs), "## Deadline, breaker and budget")
	if len(rows)-1 != len(conditions) {
		t.Errorf("the table has %d rows, want %d", len(rows)-1, len(conditions))
	}
	for _, always := range []bool{false, true} {
		f := Failure{Err: io.EOF, Stage: StageBeforeSending, Reason: ReasonConnectionFailed}
		action := After(delay)
		if always {
			f.Reason, action = alwaysRetried, Action{}
		}
		for _, floor := range []time.Duration{0, delay / 2, 3 * delay} {
			f.RetryAfter = floor
			for i, s := range situations(max(delay, floor)) {
				f.Wake = nil
				if i%2 == 1 {
					f.Wake = make(chan struct{})
				}
				s.action, s.retries, s.retryAfter, s.wake = action, 3, floor, f.Wake
				want, waited := byTheTable(t, rows, &s, always)
				d := decide(&s.state, &f, s.now)
				if d.stop.String() != want || d.delay != waited {
					t.Errorf("always %v, delay %v, %+v: %v after %v, want %s after %v", always, s.delay, s.state, d.stop, d.delay, want, waited)
				}
				if costs := want == NotStopped.String() && !always; d.costs != costs {
					t.Errorf("always %v, delay %v, %+v: costs %v, want %v", always, s.delay, s.state, d.costs, costs)
				}
			}
		}
	}
}

func TestTheDelayIsTheStrategysOrTheControlledBackoffAndAtLeastRetryAfter(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name       string
		reason     Reason
		retries    int
		strategys  time.Duration
		retryAfter time.Duration
		want       time.Duration
	}{
		{"the strategy's delay", ReasonConnectionFailed, 0, 7 * ms, 0, 7 * ms},
		{"a strategy's delay below zero is none", ReasonConnectionFailed, 0, -7 * ms, 0, 0},
		{"no delay is below zero, even if both are", ReasonConnectionFailed, 0, -7 * ms, -5 * ms, 0},
		{"RetryAfter is a minimum for the strategy's", ReasonConnectionFailed, 0, 7 * ms, 8 * ms, 8 * ms},
		{"a shorter RetryAfter changes nothing", ReasonConnectionFailed, 0, 7 * ms, 6 * ms, 7 * ms},
		{"RetryAfter delays a retry at once", ReasonConnectionFailed, 0, 0, 6 * ms, 6 * ms},
		{"always retry: the first step of the controlled backoff", alwaysRetried, 0, 7 * ms, 0, 1 * ms},
		{"always retry: the step depends on all retries, whatever their reasons", alwaysRetried, 2, 7 * ms, 0, 50 * ms},
		{"always retry: the last step is a second", alwaysRetried, 1000, 7 * ms, 0, 1000 * ms},
		{"RetryAfter is a minimum for the controlled backoff", alwaysRetried, 0, 0, 20 * ms, 20 * ms},
		{"a RetryAfter shorter than the controlled backoff changes nothing", alwaysRetried, 4, 0, 20 * ms, 500 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Failure{Err: io.EOF, Stage: StageBeforeSending, Reason: c.reason, RetryAfter: c.retryAfter}
			d := decide(&state{action: After(c.strategys), retries: c.retries, ceiling: time.Second}, &f, time.Time{})
			if d.stop != NotStopped || d.delay != c.want {
				t.Errorf("%v after %v, want %v", d.stop, d.delay, c.want)
			}
		})
	}
}

func TestDeclineAcceptsOnlyAStopReasonThatAStrategyCanGive(t *testing.T) {
	for _, w := range append(theEngines, StopNone) {
		if got := Decline(w).stop; got != StopStrategyDeclined {
			t.Errorf("Decline(%v) declines as %v", w, got)
		}
	}
}
