package prove

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A timer that is late during a cell takes its verdict, which the cell gets back when it runs alone and the timers are in time.
func TestACellThatTheMachineDisturbedRunsAgainAlone(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, then time.Duration // how late a timer is in the first run and in those alone
		runsAlone   int
		events      string
		want        Result
	}{
		{"in time", 0, 0, 1, "begins, ends", Result{}},
		{"late, then in time", time.Hour, 0, 1, "begins, disturbed, begins, ends", Result{Repeats: 1, Alone: true}},
		{"late again", time.Hour, time.Hour, 2, "begins, disturbed, begins, ends", Result{Repeats: 2, Alone: true, Busy: true}},
		{"late, and not run again", time.Hour, 0, 0, "begins, ends", Result{Busy: true}},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := embeddedMatrix(t, Memory(), []string{NoRetry}, []string{"command-error"})
			m.Settings.Size.Operations, m.Settings.Size.MessageHits, m.Settings.RunsAlone = 5, 1, c.runsAlone
			var events []string
			m.Progress = func(e Event) { events = append(events, wordOf(e)) }
			r := &run{Matrix: m, report: &Report{Results: make([]Result, 1)}}
			r.probes.due = []time.Time{time.Now().Add(24*time.Hour - 25*c.first)}
			if !r.settle(t.Context(), 0) {
				r.probes.due[0] = time.Now().Add(24*time.Hour - 25*c.then)
				r.alone(t.Context(), 0)
			}
			got := r.report.Results[0]
			if got.Busy != c.want.Busy || got.Alone != c.want.Alone || got.Repeats != c.want.Repeats || got.AsExpected() == c.want.Busy {
				t.Errorf("%s: busy %t, alone %t, %d repeats, as expected %t", c.name, got.Busy, got.Alone, got.Repeats, got.AsExpected())
			}
			if all := strings.Join(events, ", "); all != c.events {
				t.Errorf("%s: %s; want %s", c.name, all, c.events)
			}
		})
	}
}

func wordOf(e Event) string {
	switch {
	case e.Disturbed:
		return "disturbed"
	case e.Result == nil:
		return "begins"
	}
	return "ends"
}

// A cell without a verdict because the machine was busy is neither right nor wrong.
func TestACellWithoutAVerdictIsNeitherExpectedNorUnexpected(t *testing.T) {
	s := MongoDB.DefaultSettings()
	r := &Report{Backend: MongoDB, Settings: s, Strategies: MongoDB.Strategies()[:2], Failures: MongoDB.Failures()[:1]}
	busy := Result{Strategy: FiveBlind, Failure: "request-lost", Verdict: OverCounts}
	busy.disturb(120*time.Millisecond, 100*time.Millisecond)
	intime := Result{Strategy: NoRetry, Failure: "request-lost"}
	intime.disturb(90*time.Millisecond, 100*time.Millisecond)
	r.Results = []Result{intime, busy}
	if len(r.Unexpected()) != 0 || len(r.Disturbed()) != 1 || r.Shown() != 1 {
		t.Errorf("unexpected %v, disturbed %v, shown %d", r.Unexpected(), r.Disturbed(), r.Shown())
	}
	var text, document bytes.Buffer
	if err := r.WriteText(&text, 200, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"? no verdict", "? request-lost, five-blind: no verdict: the machine was busy (a timer fired 120 ms late, and more than 100 ms may change",
		"Right: no retry; 1 of 2 cells as expected, 1 without a verdict because the machine was busy.",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if err := r.WriteJSON(&document); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Cells []struct {
			Busy bool `json:"machine_busy"`
		} `json:"cells"`
		AsExpected bool     `json:"as_expected"`
		Unexpected []string `json:"unexpected"`
		NoVerdict  []string `json:"no_verdict"`
	}
	if err := json.Unmarshal(document.Bytes(), &d); err != nil || d.AsExpected || len(d.Unexpected) != 0 || len(d.NoVerdict) != 1 ||
		d.NoVerdict[0] != "five-blind/request-lost" || d.Cells[0].Busy || !d.Cells[1].Busy {
		t.Errorf("%v\n%s", err, document.String())
	}
}
