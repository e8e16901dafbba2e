package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/webpage"
)

// doubled is the story of an operation whose reply is lost, and which is sent again.
func doubled() prove.Story {
	lost := prove.ReplyLost
	at := func(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
	return prove.Story{
		Operation: "w2_17", Writer: 2, Document: "counter-000", Flaws: []prove.Flaw{prove.FlawExtra}, Claim: prove.Applied, Applied: 2,
		Events: []prove.StoryEvent{
			{Kind: prove.OperationBegan, At: at(1203)},
			{Kind: prove.CallBegan, At: at(1203), Step: "update", Number: 1},
			{
				Kind: prove.MessageArrived, At: at(1203.4), Step: "update", Number: 1, Fault: &lost,
				Message: prove.StoryMessage{Server: 0, Effect: prove.Applies, Times: 1, NoReply: true},
			},
			{Kind: prove.CallEnded, At: at(1204), Step: "update", Number: 1, Error: "EOF <script>", Claim: prove.Unknown},
			{Kind: prove.CallBegan, At: at(1204), Step: "update", Number: 2},
			{
				Kind: prove.MessageArrived, At: at(1300), Step: "update", Number: 2,
				Message: prove.StoryMessage{Server: 0, Effect: prove.Applies, Times: 2},
			},
			{Kind: prove.CallEnded, At: at(1301), Step: "update", Number: 2, Claim: prove.Applied},
			{Kind: prove.OperationEnded, At: at(1301), Claim: prove.Applied},
		},
	}
}

// told returns the words of a story.
func told(s *prove.Story) string {
	t := newStory(s, "cell")
	lines := []string{t.Heading}
	for _, one := range t.Steps {
		lines = append(lines, "At "+one.Time+" "+one.Words)
	}
	return strings.Join(append(lines, t.Fate), "\n")
}

func TestAStoryIsToldInWords(t *testing.T) {
	s := doubled()
	const want = `Operation w2_17 was applied twice
At 1.203 s writer 2 began operation w2_17 on document counter-000.
At 1.203 s the strategy called the client for the update (call 1).
At 1.203 s message 1, the update, reached server 0. The server applied the operation. The connection broke before the reply. The client did not get it.
At 1.204 s the client returned an error (call 1): “EOF <script>”. The error leaves open whether the server applied the update.
At 1.204 s the strategy called the client for the update (call 2).
At 1.300 s message 2, the update, reached server 0. The server applied the operation again. It has applied it twice now.
At 1.301 s the client returned success (call 2).
At 1.301 s the strategy reported success to writer 2. For the writer the outcome is settled: applied.
At the end the document has the operation twice. The writer was told that it was applied. The count is too high.`
	if got := told(&s); got != want {
		t.Errorf("the story is\n%s\nwant\n%s", got, want)
	}
}

func TestEachEventHasItsSentence(t *testing.T) {
	killed, unnamed, requestLost := prove.PrimaryKilled, prove.ServerOverloaded, prove.RequestLost
	message := func(effect prove.Effect, fault *prove.FaultKind) prove.StoryEvent {
		return prove.StoryEvent{Kind: prove.MessageArrived, Step: "update", Number: 3, Fault: fault, Message: prove.StoryMessage{Server: 1, Effect: effect}}
	}
	refused := message(prove.Declined, nil)
	refused.Error = "error 13"
	unknown := message(prove.EffectUnknown, nil)
	unknown.Message.Server = -1
	delayedRequest := prove.RequestDelayed
	lateRequest := message(prove.Unchanged, &delayedRequest)
	lateRequest.Kind = prove.MessageExecuted
	swept := message(prove.Applies, nil)
	swept.Kind, swept.Message.Times = prove.Swept, 2
	late := message(prove.Applies, nil)
	late.Kind, late.Message.Times, late.Message.Lost = prove.MessageExecuted, 1, true
	for _, c := range []struct {
		event prove.StoryEvent
		want  string
	}{
		{prove.StoryEvent{Kind: prove.ClusterStruck, Fault: &killed}, "the primary died."},
		{prove.StoryEvent{Kind: prove.ClusterStruck, Fault: &killed, Number: 2, When: "before the reply"}, "the primary died (message 2: before the reply)."},
		{prove.StoryEvent{Kind: prove.ClusterStruck, Fault: &killed, When: "after the acknowledgement"}, "the primary died (after the acknowledgement)."},
		{prove.StoryEvent{Kind: prove.ClusterWritable, Fault: &killed}, "a new primary accepted writes."},
		{prove.StoryEvent{Kind: prove.ClusterRepaired, Fault: &killed}, "the member that had died came back."},
		{prove.StoryEvent{Kind: prove.ClusterStruck, Fault: &unnamed}, "the fault “overload” began."},
		{prove.StoryEvent{Kind: prove.ClusterWritable, Fault: &unnamed}, "the cluster accepted writes again."},
		{prove.StoryEvent{Kind: prove.ClusterRepaired, Fault: &unnamed}, "the fault “overload” ended."},
		{message(prove.NotExecuted, &requestLost), "message 3, the update, reached server 1. The connection broke before the server executed it."},
		{message(prove.NotExecuted, nil), "message 3, the update, reached server 1. The server did not execute it."},
		{message(prove.Pending, nil), "message 3, the update, reached server 1. The server did not execute it yet."},
		{refused, "message 3, the update, reached server 1. The server refused it: error 13."},
		{unknown, "message 3, the update, reached the server. The server executed it. This server has no journal, so the page cannot tell the effect."},
		{swept, "the sweep after the load found the first step of the operation. The server applied the operation again. It has applied it twice now."},
		{
			message(prove.Pending, &delayedRequest),
			"the client sent message 3, the update, to server 1. The connection broke, and the network held the message back.",
		},
		{lateRequest, "the network delivered message 3, the update, to server 1. The server executed it, and found nothing to change."},
		{late, "server 1 processed message 3, the update, which had waited. The server applied the operation. Later the cluster lost this change."},
		{
			prove.StoryEvent{Kind: prove.CallEnded, Step: "read", Number: 1, Error: `timeout | {"id":1}`, Claim: prove.NotApplied},
			"the client returned an error (call 1): “timeout”. The error says that the server did not apply the read.",
		},
		{
			prove.StoryEvent{Kind: prove.OperationEnded, Error: "x", Claim: prove.NotApplied},
			"the strategy reported an error to writer 2. For the writer the outcome is settled: not applied.",
		},
		{prove.StoryEvent{Kind: prove.OperationEnded, Error: "x"}, "the strategy reported an error to writer 2. The writer does not know the outcome."},
		{prove.StoryEvent{Kind: prove.EventsOmitted, Number: 9}, "more of the same began. This page leaves 9 events out here."},
	} {
		if got := sentence(&prove.Story{Writer: 2}, &c.event); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.event, got, c.want)
		}
	}
}

func TestALongErrorIsCut(t *testing.T) {
	if got := shortened(strings.Repeat("ü", 1000)); len([]rune(got)) != longestError+2 || !strings.HasSuffix(got, " …") {
		t.Errorf("%q", got)
	}
}

// aReport has one cell of each state.
func aReport(t *testing.T) *prove.Report {
	t.Helper()
	strategies, err := prove.MongoDB.StrategiesNamed([]string{prove.NoRetry, prove.FiveBlind, prove.OneRetry})
	if err != nil {
		t.Fatal(err)
	}
	failures, err := prove.MongoDB.FailuresNamed([]string{"reply-lost", "outage"})
	if err != nil {
		t.Fatal(err)
	}
	r := &prove.Report{Backend: prove.MongoDB, Settings: prove.MongoDB.DefaultSettings(), Strategies: strategies, Failures: failures}
	for _, f := range failures {
		for _, s := range strategies {
			r.Results = append(r.Results, prove.Result{Strategy: s.Name, Failure: f.Name})
		}
	}
	r.Results[0].Unavailable = "not ours to break"
	r.Results[1].Interrupted = true
	r.Results[2].Error = "audit: <b>no</b>"
	r.Results[3].NotShown = "3 of 200"
	r.Results[4].Verdict, r.Results[4].Stories = prove.OverCounts|prove.Loses, []prove.Story{doubled()}
	return r
}

func TestThePageHasEveryStateOfACell(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHTML(&b, aReport(t)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"○</b> <span>not available</span>", "not ours to break", "○</b> <span>interrupted</span>", "■</b> <span>error</span>", "audit: &lt;b&gt;no&lt;/b&gt;", "○</b> <span>not shown</span>", "3 of 200",
		"■</b> <span>over-counts</span>", "▲</b> <span>loses</span>", "not as expected (expected: right)", "●</b> <span>right</span>", "EOF &lt;script&gt;", `href="#outage--five-blind"`, `id="outage--five-blind"`,
		"No operation met a fault.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, not := range []string{"<script", "http:", "https:", " src=", "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
}

func TestThePageIsTheSameEachTime(t *testing.T) {
	r := aReport(t)
	r.Results[4].Hits = map[prove.FaultKind]prove.Hits{prove.ReplyLost: {}, prove.Outage: {}, prove.RequestLost: {}, prove.SteppedDown: {}}
	var first bytes.Buffer
	for n := range 20 {
		var b bytes.Buffer
		if err := WriteHTML(&b, r); err != nil {
			t.Fatal(err)
		}
		if n > 0 && !bytes.Equal(b.Bytes(), first.Bytes()) {
			t.Fatal("two pages of one report differ")
		}
		first = b
	}
}

func TestACellWithoutAVerdictSaysThatTheMachineWasBusy(t *testing.T) {
	busy := prove.Result{Strategy: "once", Failure: "outage", Verdict: prove.OverCounts, Busy: true, StalledSeconds: 0.25}
	c := newCell("exactly once", "outage", &busy)
	if len(c.Marks) != 1 || c.Marks[0] != (webpage.Mark{Tone: webpage.None, Words: "no verdict"}) || c.Odd || c.Expectation != "" ||
		!strings.HasPrefix(c.Why, "no verdict: the machine was busy (a timer fired 250 ms late") {
		t.Errorf("%+v", c)
	}
}
