package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// example is a block of the guide with commands, and the block with the expected answer of the last one, which may be
// missing.
type example struct {
	line           int
	commands, want string
}

// examples returns the examples of a guide in Markdown.
func examples(t *testing.T, path string) (list []example) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kind, block := "", []string(nil)
	for i, line := range strings.Split(string(text), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case !isFence:
			block = append(block, line)
			continue
		case kind == "" && fence == "":
			kind = "text"
		case kind == "":
			kind = fence
		case kind == "sh":
			list, kind = append(list, example{line: i, commands: strings.Join(block, "\n")}), ""
		case kind == "json":
			list[len(list)-1].want, kind = strings.Join(block, "\n"), ""
		default:
			kind = ""
		}
		block = nil
	}
	return list
}

// different returns the first place where got differs from want, "" if there is none. The text "..." stands for any
// value, and objects may have more fields than want.
func different(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v, want an object", at, got)
		}
		for name, value := range w {
			if _, ok := g[name]; !ok {
				return fmt.Sprintf("%s.%s is missing", at, name)
			}
			if d := different(at+"."+name, value, g[name]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is %v, want %d elements", at, got, len(w))
		}
		for i := range w {
			if d := different(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if want != "..." && want != got {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}

// The guide of the control port uses every command of it, and each example answers as the guide says.
func TestTheExamplesOfTheCouchbaseGuideWork(t *testing.T) {
	c := startCouchbase(t, "--nodes", "3")
	list := examples(t, "../../docs/COUCHBASE-MOCK.md")
	if len(list) < 20 {
		t.Fatalf("the guide has %d examples, want at least 20", len(list))
	}
	for _, e := range list {
		command := exec.CommandContext(t.Context(), "sh", "-e", "-c", e.commands)
		command.Env = append(os.Environ(), "CONTROL="+c.Control)
		text, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("the example that ends at line %d: %v\n%s", e.line, err, text)
		}
		if e.want == "" {
			continue
		}
		answers := strings.Split(strings.TrimSpace(string(text)), "\n")
		var want, got any
		if err := json.Unmarshal([]byte(e.want), &want); err != nil {
			t.Fatalf("line %d: %v", e.line, err)
		}
		if err := json.Unmarshal([]byte(answers[len(answers)-1]), &got); err != nil {
			t.Fatalf("line %d: %v: %s", e.line, err, text)
		}
		if d := different("the answer", want, got); d != "" {
			t.Errorf("the example that ends at line %d: %s", e.line, d)
		}
	}
}
