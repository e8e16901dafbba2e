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

// The tables in docs/ENGINE.md are written by hand, from the rules. The tests in this file compare every cell of them with
// what the pure decision and the engine around it say.

// anyOr matches a cell that says "any" or lists values.
func anyOr(cell, value string) bool {
	return cell == "any" || slices.Contains(strings.Split(cell, ", "), value)
}

// alwaysRetried is a reason that is retried whatever the strategy says.
var alwaysRetried = NewReason("ALWAYS_RETRIED", FlagAlways)

// everyReason is every reason that there is, and one of a user's own for each combination of the flags.
func everyReason() []Reason {
	return append(KnownReasons(), NewReason("MY_PLAIN"), NewReason("MY_ALLOWING", FlagAllowsNonIdempotent), NewReason("MY_ALWAYS", FlagAlways),
		NewReason("MY_BOTH", FlagAllowsNonIdempotent, FlagAlways))
}

// everyFailure is every combination of reason, stage and effect.
func everyFailure() []Failure {
	var all []Failure
	for _, reason := range everyReason() {
		for _, stage := range []Stage{StageInFlight, StageDispatch, StageResponded} {
			for _, effect := range []Effect{EffectNotIdempotent, EffectIdempotent, EffectReadOnly} {
				for _, unsettled := range []bool{false, true} {
					all = append(all, Failure{Err: io.EOF, Reason: reason, Stage: stage, Effect: effect, Unsettled: unsettled})
				}
			}
		}
	}
	return all
}

// notTheirs are the whys that neither a strategy nor an attempt can have for refusing.
var notTheirs = []Why{WhyRetried, WhyCancelled, WhyDeadlineWouldPass}

// refusals is every why that they can have.
func refusals() []Why {
	var all []Why
	for w := WhyRetried + 1; int(w) < len(whyTexts); w++ {
		if !slices.Contains(notTheirs, w) {
			all = append(all, w)
		}
	}
	return all
}

// refusalsAnd is what an attempt can say, sense or nonsense or nothing.
func refusalsAnd() []Why { return append(append(refusals(), notTheirs...), WhyUndecided) }

func describe(f *Failure) string {
	return fmt.Sprintf("%v, %s, %v", f.Reason, stageColumn(f), f.Effect)
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
	if f.Stage == StageResponded && f.Unsettled {
		return "answered, unsettled"
	}
	return f.Stage.String()
}

// onlyRow returns the one row that matches.
func onlyRow(t *testing.T, rows [][]string, what string, matches func(row []string) bool) []string {
	t.Helper()
	var found [][]string
	for _, row := range rows[1:] {
		if matches(row) {
			found = append(found, row)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s is covered by %d rows, want one: %q", what, len(found), found)
	}
	return found[0]
}

// follows is a row of the table "What follows".
type follows struct{ again, no string }

// why is what follows from a strategy's answer: "again" or a why.
func (f follows) why(answer string) string {
	switch {
	case answer == "again":
		return f.again
	case f.no == "the strategy's":
		return answer
	default:
		return f.no
	}
}

func whatFollows(t *testing.T, rows [][]string, f *Failure) follows {
	t.Helper()
	row := onlyRow(t, rows, describe(f), func(row []string) bool {
		return (row[0] == "any" || row[0] == stageColumn(f)) && anyOr(row[1], class(f.Reason)) && anyOr(row[2], f.Effect.String())
	})
	return follows{row[3], row[4]}
}

// endsAtOnce reads the table "What ends it at once"; "" is its "see below".
func endsAtOnce(t *testing.T, rows [][]string, ended, refuse Why) string {
	t.Helper()
	state := map[Why]string{WhyUndecided: "alive", WhyCancelled: "cancelled", WhyDeadlineWouldPass: "past its deadline"}[ended]
	refused := "with another why"
	switch {
	case refuse == WhyUndecided:
		refused = "no"
	case slices.Contains(notTheirs, refuse):
		refused = "as cancelled, deadline would pass or retried"
	}
	row := onlyRow(t, rows, state+" and refused "+refused, func(row []string) bool {
		return row[0] == state && (row[1] == "any, or not" || row[1] == refused)
	})
	switch row[2] {
	case "that why":
		return refuse.String()
	case "see below":
		return ""
	default:
		return row[2]
	}
}

func TestThePureDecisionIsTheTable(t *testing.T) {
	document := readFile(t, engineDocs)
	atOnce := tableUnder(t, document, "### What ends it at once")
	rows := tableUnder(t, document, "### What follows")
	answers := map[string]Action{"again": After(0)}
	for _, w := range refusals() {
		answers[w.String()] = Decline(w)
	}
	now := time.Date(2016, 6, 28, 0, 0, 0, 0, time.UTC)
	decided := 0
	for _, ended := range []Why{WhyUndecided, WhyCancelled, WhyDeadlineWouldPass} {
		for _, refuse := range refusalsAnd() {
			early := endsAtOnce(t, atOnce, ended, refuse)
			for _, f := range everyFailure() {
				f.Refuse = refuse
				row := whatFollows(t, rows, &f)
				for answer, action := range answers {
					want := early
					if want == "" {
						want = row.why(answer)
					}
					v := decide(&state{ended: ended, action: action}, &f, now)
					if v.why.String() != want {
						t.Errorf("%s; ended %v, refused %v, the strategy says %s: %v, want %s", describe(&f), ended, refuse, answer, v.why, want)
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
	return StrategyFunc(func(context.Context, Request, Failure) (Action, error) { return action, err })
}

// theStrategies are the strategies by their names in the documentation.
var theStrategies = map[string]Strategy{
	"`Once()`":                                                 Once(),
	"`UntilDeadline()`":                                        UntilDeadline(),
	"`BestEffort(BackoffOptions{})`":                           BestEffort(BackoffOptions{}),
	"`Limited(1, UntilDeadline())`":                            Limited(1, UntilDeadline()),
	"`Limited(3, UntilDeadline())`":                            Limited(3, UntilDeadline()),
	"`Limited(3, BestEffort(BackoffOptions{}))`":               Limited(3, BestEffort(BackoffOptions{})),
	"`Limited(3, ...)` around one that declines as `disabled`": Limited(3, declining(Decline(WhyDisabled), nil)),
	"`Overload(2, Once())`":                                    Overload(2, Once()),
	"your own, returning the zero `Action`":                    declining(Action{}, nil),
	"your own, returning `Decline(WhyDisabled)`":               declining(Decline(WhyDisabled), nil),
	"your own, returning an error":                             declining(After(0), io.ErrNoProgress),
}

// strategyAnswers reads the table "What the strategies answer".
func strategyAnswers(t *testing.T, rows [][]string, name string, reason Reason, overloadedBefore bool, retries int) string {
	t.Helper()
	what := fmt.Sprintf("%s, %v after %d retries", name, reason, retries)
	row := onlyRow(t, rows, what, func(row []string) bool {
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

// before returns the failures that bring an operation to so many retries whatever its strategy: they are always retried.
// For an operation that met an overloaded server, the first is that.
func before(retries int, overloaded bool) []Failure {
	failures := slices.Repeat([]Failure{{Err: io.EOF, Stage: StageDispatch, Reason: alwaysRetried}}, retries)
	if overloaded {
		failures[0].Reason = ReasonOverloaded
	}
	return failures
}

// verdictOn is what an engine decides about the last of an operation's failures.
func verdictOn(t *testing.T, o Options, op Operation, failures []Failure) string {
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
		return WhyRetried.String()
	case errors.As(err, &failed) && made == len(failures):
		return failed.Why().String()
	default:
		return fmt.Sprintf("%d attempts, then %v", made, err)
	}
}

// The engine reaches the same verdict with the strategy as its own, with the strategy as the operation's, and by the table.
func TestTheEngineDecidesAsTheTableSays(t *testing.T) {
	document := readFile(t, engineDocs)
	rows := tableUnder(t, document, "### What follows")
	answers := tableUnder(t, document, "### What the strategies answer")
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
							want := whatFollows(t, rows, &f).why(strategyAnswers(t, answers, name, f.Reason, overloadedBefore, retries))
							failures := append(before(retries, overloadedBefore), f)
							if got := verdictOn(t, Options{Strategy: strategy}, Operation{}, failures); got != want {
								t.Errorf("the engine's strategy, after %d retries: %s: %s, want %s", retries, describe(&f), got, want)
							}
							if got := verdictOn(t, Options{Strategy: declining(Action{}, nil)}, Operation{Strategy: strategy}, failures); got != want {
								t.Errorf("the operation's strategy, after %d retries: %s: %s, want %s", retries, describe(&f), got, want)
							}
						}
					}
				})
			})
		}
	}
}

// A strategy is asked about what may be retried at all, and about nothing else; what ends it at once does so in the engine too.
func TestTheStrategyIsAskedOnlyWhereItDecides(t *testing.T) {
	document := readFile(t, engineDocs)
	atOnce := tableUnder(t, document, "### What ends it at once")
	rows := tableUnder(t, document, "### What follows")
	asked := 0
	e, err := New(Options{Strategy: StrategyFunc(func(context.Context, Request, Failure) (Action, error) {
		asked++
		return Decline(WhyDisabled), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		for _, ended := range []Why{WhyUndecided, WhyCancelled, WhyDeadlineWouldPass} {
			for _, refuse := range refusalsAnd() {
				for _, f := range everyFailure() {
					f.Refuse = refuse
					want := endsAtOnce(t, atOnce, ended, refuse)
					wantAsked := 0
					if want == "" {
						want = whatFollows(t, rows, &f).why(WhyDisabled.String())
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

// endedWhile is the verdict on a failure whose context ended during the attempt, for the reason given.
func endedWhile(e *Engine, ended Why, f Failure) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := e.Do(ctx, Operation{}, func(ctx context.Context, n int) Failure {
		if n > 0 {
			return Failure{}
		}
		if ended == WhyCancelled {
			cancel()
		}
		if ended == WhyDeadlineWouldPass {
			<-ctx.Done()
		}
		return f
	})
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Why().String()
	}
	return WhyRetried.String()
}

// situation is what the gates look at, as a test sets it up.
type situation struct {
	state
	now   time.Time
	delay time.Duration
}

func (s *situation) left() time.Duration { return s.deadline.Sub(s.now) }

// gates are the rows of the table of deadline, breaker and budget, as conditions.
var gates = map[string]func(*situation) bool{
	"the delay would end at the deadline or later, with `DeadlineGiveUp`": func(s *situation) bool {
		return !s.deadline.IsZero() && s.mode == DeadlineGiveUp && s.left() <= s.delay
	},
	"the delay would end at the deadline or later, with `DeadlineCapDelay`": func(s *situation) bool {
		return !s.deadline.IsZero() && s.mode == DeadlineCapDelay && s.left() <= s.delay
	},
	"the breaker lets nothing through until after the delay": func(s *situation) bool { return s.openUntil.Sub(s.now) > s.delay },
	"the budget has no token":                                func(s *situation) bool { return s.budgetEmpty },
	"nothing":                                                func(*situation) bool { return true },
}

// byTheGates reads the table: the first row that applies and refuses.
func byTheGates(t *testing.T, rows [][]string, s *situation, always bool) (why string, waited time.Duration) {
	t.Helper()
	for i, row := range rows[1:] {
		applies := gates[row[0]]
		if applies == nil {
			t.Fatalf("the table has a row %q, which this test does not know", row[0])
		}
		why := row[1]
		if always {
			why = row[2]
		}
		last := i == len(rows)-2
		if !applies(s) || why == WhyRetried.String() && !last {
			continue
		}
		waits := map[string]time.Duration{"nothing": 0, "what is left": max(s.left(), 0), "the delay": s.delay}
		waited, ok := waits[row[3]]
		if !ok {
			t.Fatalf("the table says that %q is waited", row[3])
		}
		return why, waited
	}
	t.Fatal("no row applies")
	return "", 0
}

// situations are all ways in which deadline, breaker and budget can stand beside a delay: near it to the nanosecond.
func situations(delay time.Duration) []situation {
	now := time.Date(2016, 6, 28, 0, 0, 0, 0, time.UTC)
	var all []situation
	for _, mode := range []DeadlineMode{DeadlineGiveUp, DeadlineCapDelay} {
		for _, deadline := range []time.Time{{}, now.Add(-time.Second), now, now.Add(delay - 1), now.Add(delay), now.Add(delay + 1)} {
			for _, open := range []time.Time{{}, now.Add(-time.Second), now.Add(delay - 1), now.Add(delay), now.Add(delay + 1)} {
				for _, empty := range []bool{false, true} {
					s := state{mode: mode, deadline: deadline, openUntil: open, budgetEmpty: empty}
					all = append(all, situation{state: s, now: now, delay: delay})
				}
			}
		}
	}
	return all
}

func TestDeadlineBreakerAndBudgetDecideAsTheTableSays(t *testing.T) {
	const delay = 100 * time.Millisecond // also the ladder's after three retries
	rows := tableUnder(t, readFile(t, engineDocs), "## Deadline, breaker, budget")
	if len(rows)-1 != len(gates) {
		t.Errorf("the table has %d rows, want %d", len(rows)-1, len(gates))
	}
	for _, always := range []bool{false, true} {
		f := Failure{Err: io.EOF, Stage: StageDispatch, Reason: ReasonConnectionFailed}
		action := After(delay)
		if always {
			f.Reason, action = alwaysRetried, Action{}
		}
		for _, floor := range []time.Duration{0, delay / 2, 3 * delay} {
			f.RetryAfter = floor
			for _, s := range situations(max(delay, floor)) {
				s.action, s.retries = action, 3
				want, waited := byTheGates(t, rows, &s, always)
				v := decide(&s.state, &f, s.now)
				if v.why.String() != want || v.delay != waited {
					t.Errorf("always %v, delay %v, %+v: %v after %v, want %s after %v", always, s.delay, s.state, v.why, v.delay, want, waited)
				}
				if costs := want == WhyRetried.String() && !always; v.costs != costs {
					t.Errorf("always %v, delay %v, %+v: costs %v, want %v", always, s.delay, s.state, v.costs, costs)
				}
			}
		}
	}
}

func TestTheDelayIsTheStrategysOrTheLaddersAndAtLeastTheServers(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name        string
		reason      Reason
		retries     int
		says, floor time.Duration
		want        time.Duration
	}{
		{"the strategy's delay", ReasonConnectionFailed, 0, 7 * ms, 0, 7 * ms},
		{"a strategy's delay below zero is none", ReasonConnectionFailed, 0, -7 * ms, 0, 0},
		{"no delay is below zero, whatever both say", ReasonConnectionFailed, 0, -7 * ms, -5 * ms, 0},
		{"Retry-After is a floor under the strategy's", ReasonConnectionFailed, 0, 7 * ms, 8 * ms, 8 * ms},
		{"a shorter Retry-After changes nothing", ReasonConnectionFailed, 0, 7 * ms, 6 * ms, 7 * ms},
		{"Retry-After makes an immediate retry wait", ReasonConnectionFailed, 0, 0, 6 * ms, 6 * ms},
		{"always retry: the ladder's first step", alwaysRetried, 0, 7 * ms, 0, 1 * ms},
		{"always retry: by the retries made, for whatever reason", alwaysRetried, 2, 7 * ms, 0, 50 * ms},
		{"always retry: the ladder ends at a second", alwaysRetried, 1000, 7 * ms, 0, 1000 * ms},
		{"Retry-After is a floor under the ladder", alwaysRetried, 0, 0, 20 * ms, 20 * ms},
		{"a Retry-After shorter than the ladder's step changes nothing", alwaysRetried, 4, 0, 20 * ms, 500 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Failure{Err: io.EOF, Stage: StageDispatch, Reason: c.reason, RetryAfter: c.floor}
			v := decide(&state{action: After(c.says), retries: c.retries}, &f, time.Time{})
			if v.why != WhyRetried || v.delay != c.want {
				t.Errorf("%v after %v, want %v", v.why, v.delay, c.want)
			}
		})
	}
}

func TestADeclineSaysNothingThatIsNotTheStrategys(t *testing.T) {
	for _, w := range append(notTheirs, WhyUndecided) {
		if got := Decline(w).why; got != WhyStrategyDeclined {
			t.Errorf("Decline(%v) says %v", w, got)
		}
	}
}
