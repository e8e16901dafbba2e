package explorereport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-db/holdfast/internal/explore"
)

func message(command, target string, ordinal int) explore.Message {
	return explore.Message{Command: command, Target: target, Ordinal: ordinal, Write: command != "find"}
}

// eventsOf are the events of a run in which the reply of a message is lost.
func eventsOf(m explore.Message) []explore.Event {
	again := m
	again.Ordinal++
	return []explore.Event{
		{Who: "program", Words: "began"},
		{At: 3 * time.Millisecond, Who: "member 2", Message: &m, Words: "executed, the <reply> is lost", Struck: true, Changed: true, Lost: true},
		{At: 5 * time.Millisecond, Who: "cluster", Words: "member 2 died", Struck: true},
		{At: 90 * time.Millisecond, Who: "member 1", Message: &again, Words: "executed", Changed: true},
		{At: 99 * time.Millisecond, Who: "program", Words: "ended with exit code 1"},
	}
}

// aReport has a run of each verdict, with one failure and with two.
func aReport() *Report {
	find, update := message("find", "shop.orders", 1), message("update", "shop.orders", 1)
	one := func(m explore.Message, failure string) explore.Case {
		return explore.Case{{Message: m, Failure: failure}}
	}
	second := message("update", "shop.orders", 2)
	r := &explore.Report{
		Seed: 7,
		Failures: []explore.Failure{
			{Name: "reply-lost", Title: "the reply is lost after the server executed it"},
			{Name: "primary-killed", Title: "the primary dies"},
		},
		First: explore.Outcome{Verdict: explore.Held, Messages: []explore.Message{find, update, message("commitTransaction", "", 1)}, Took: 20 * time.Millisecond},
	}
	r.Outcomes = []explore.Outcome{
		{Case: one(find, "reply-lost"), Verdict: explore.Held, Took: 10 * time.Millisecond, Events: eventsOf(find)},
		{Case: one(find, "primary-killed"), Verdict: explore.NotReached},
		{
			Case: one(update, "reply-lost"), Verdict: explore.Broken, Took: 1500 * time.Millisecond, Messages: []explore.Message{find, update, second},
			Problems: []string{"exit code 1"}, Log: []string{"paid <twice>"}, Events: eventsOf(update),
		},
		{Case: one(update, "primary-killed"), Verdict: explore.Hung, Dump: "goroutine 1 [select]"},
		{Case: append(one(find, "reply-lost"), explore.Strike{Message: second, Failure: "reply-lost"}), Verdict: explore.Leaked},
	}
	return &Report{Report: r, Program: "./shop --all", Repeat: func(c explore.Case) string { return "holdfast explore --only '" + c.String() + "' -- ./shop --all" }}
}

// golden compares an output with a file. UPDATE_GOLDEN=1 writes the file.
func golden(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, b.String(), want)
	}
	return b.String()
}

func TestTheTextHasATableAndTheSmallestBrokenCase(t *testing.T) {
	golden(t, "report.txt", func(w io.Writer) error { return aReport().WriteText(w, 100, false) })
}

func TestTheTextOfOneCaseHasNoTable(t *testing.T) {
	r := aReport()
	r.Outcomes = r.Outcomes[2:3]
	r.Only = r.Outcomes[0].Case
	var b bytes.Buffer
	if err := r.WriteText(&b, 100, true); err != nil || !strings.HasPrefix(b.String(), "message 2 of 3 (update shop.orders): the reply is lost") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// Twelve messages and thirty failures fit into a hundred columns, also with colours, and into fifty.
func TestTheTableFitsTheTerminal(t *testing.T) {
	r := large()
	for _, columns := range []int{50, 60, 100, 160} {
		var plain, coloured bytes.Buffer
		if r.WriteText(&plain, columns, false) != nil || r.WriteText(&coloured, columns, true) != nil {
			t.Fatal("it cannot be written")
		}
		table, _, _ := strings.Cut(plain.String(), "\n\n")
		for row := range strings.Lines(table) {
			if width := lipgloss.Width(strings.TrimSuffix(row, "\n")); width > max(columns, otherColumns+leastMessage) {
				t.Errorf("%d columns: a row has %d: %q", columns, width, row)
			}
		}
		if table, _, _ := strings.Cut(coloured.String(), "\n\n"); !strings.Contains(table, "\x1b[31m") || lipgloss.Height(table) < 13 {
			t.Errorf("%d columns, coloured: %s", columns, table)
		}
	}
}

func TestNamesAreNotBroken(t *testing.T) {
	got := wrapNames([]string{"reply-lost", "half-reply", "write-concern-64", "a-name-that-is-longer-than-the-width", "silence"}, 24)
	want := []string{"reply-lost, half-reply,", "write-concern-64,", "a-name-that-is-longer-than-the-width,", "silence"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheJSON(t *testing.T) {
	text := golden(t, "report.json", aReport().WriteJSON)
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil || !d.Failing || len(d.Runs) != 5 || d.Runs[2].Case != "update/shop.orders/1:reply-lost" {
		t.Errorf("%v: %+v", err, d)
	}
	only := aReport()
	only.Only = only.Outcomes[0].Case
	if d := only.document(); d.Only != "find/shop.orders/1:reply-lost" {
		t.Errorf("%+v", d)
	}
}

func TestTheJUnitXML(t *testing.T) {
	r := aReport()
	r.Left = 3
	text := golden(t, "report.xml", r.WriteJUnit)
	var d junitSuites
	if err := xml.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if s := d.Suite; s.Tests != 7 || s.Tests != len(s.Cases) || s.Failures != 3 || s.Errors != 1 || s.Skipped != 1 {
		t.Errorf("%+v", s)
	}
}

func TestTheJUnitXMLOfAFirstRunThatFails(t *testing.T) {
	r := &Report{Report: &explore.Report{First: explore.Outcome{Verdict: explore.Broken, Problems: []string{"exit code 1\x00"}}}}
	var b bytes.Buffer
	if err := r.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	if want := `<testcase classname="exploration" name="without failures" time="0.000">` + "\n      <failure message=\"exit code 1\uFFFD\" type=\"broken\">"; !strings.Contains(b.String(), want) {
		t.Errorf("it does not have %s:\n%s", want, b.String())
	}
	var d junitSuites
	if err := xml.Unmarshal(b.Bytes(), &d); err != nil || d.Suite.Failures != 1 || d.Suite.Tests != 1 {
		t.Errorf("%v: %+v", err, d)
	}
}

// large has twelve messages and thirty failures.
func large() *Report {
	r := &explore.Report{First: explore.Outcome{Verdict: explore.Held}}
	r.First.Messages = []explore.Message{
		message("find", "shop.customers", 1), message("find", "shop.orders", 1), message("insert", "shop.orders", 1),
		message("update", "shop.stock", 1), message("update", "shop.stock", 2), message("findAndModify", "shop.counters", 1),
		message("insert", "shop.payments", 1), message("update", "shop.orders", 1), message("commitTransaction", "", 1),
		message("aggregate", "shop.orders", 1), message("getMore", "shop.orders", 1), message("update", "shop.a_collection_with_quite_a_long_name_in_it", 1),
	}
	for i := range 30 {
		r.Failures = append(r.Failures, explore.Failure{Name: fmt.Sprintf("failure-with-name-%d", i+1), Title: fmt.Sprintf("the failure with number %d happens", i+1)})
	}
	for m := range r.First.Messages {
		for f := range r.Failures {
			o := explore.Outcome{Verdict: explore.Held, Events: eventsOf(r.First.Messages[m])}
			o.Case = explore.Case{{Message: r.First.Messages[m], Failure: r.Failures[f].Name}}
			switch {
			case (m*7+f*5)%23 == 0:
				o.Verdict, o.Problems, o.Log = explore.Broken, []string{"the payment is there twice\nwant once"}, []string{"retrying"}
			case (m+f)%11 == 0:
				o.Verdict = explore.NotReached
			case (m+f)%7 == 0:
				continue
			}
			r.Outcomes = append(r.Outcomes, o)
		}
	}
	return &Report{Report: r, Program: "./shop", Repeat: func(c explore.Case) string { return "holdfast explore --only '" + c.String() + "' -- ./shop" }}
}
