package main

import (
	"encoding/json"
	"encoding/xml"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

func TestTheReportsOfAnExplorationAreWritten(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	code, stdout, stderr := holdfast(t.Context(), "explore", "--standalone", "--failures", "reply-lost", "--check", "counter check",
		"--json", file("r.json"), "--junit", file("r.xml"), "--html", file("r.html"), "--", "counter", "blind")
	if code != exitUnexpected {
		t.Fatalf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var report struct {
		Program string
		Runs    []struct {
			Verdict string
			Log     []string
		}
	}
	if err := json.Unmarshal(read("r.json"), &report); err != nil || report.Program != "counter blind" || len(report.Runs) != 1 || report.Runs[0].Verdict != "broken" {
		t.Errorf("%v: %+v", err, report)
	} else if log := report.Runs[0].Log; len(log) != 2 || !strings.HasPrefix(log[0], "counter: again after") || !strings.HasPrefix(log[1], "counter: the counter was") {
		t.Errorf("the log is %q", log)
	}
	var suites struct {
		Suite struct {
			Failures int `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(read("r.xml"), &suites); err != nil || suites.Suite.Failures != 1 {
		t.Errorf("%v: %+v", err, suites)
	}
	if page := string(read("r.html")); !strings.Contains(page, "<h1>holdfast explore: counter blind</h1>") || !strings.HasSuffix(strings.TrimSpace(page), "</html>") {
		t.Errorf("the page is %.200s", page)
	}
}

// A program that outlives its budget is killed with what it has started: the connection of that to the test ends.
func TestAProgramThatHangsIsKilledWithItsProcesses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ended := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = c.Read(make([]byte, 1))
		}
		ended <- err
	}()
	code, stdout, _ := holdfast(t.Context(), "explore", "--budget", "3s", "--", "sh", "-c", "echo begun; counter hang "+l.Addr().String()+"; echo never")
	if code != exitUnexpected || !strings.Contains(stdout, "begun\n") || !strings.Contains(stdout, "the program was killed: the run has taken longer than its budget of 3s") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the process that the program started sent something")
		}
	case <-time.After(programLimit):
		t.Error("the process that the program started goes on")
	}
}

func TestTheExitCodeOfAProgram(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -9 $$": 137, "kill -TERM $$": 143} {
		c := child{args: []string{"sh", "-c", script}, output: new(tail)}
		state, err := c.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := exitCodeOf(state); got != want {
			t.Errorf("%s: %d, want %d", script, got, want)
		}
	}
}

// A process that a program leaves, and that keeps its output open, delays nothing for long, and does not hide the exit code.
func TestAProcessThatIsLeftDelaysNothing(t *testing.T) {
	c := child{args: []string{"sh", "-c", "sleep 1000 & echo over"}, output: new(tail)}
	state, err := c.run(t.Context())
	if err != nil || exitCodeOf(state) != 0 || !slices.Equal(c.output.lines(), []string{"over"}) {
		t.Errorf("%v, %v, %q", state, err, c.output.lines())
	}
}

func TestATailKeepsTheEnd(t *testing.T) {
	var short, long tail
	for _, text := range []string{"one \r\n", "two\n\nthr", "ee\xff"} {
		if n, err := short.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, want := short.lines(), []string{"one", "two", "", "three\uFFFD"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	line := strings.Repeat("x", 999) + "\n"
	for range 100 {
		_, _ = long.Write([]byte(line))
	}
	_, _ = long.Write([]byte("the end"))
	got := long.lines()
	if len(long.text) != tailLimit || got[0] != "..." || got[1] != strings.TrimSpace(line) || got[len(got)-1] != "the end" || len(got) != 2+tailLimit/1000 {
		t.Errorf("%d bytes, %d lines: %.20q to %q", len(long.text), len(got), got[0], got[len(got)-1])
	}
}

func TestWordsAreQuotedForAShell(t *testing.T) {
	const want = `./shop '--name=it'\''s' '' 'a b' 'x>y' größe`
	if got := quotedWords([]string{"./shop", "--name=it's", "", "a b", "x>y", "größe"}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheExitCodeOfAnExploration(t *testing.T) {
	held := explore.Outcome{Verdict: explore.Held}
	for _, c := range []struct {
		name   string
		report explore.Report
		want   int
	}{
		{"all held", explore.Report{First: held, Outcomes: []explore.Outcome{held}}, exitOK},
		{"one not reached", explore.Report{First: held, Outcomes: []explore.Outcome{held, {Verdict: explore.NotReached}}}, exitOK},
		{"one broken", explore.Report{First: held, Outcomes: []explore.Outcome{held, {Verdict: explore.Broken}}}, exitUnexpected},
		{"one hung", explore.Report{First: held, Outcomes: []explore.Outcome{{Verdict: explore.Hung}}}, exitUnexpected},
		{"the first broken", explore.Report{First: explore.Outcome{Verdict: explore.Broken}}, exitUnexpected},
		{"nothing to explore", explore.Report{First: held}, exitCannotRun},
		{"the only one not reached", explore.Report{First: held, Only: make(explore.Case, 1), Outcomes: []explore.Outcome{{Verdict: explore.NotReached}}}, exitUnexpected},
	} {
		err := exploreVerdict(&session{ctx: t.Context()}, &c.report)
		if code := exitCode(err, new(strings.Builder)); code != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, code, c.want)
		}
	}
}
