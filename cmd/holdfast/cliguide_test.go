package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/inspect"
	"github.com/holdfast-db/holdfast/mongotest"
)

const cliGuide = "../../docs/CLI.md"

// The JSON in the guide is that of the program: the examples run with a set of one member.
func TestTheExamplesOfTheCommandLineGuideWork(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed: the guide's examples were not run")
	}
	uri := mongotest.RunReplicaSetT(t, 1).URI()
	list := examples(t, cliGuide)
	if len(list) != 3 {
		t.Fatalf("the guide has %d examples, want 3", len(list))
	}
	for _, e := range list {
		cmd := exec.CommandContext(t.Context(), sh, "-e", "-c", e.commands)
		cmd.Env = append(os.Environ(), uriVariable+"="+uri)
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("the example that ends at line %d: %v\n%s", e.line, err, text)
		}
		var want, got any
		if err := json.Unmarshal([]byte(e.want), &want); err != nil {
			t.Fatalf("line %d: %v", e.line, err)
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("line %d: %v: %s", e.line, err, text)
		}
		if d := different("the answer", want, got); d != "" {
			t.Errorf("the example that ends at line %d: %s", e.line, d)
		}
	}
}

// The table of the findings is that of the code, row by row.
func TestTheCommandLineGuideHasEachFinding(t *testing.T) {
	text, err := os.ReadFile(cliGuide)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| id | it is about | cost | mend |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) != len(inspect.Definitions) {
		t.Errorf("the table has %d rows, want %d", len(rows), len(inspect.Definitions))
	}
	for i, d := range inspect.Definitions {
		want := "| `" + d.ID + "` | " + d.About + " | " + d.Cost + " | " + d.Mend + " |"
		if i < len(rows) && rows[i] != want {
			t.Errorf("row %d is\n%s\nwant\n%s", i+1, rows[i], want)
		}
	}
}

func TestTheCommandLineGuideHasEachCommand(t *testing.T) {
	text, err := os.ReadFile(cliGuide)
	if err != nil {
		t.Fatal(err)
	}
	for command := range examplesOf {
		if !strings.Contains(string(text), "| `holdfast "+command+"` |") {
			t.Errorf("the guide's table has no row of %s", command)
		}
	}
}
