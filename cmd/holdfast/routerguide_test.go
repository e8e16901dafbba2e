package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const routerGuide = "../../docs/ROUTER.md"

func TestTheRouterGuideHasEachFlagAndDefault(t *testing.T) {
	text, err := os.ReadFile(routerGuide)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(new(routerCommand))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, f := range parser.Model.Flags {
		if f.Name == "help" {
			continue
		}
		rows++
		row := ""
		for line := range strings.Lines(string(text)) {
			if cell, rest, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | "); strings.HasPrefix(line, "| `--") && strings.Contains(cell, "`--"+f.Name+"`") {
				row = rest
			}
		}
		written := map[string]string{"67108864": "1000, 64 MiB |", "268435456": "256 MiB |"}[f.Default]
		isWritten := written != "" && strings.HasPrefix(row, written)
		if row == "" || !isWritten && !strings.HasPrefix(row, f.Default) {
			t.Errorf("the row of --%s has not the default %q: %q", f.Name, f.Default, row)
		}
	}
	if rows < 10 {
		t.Errorf("only %d flags were found", rows)
	}
}

func TestTheSettingsOfTheRouterGuideAreRight(t *testing.T) {
	text, err := os.ReadFile(routerGuide)
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	list, err := parseSettings([]byte(example))
	if err != nil || len(list) != 5 {
		t.Fatalf("%d settings, %v", len(list), err)
	}
	var args []string
	for _, one := range list {
		flags, err := one.flags()
		if err != nil {
			t.Error(err)
		}
		args = append(args, flags...)
	}
	c, err := parseRouter(args)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.check(); err != nil || c.MaxClients != 10000 || len(c.Listen) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}
