package differential

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files testdata/cases/*.txt hold sequences of commands, one a line, each sequence from nothing: what it is about behind
// "#", and an empty line behind it. -cases names another file, to try something out: its replies are shown.
var tryCases = flag.String("cases", "", "a file of cases to ask both servers")

type caseSequence struct {
	about    string
	commands []string
}

func readCases(t testing.TB, file string) []caseSequence {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []caseSequence
	for block := range strings.SplitSeq(string(text), "\n\n") {
		var s caseSequence
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			if about, ok := strings.CutPrefix(line, "# "); ok {
				s.about = about
			} else if line != "" {
				s.commands = append(s.commands, line)
			}
		}
		if len(s.commands) > 0 {
			list = append(list, s)
		}
	}
	return list
}

func TestCases(t *testing.T) {
	p := newPair(t, "cases")
	files, _ := filepath.Glob(filepath.Join("testdata", "cases", "*.txt"))
	if *tryCases != "" {
		files = []string{*tryCases}
	}
	if len(files) == 0 {
		t.Fatal("testdata/cases is empty")
	}
	for _, file := range files {
		for _, s := range readCases(t, file) {
			if err := p.clear(); err != nil {
				t.Fatal(err)
			}
			for _, text := range s.commands {
				p.check(t, s.about, text)
			}
		}
	}
}

func (p *pair) check(t *testing.T, about, text string) {
	t.Helper()
	command, err := p.parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.ask(command)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if *tryCases != "" {
		reply, _ := p.theirs.run(command)
		t.Logf("%s\nthe real server: %s", text, p.normalised(command, reply).text)
	}
	if !a.same() && p.explanation(&a) == nil {
		t.Errorf("%s: %s\ngot  %s\nwant %s", about, text, a.ours.text, a.theirs.text)
	}
}
