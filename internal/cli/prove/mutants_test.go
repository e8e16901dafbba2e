package prove

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// control is a negative control: the experiment must notice this defect. Here are the defects of clients around a sound one; those inside the
// servers, the clients and the experiment are in the files with the build tag defects.
type control struct {
	name string
	// strategy is retryable writes, and failure is mixed, unless the control has others.
	strategy, failure string
	adjust            func(*trial)
	// shows are the elements of the verdict that show the defect; a cell without a defect has none of them.
	shows Verdict
	// says is a part of the audit's error that shows the defect, if it is not the verdict that does.
	says string
}

var controls = []control{
	{name: "first-error-returned", failure: "reply-lost", shows: Misreports, adjust: func(tr *trial) { tr.dial = returnsFirstError(tr.dial) }},
	{name: "six-tries-in-an-outage", failure: "outage", shows: WastesTime, adjust: func(tr *trial) { tr.dial = triesSixTimes(tr.dial) }},
	{name: "every-write-sent-twice", strategy: TwoStep, failure: "request-lost", shows: WastesTime, adjust: func(tr *trial) {
		tr.dial = sendsTwice(tr.dial)
	}},
	{name: "finished-not-checked", strategy: Once, failure: "delayed-request", shows: OverCounts, adjust: func(tr *trial) {
		tr.dial = ignoresFinished(tr.dial)
	}},
	{name: "sweep-keeps-tokens", strategy: Once, failure: "command-error", shows: OverCounts, adjust: func(tr *trial) {
		tr.dial = sweepsAndKeeps(tr.dial)
	}},
	{name: "increments-idempotent", strategy: BestEffort, failure: "reply-lost", shows: OverCounts, adjust: func(tr *trial) {
		tr.do = func(ctx context.Context, d *doing) error { return d.withEngine(ctx, retry.Idempotent) }
	}},
}

// trial returns a cell of the command with the defect.
func (c control) trial(seed int) trial {
	tr := newTrial(RetryableWrites, seed)
	tr.settings = MongoDB.DefaultSettings()
	tr.settings.Seed, tr.settings.LoadLimit = uint64(seed), time.Hour // on the fake clock
	if c.strategy != "" {
		tr.strategy = c.strategy
	}
	if c.failure != "" {
		tr.failure = c.failure
	}
	if c.adjust != nil {
		c.adjust(&tr)
	}
	return tr
}

// caught reports whether the result shows the defect, and not something else.
func (c control) caught(r Result) bool {
	if c.says != "" {
		return strings.Contains(r.Error, c.says)
	}
	return r.Error == "" && r.Verdict&^(r.Expected.Must|r.Expected.May) == c.shows
}

func TestMutantsAreCaught(t *testing.T) {
	for _, c := range controls {
		t.Run(c.name, c.mustBeCaught)
	}
}

func (c control) mustBeCaught(t *testing.T) {
	caught := 0
	for i, r := range overSeeds(t, "seeds", c.trial) {
		if c.caught(r) {
			caught++
			continue
		}
		t.Errorf("seed %d: the mutant was not caught", i+1)
		explain(t, i+1, r)
	}
	figure("prove-mutants-caught-"+c.name, caught)
}
