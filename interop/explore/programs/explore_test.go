package programs

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The arguments of the programs in other languages.
const (
	mistake = "mistake"
	mended  = "mended"
	check   = "check"
)

// languages are those in which the programs are written, with how they are explored there.
var languages = []struct {
	name    string
	explore func(t *testing.T, p *program, twin string)
}{
	{"go", inGo},
	{"node", node.explore},
	{"python", python.explore},
}

// TestMended explores the mended twins, and finds nothing.
func TestMended(t *testing.T) {
	reported := 0
	for _, l := range languages {
		for _, p := range programs {
			if !t.Run(l.name+" "+p.name, func(t *testing.T) { l.explore(t, &p, mended) }) {
				reported++
			}
		}
	}
	if *every {
		fmt.Printf("figure explore-false %d\n", reported)
	}
}

// TestMistakes explores the programs with their mistakes in processes of their own, as explore fails their tests.
func TestMistakes(t *testing.T) {
	found := 0
	for _, l := range languages {
		for _, p := range programs {
			t.Run(l.name+" "+p.name, func(t *testing.T) {
				if p.isFound(t) {
					found++
				}
			})
		}
	}
	if *every {
		fmt.Printf("figure explore-found %d\n", found)
	}
}

var (
	planted = flag.Bool("planted", false, "explore the programs with their mistakes, which fails")
	every   = flag.Bool("every", false, "explore all programs in Node and Python too, which takes minutes; without it one of them in each")
)

// TestPlanted fails in each of its parts. TestMistakes runs it.
func TestPlanted(t *testing.T) {
	if !*planted {
		t.Skip("only with -planted")
	}
	for _, l := range languages {
		for _, p := range programs {
			t.Run(l.name+" "+p.name, func(t *testing.T) { l.explore(t, &p, mistake) })
		}
	}
}

// reportedCase is a line of a report about a case and what is wrong with it.
var reportedCase = regexp.MustCompile(`(?m)^ +\S+/\S+/\d+:\S+: (.+)$`)

// isFound reports whether an exploration reports the mistake, and nothing else. The test is named as the part of TestPlanted.
func (p *program) isFound(t *testing.T) bool {
	t.Helper()
	part := strings.TrimPrefix(t.Name(), "TestMistakes/")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlanted$/^"+part+"$", "-planted", fmt.Sprintf("-every=%t", *every)) //nolint:gosec // this test itself
	out, err := child.CombinedOutput()
	if err == nil && !*every { // skipped
		return false
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	report := string(out)
	if !strings.Contains(report, "the check ") || !strings.Contains(report, p.shownBy) {
		t.Errorf("the report does not name %s:\n%s", p.shownBy, report)
	}
	for _, line := range reportedCase.FindAllStringSubmatch(report, -1) {
		if !strings.Contains(line[1], p.finding) {
			t.Errorf("it reports something that is not the mistake: %s", line[0])
		}
	}
	return !t.Failed()
}
