package prove

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// sampleExplored is an exploration with strategies of all kinds.
func sampleExplored() *Explored {
	run := func(step, failure string) ExploredRun {
		return ExploredRun{Message: 1, Step: step, Failure: failure, Acknowledged: true, Applied: 1}
	}
	flawed := func(step, failure string, flaw Flaw) ExploredRun {
		r := run(step, failure)
		r.Flaw = flaw
		return r
	}
	lost, failed, unreached, broke := run("update", "request-lost"), run("update", "reply-lost"), run("update", "silence"), run("update", "error-2")
	lost.Acknowledged, lost.Applied = false, 0
	failed.Acknowledged = false
	unreached.NotReached = true
	broke.Error = "audit: numbers differ"
	return &Explored{Failures: 3, Seconds: 1.26, Strategies: []ExploredStrategy{
		{Title: "honest", Runs: []ExploredRun{lost, failed, run("update", "overload")}},
		{Title: "blind", Runs: []ExploredRun{
			flawed("first step", "reply-lost", FlawExtra), flawed("first step", "silence", FlawExtra), flawed("second step", "silence", FlawMissing), run("second step", "overload"),
		}},
		{Title: "always wrong", Without: flawed("", "", FlawExtra)},
		{Title: "never runs", Without: ExploredRun{Error: "starting a server"}},
		{Title: "silent", Runs: []ExploredRun{run("update", "overload"), unreached, broke}},
		{Title: "halved", Runs: []ExploredRun{run("update", "overload")}, Interrupted: true},
		{Title: "not begun", Interrupted: true},
	}}
}

func TestTheSectionAboutTheExploration(t *testing.T) {
	r := sample()
	const want = `Every failure at each message of one operation: 3 failures, 18 runs, 1.3 s
  honest        right in all 3 cases, 2 of them honest errors (1 not applied)
  blind         wrong in 3 of 4 cases: extra at the first step with reply-lost, silence; missing at the second step with silence
  always wrong  wrong without any failure: extra
  never runs    no result without any failure: starting a server
  silent        right in 1 of 3 cases, 0 of them honest errors (0 not applied); the update with silence: not reached; the update with error-2: no result, audit: numbers differ
  halved        right in 1 case, 0 of them honest errors (0 not applied); interrupted
  not begun     interrupted
`
	var b bytes.Buffer
	if err := r.WriteText(&b, 400, false); err != nil || !strings.Contains(b.String(), want) {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	r.Explored = nil
	if err := r.WriteText(&b, 400, false); err != nil || strings.Contains(b.String(), "each message of one operation") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestTheExplorationInJSON(t *testing.T) {
	r := sample()
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var d struct{ Explored *Explored }
	if err := json.Unmarshal(b.Bytes(), &d); err != nil || len(d.Explored.Strategies) != 7 || d.Explored.Strategies[1].Runs[2].Flaw != FlawMissing {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	r.Explored = nil
	if err := r.WriteJSON(&b); err != nil || strings.Contains(b.String(), `"explored"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}
