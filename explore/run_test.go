package explore_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
	search "github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongo"
)

// contains fails the test unless a text has each of the parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the report has no %q:\n%s", p, text)
		}
	}
}

func TestAProgramWithoutAMistakeIsSilent(t *testing.T) {
	for name, opts := range map[string][]explore.Option{
		"a replica set":     {explore.InMemory()},
		"a standalone":      {explore.InMemory(), explore.Standalone()},
		"a sharded cluster": {explore.InMemory(), explore.Sharded(3, 2)},
		"two failures":      {explore.InMemory(), explore.Depth(2), explore.Samples(60)},
	} {
		t.Run(name, func(t *testing.T) { explore.Run(t, addOnce, opts...) })
	}
}

func TestOverTCP(t *testing.T) {
	report, text := explore.Report(t, "", addBlindly, explore.Failures(explore.ReplyLost, explore.Refused(2), explore.KilledDuring))
	if len(report.Broken()) != 0 || report.Count(search.Held) != 3 {
		t.Error(text)
	}
}

func TestTheReportNamesTheSmallestCase(t *testing.T) {
	report, text := explore.Report(t, "", addBlindly, explore.InMemory())
	if !report.Failing() {
		t.Fatal("no mistake was found")
	}
	if program, server := strings.Index(text, "program    add returned"), strings.Index(text, "member 0   update"); server < 0 || program < server {
		t.Errorf("the events are not in their order:\n%s", text)
	}
	contains(t, text,
		"message 1 of 1 (update shop.counters): the server executes this, and reports write concern error 64",
		"add returned <nil>", "the check found: the counter is 2, wanted [1]", "HOLDFAST_EXPLORE='update/shop.counters/1:write-concern-64' go test -run '^TestTheReportNamesTheSmallestCase$'")
}

func TestOneCaseAlone(t *testing.T) {
	report, text := explore.Report(t, "update/shop.counters/1:write-concern-64", addBlindly, explore.InMemory())
	if len(report.Outcomes) != 1 || !report.Failing() {
		t.Error(text)
	}
	report, text = explore.Report(t, "update/shop.counters/2:reply-lost", addOnce, explore.InMemory())
	if len(report.Outcomes) != 1 || !report.Failing() || report.Count(search.NotReached) != 1 {
		t.Error(text)
	}
}

// The second failure is at a message that only the first one makes the program send.
func TestPairsReachTheMessagesOfRetries(t *testing.T) {
	report, text := explore.Report(t, "", addOnce, explore.InMemory(), explore.Failures(explore.ReplyLost, explore.RequestLost), explore.Depth(2))
	pair := "update/shop.counters/1:reply-lost+update/shop.counters/2:request-lost"
	for _, o := range report.Outcomes {
		if o.Case.String() == pair && o.Verdict == search.Held {
			return
		}
	}
	t.Errorf("%s was not run:\n%s", pair, text)
}

// failing is a function that fails without any failure of the servers, and what the report must have.
type failing struct {
	name string
	run  func(*explore.Exploration)
	want []string
	opts []explore.Option
}

func (f *failing) test(t *testing.T) {
	t.Helper()
	report, text := explore.Report(t, "", f.run, f.opts...)
	if !report.Failing() {
		t.Error("the exploration passes")
	}
	contains(t, text, f.want...)
}

func TestARunThatFailsInAnotherWay(t *testing.T) {
	for _, f := range []failing{
		{"a panic", func(*explore.Exploration) { panic("oh") }, []string{"panic: oh", "run_test.go"}, nil},
		{"Fatalf", func(e *explore.Exploration) { e.Fatalf("no %s", "way") }, []string{"no way"}, nil},
		{"FailNow", func(e *explore.Exploration) { e.FailNow() }, []string{"FailNow"}, nil},
		{"FailNow in a cleanup", func(e *explore.Exploration) {
			e.Cleanup(func() { e.Errorf("the other cleanup") })
			e.Cleanup(func() { e.FailNow() })
		}, []string{"FailNow", "the other cleanup"}, nil},
		{"a wait that never ends", func(e *explore.Exploration) {
			connect(e)
			<-make(chan struct{})
		}, []string{"longer than its budget of 1h0m0s", "run_test.go"}, []explore.Option{explore.InMemory()}},
		{
			"a wait that its context ends", func(e *explore.Exploration) { <-e.Context().Done() },
			[]string{"longer than its budget of 1h0m0s", "run_test.go"},
			[]explore.Option{explore.InMemory()},
		},
		{
			"a goroutine is left", func(*explore.Exploration) { go func() { <-make(chan struct{}) }() },
			[]string{"goroutines that it started wait for ever", "run_test.go"},
			[]explore.Option{explore.InMemory()},
		},
		{"a goroutine ticks on", func(*explore.Exploration) {
			go func() {
				for range time.Tick(time.Second) {
				}
			}()
		}, []string{"goroutines that it started wait for ever", "run_test.go"}, []explore.Option{explore.InMemory()}},
		{"a client is left", func(e *explore.Exploration) {
			_, _ = mongo.Connect(options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()))
		}, []string{"goroutines that it started wait for ever", "monitor"}, []explore.Option{explore.InMemory()}},
		{"no message", func(*explore.Exploration) {}, []string{"nothing to explore"}, nil},
		{"no failure concerns a message", addOnce, []string{"nothing to explore"}, []explore.Option{explore.Failures(explore.CursorLost)}},
		{"no message is chosen", addOnce, []string{"nothing to explore"}, []explore.Option{explore.Messages(func(explore.Message) bool { return false })}},
	} {
		t.Run(f.name, f.test)
	}
}

// The limits of the real clock.
func TestARunThatDoesNotEnd(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	for _, f := range []failing{
		{
			"over TCP, a wait that never ends", func(*explore.Exploration) { <-end },
			[]string{"longer than its budget of 20ms", "run_test.go"},
			[]explore.Option{explore.Budget(20 * time.Millisecond)},
		},
		{"over TCP, a goroutine is left", func(*explore.Exploration) { go func() { <-end }() }, []string{"is every client closed?", "run_test.go"}, nil},
		{
			"in memory, a wait for what is outside", func(*explore.Exploration) { <-end },
			[]string{"outside of its bubble", "run_test.go"},
			[]explore.Option{explore.InMemory()},
		},
		{
			"in memory, a goroutine that waits for what is outside", func(*explore.Exploration) { go func() { <-end }() },
			[]string{"goroutines that it started go on", "run_test.go"},
			[]explore.Option{explore.InMemory()},
		},
	} {
		f.opts = append(f.opts, explore.Hurry())
		t.Run(f.name, f.test)
	}
}

func TestGoroutinesMayBeLeft(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	_, text := explore.Report(t, "", func(e *explore.Exploration) {
		go func() { <-end }()
		addOnce(e)
	}, explore.AllowLeaks(), explore.Failures(explore.ReplyLost))
	contains(t, text, "1 run, 1 message, 1 failure, 0 broken")
}

// In memory the same seed gives the same report.
func TestTheReportIsTheSame(t *testing.T) {
	_, first := explore.Report(t, "", addBlindly, explore.InMemory(), explore.Depth(2), explore.Samples(20))
	for range 3 {
		if _, again := explore.Report(t, "", addBlindly, explore.InMemory(), explore.Depth(2), explore.Samples(20)); again != first {
			t.Fatalf("the report was\n%s\nand is now\n%s", first, again)
		}
	}
}

// After the failures a client has seen that they ended: a check with short timeouts says nothing about the program.
func TestACheckFindsItsServersAgain(t *testing.T) {
	explore.Run(t, func(e *explore.Exploration) {
		o := options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()).SetServerSelectionTimeout(time.Second).SetRetryReads(false).SetRetryWrites(false)
		o.SetServerMonitoringMode(options.ServerMonitoringModePoll)
		client, err := mongo.Connect(o)
		if err != nil {
			e.Fatalf("%v", err)
		}
		defer func() { _ = client.Disconnect(e.Context()) }()
		_ = add(e.Context(), client)
		e.Check(func() error { return has(e.Context(), client, 0, 1) })
	}, explore.InMemory())
}
