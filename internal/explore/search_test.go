package explore

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// fakeRun is a program that is a pure function of the case. It sends find, insert, update and commit, and each once more if its reply
// is lost.
type fakeRun struct {
	o    Outcome
	c    Case
	seen map[string]int
}

// send sends a message, and returns the failure that strikes it.
func (r *fakeRun) send(command string) (struck string) {
	r.seen[command]++
	m := message(command, r.seen[command])
	r.o.Messages = append(r.o.Messages, m)
	if n := len(r.o.Struck); n < len(r.c) && r.c[n].Message.Same(m) {
		r.o.Struck = append(r.o.Struck, len(r.o.Messages)-1)
		return r.c[n].Failure
	}
	return ""
}

// mistake is what the program does wrong: with a failure, and with a failure after another.
type mistake struct{ command, failure, after string }

// fake runs the program.
func fake(c Case, mistakes ...mistake) Outcome {
	r := fakeRun{c: c, o: Outcome{Case: c}, seen: map[string]int{}}
	before := ""
	for _, command := range []string{"find", "insert", "update", "commit"} {
		failure := r.send(command)
		if failure == "" {
			continue
		}
		if failure == "reply-lost" {
			r.send(command)
		}
		if slices.Contains(mistakes, mistake{command, failure, before}) {
			r.o.Problems = append(r.o.Problems, "the order is there twice")
		}
		before = failure
	}
	return r.o
}

var fakeFailures = []Failure{{Name: "reply-lost"}, {Name: "refused"}}

// searchFor returns a search of a program with mistakes.
func searchFor(mistakes ...mistake) *Search {
	return &Search{
		Failures: fakeFailures, Parallel: 1,
		Run: func(_ context.Context, c Case) Outcome { return fake(c, mistakes...) },
	}
}

func casesOf(r *Report) []string {
	list := make([]string, len(r.Outcomes))
	for i := range r.Outcomes {
		list[i] = r.Outcomes[i].Case.String() + " " + string(r.Outcomes[i].Verdict)
	}
	return list
}

func TestEachFailureOfEachMessageIsRunAndTheSmallestBrokenCaseIsFirst(t *testing.T) {
	s := searchFor(mistake{"commit", "reply-lost", ""}, mistake{"insert", "refused", ""}, mistake{"update", "refused", "refused"})
	s.Depth, s.Samples = 2, 1000
	r := s.Do(t.Context())
	if got := r.First; got.Verdict != Held || len(got.Messages) != 4 || got.Case != nil {
		t.Errorf("the first run is %+v", got)
	}
	if got := casesOf(r)[:8]; !reflect.DeepEqual(got, []string{
		"find/shop.orders/1:reply-lost held", "find/shop.orders/1:refused held",
		"insert/shop.orders/1:reply-lost held", "insert/shop.orders/1:refused broken",
		"update/shop.orders/1:reply-lost held", "update/shop.orders/1:refused held",
		"commit/shop.orders/1:reply-lost broken", "commit/shop.orders/1:refused held",
	}) {
		t.Errorf("%q", got)
	}
	broken := r.Broken()
	if len(broken) < 3 || broken[0].Case.String() != "insert/shop.orders/1:refused" || broken[1].Case.String() != "commit/shop.orders/1:reply-lost" {
		t.Fatalf("%d broken, the first is %v", len(broken), broken[0].Case)
	}
	if got := broken[2].Case.String(); got != "find/shop.orders/1:refused+update/shop.orders/1:refused" {
		t.Errorf("the smallest pair is %s", got)
	}
	if !r.Failing() || r.Left != 0 {
		t.Errorf("failing %t, left %d", r.Failing(), r.Left)
	}
}

// Pairs go on only from runs that held, and also strike the messages that only the first failure made the program send.
func TestPairsGoOnFromRunsThatHeld(t *testing.T) {
	s := searchFor(mistake{"find", "refused", ""})
	s.Depth, s.Samples = 2, 1000
	list := casesOf(s.Do(t.Context()))
	if !slices.Contains(list, "update/shop.orders/1:reply-lost+update/shop.orders/2:refused held") {
		t.Errorf("no second strike at the message that is sent again: %q", list)
	}
	if slices.ContainsFunc(list, func(name string) bool { return len(name) > 30 && name[:27] == "find/shop.orders/1:refused+" }) {
		t.Errorf("a pair goes on from a broken run: %q", list)
	}
}

func TestTheReportIsTheSameHoweverManyRunsGoAtOnce(t *testing.T) {
	var want *Report
	for _, parallel := range []int{1, 2, 7, 0} {
		s := searchFor(mistake{"update", "reply-lost", ""}, mistake{"commit", "refused", "refused"})
		s.Parallel, s.Depth, s.Samples, s.Seed = parallel, 3, 20, 5
		r := s.Do(t.Context())
		r.Failures = nil // functions cannot be compared
		if want == nil {
			want = r
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%d at once: %q, want %q", parallel, casesOf(r), casesOf(want))
		}
	}
	if n := len(want.Outcomes); n != 8+20+20 {
		t.Errorf("%d runs, want all single ones and twice 20", n)
	}
}

func TestOnlyTheChosenMessagesAreStruck(t *testing.T) {
	s := searchFor()
	s.Depth, s.Samples, s.Chosen = 2, 1000, func(m Message) bool { return m.Command == "insert" }
	r := s.Do(t.Context())
	want := []string{
		"insert/shop.orders/1:reply-lost held", "insert/shop.orders/1:refused held",
		"insert/shop.orders/1:reply-lost+insert/shop.orders/2:reply-lost held", "insert/shop.orders/1:reply-lost+insert/shop.orders/2:refused held",
	}
	if got := casesOf(r); !reflect.DeepEqual(got, want) || r.Failing() {
		t.Errorf("%q, failing %t; want %q", got, r.Failing(), want)
	}
	s.Chosen = func(Message) bool { return false }
	if r := s.Do(t.Context()); len(r.Outcomes) != 0 || !r.Failing() {
		t.Errorf("without a chosen message: %q, failing %t", casesOf(r), r.Failing())
	}
}

func TestOneCaseAlone(t *testing.T) {
	for name, want := range map[string]struct {
		verdict Verdict
		failing bool
	}{
		"update/shop.orders/1:refused":                              {Held, false},
		"update/shop.orders/1:reply-lost":                           {Broken, true},
		"update/shop.orders/2:reply-lost":                           {NotReached, true},
		"update/shop.orders/1:refused+update/shop.orders/2:refused": {NotReached, true},
	} {
		s := searchFor(mistake{"update", "reply-lost", ""})
		only, err := ParseCase(name, fakeFailures)
		if err != nil {
			t.Fatal(err)
		}
		s.Only, s.Depth, s.Samples = only, 3, 10
		r := s.Do(t.Context())
		if len(r.Outcomes) != 1 || r.Outcomes[0].Verdict != want.verdict || r.Failing() != want.failing {
			t.Errorf("%s: %q, failing %t, want %v", name, casesOf(r), r.Failing(), want)
		}
	}
}

// A message of the first run that a later one does not send again says nothing about the case, and is no mistake.
func TestACaseThatIsNotReachedIsCounted(t *testing.T) {
	s := searchFor()
	s.Run = func(_ context.Context, c Case) Outcome {
		if len(c) > 0 && c[0].Message.Command == "commit" {
			return Outcome{Case: c}
		}
		return fake(c)
	}
	r := s.Do(t.Context())
	if r.Count(NotReached) != 2 || r.Failing() {
		t.Errorf("%q, failing %t", casesOf(r), r.Failing())
	}
}

func TestAProgramThatFailsWithoutAnyFailureIsNotExplored(t *testing.T) {
	for _, first := range []Outcome{{Problems: []string{"exit code 1"}}, {Verdict: Hung}, {Verdict: Leaked}} {
		runs := 0
		s := Search{Failures: fakeFailures, Run: func(context.Context, Case) Outcome { runs++; return first }}
		if r := s.Do(t.Context()); runs != 1 || !r.Failing() || len(r.Outcomes) != 0 {
			t.Errorf("%+v: %d runs, failing %t", first, runs, r.Failing())
		}
	}
}

// The runs that the end of the context cuts off say nothing. Those before it stay.
func TestTheEndOfTheContextEndsTheSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := searchFor()
	runs := 0
	s.Run = func(_ context.Context, c Case) Outcome {
		if runs++; runs == 4 { // of the search's eight, the third
			cancel()
			return Outcome{Case: c, Problems: []string{"context canceled"}, Unstoppable: true}
		}
		return fake(c)
	}
	s.Depth, s.Samples = 2, 5
	r := s.Do(ctx)
	if len(r.Outcomes) != 2 || r.Left != 6 || len(r.Broken()) != 0 || !r.Failing() || runs != 4 {
		t.Errorf("%q, %d left, %d runs, failing %t", casesOf(r), r.Left, runs, r.Failing())
	}
}

func TestTheEndOfTheContextInTheFirstRunLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := searchFor()
	s.Run = func(_ context.Context, c Case) Outcome {
		cancel()
		return Outcome{Case: c, Problems: []string{"context canceled"}}
	}
	r := s.Do(ctx)
	if r.First.Verdict != "" || r.Left != 1 || !r.Failing() {
		t.Errorf("%+v", r)
	}
}

// A run that cannot be stopped is reported. Those that go on at that time are cut off, and none follows.
func TestARunThatCannotBeStoppedEndsTheSearch(t *testing.T) {
	s := searchFor()
	s.Parallel = 2
	var begun atomic.Int32
	both := make(chan struct{})
	s.Run = func(ctx context.Context, c Case) Outcome {
		if c == nil {
			return fake(c)
		}
		if begun.Add(1) == 2 {
			close(both)
		}
		<-both
		if c.String() == "find/shop.orders/1:refused" {
			return Outcome{Case: c, Verdict: Hung, Unstoppable: true, Dump: "goroutine 7"}
		}
		<-ctx.Done()
		return fake(c)
	}
	r := s.Do(t.Context())
	if got := casesOf(r); !reflect.DeepEqual(got, []string{"find/shop.orders/1:refused hung"}) || r.Left != 7 || !r.Failing() {
		t.Errorf("%q, %d left", got, r.Left)
	}
	if t.Context().Err() != nil || begun.Load() != 2 {
		t.Errorf("%d runs began", begun.Load())
	}
}

func TestProgressCountsTheRuns(t *testing.T) {
	s := searchFor()
	s.Depth, s.Samples, s.Parallel = 2, 3, 4
	var mu sync.Mutex
	var ended []int
	known := map[int]bool{}
	s.Progress = func(e, k int) {
		if !mu.TryLock() {
			t.Error("two goroutines report progress at once")
			return
		}
		defer mu.Unlock()
		ended = append(ended, e)
		known[k] = true
	}
	s.Do(t.Context())
	if !reflect.DeepEqual(ended, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) || !reflect.DeepEqual(known, map[int]bool{8: true, 11: true}) {
		t.Errorf("%v of %v", ended, known)
	}
}

func TestMoreMessagesThanBeforeDiffer(t *testing.T) {
	learned := []Message{message("find", 1), message("insert", 1)}
	for _, c := range []struct {
		sent []Message
		want bool
	}{
		{[]Message{message("find", 1), message("insert", 1)}, false},
		{[]Message{message("insert", 1), message("find", 1), message("update", 1)}, false},
		{[]Message{message("find", 1), message("find", 2), message("insert", 1)}, true},
		{slices.Concat(learned, learned, learned), true},
	} {
		o := Outcome{Messages: c.sent, Struck: []int{len(c.sent) - 1}}
		if o.differs(slices.Clip(learned)) != c.want {
			t.Errorf("%v: differs %t", c.sent, !c.want)
		}
	}
}
