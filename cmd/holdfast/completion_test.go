package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completions returns the candidates for the last of some words.
func completions(t *testing.T, words ...string) (values []string) {
	t.Helper()
	code, out, errs := holdfast(t.Context(), append([]string{completeName, "--"}, words...)...)
	if code != exitOK || errs != "" {
		t.Fatalf("%q: exit code %d, %s", words, code, errs)
	}
	for line := range strings.Lines(out) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		values = append(values, value)
	}
	return values
}

func TestCandidates(t *testing.T) {
	commands := []string{"prove", "explore", "topology", "check", "sweep", "router", "mock", "completion", "version"}
	for _, c := range []struct {
		name  string
		words []string
		has   []string // all of them, in any order
		not   []string
	}{
		{"no word", nil, commands, []string{"--help", completeName}},
		{"an empty word", []string{""}, commands, nil},
		{"the beginning of a command", []string{"to"}, []string{"topology"}, []string{"check"}},
		{"the flags of a command", []string{"topology", "-"}, []string{"--uri", "--uri-file", "--follow", "--json", "--help"}, []string{"--ns"}},
		{"the beginning of a flag", []string{"topology", "--fo"}, []string{"--follow"}, []string{"--json"}},
		{"after a value", []string{"topology", "--uri", "check", "--fo"}, []string{"--follow"}, nil},
		{"values of a flag", []string{"prove", "--backend", ""}, []string{"mongodb", "couchbase"}, []string{"--uri"}},
		{"the beginning of a value", []string{"prove", "--backend", "c"}, []string{"couchbase"}, []string{"mongodb"}},
		{"values after =", []string{"prove", "--backend=m"}, []string{"mongodb"}, nil},
		{"values after = as bash splits them", []string{"prove", "--backend", "=", "m"}, []string{"mongodb"}, nil},
		{"= alone, as bash splits it", []string{"prove", "--backend", "="}, []string{"mongodb", "couchbase"}, nil},
		{"the name of a file", []string{"check", "--uri-file", ""}, []string{filesWanted}, nil},
		{"an argument", []string{"completion", ""}, []string{"bash", "zsh", "fish"}, nil},
		{"below router", []string{"router", ""}, []string{"hash"}, commands},
		{"the flags of router", []string{"router", "--"}, []string{"--upstream", "--users"}, []string{"hash", "--operator"}},
		{"the flags of router hash", []string{"router", "hash", "app", "--"}, []string{"--db", "--operator"}, []string{"--upstream"}},
		{"a word like router hash below another command", []string{"completion", "h"}, nil, []string{"hash"}},
		{"the end of hash", []string{"router", "hash"}, []string{"hash"}, []string{"--db"}},
		{"a flag that does not exist", []string{"check", "--nonsense="}, nil, []string{filesWanted}},
		{"a hidden flag", []string{"prove", "--fig"}, nil, []string{"--figures"}},
	} {
		got := completions(t, c.words...)
		for _, want := range c.has {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is not among %q", c.name, want, got)
			}
		}
		for _, bad := range c.not {
			if slices.Contains(got, bad) {
				t.Errorf("%s: %q is among %q", c.name, bad, got)
			}
		}
	}
}

// shellPath returns the program of a shell. Without the shell the test is skipped; in CI it fails.
func shellPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatalf("%s is not installed", name)
	case err != nil:
		t.Skipf("%s is not installed: this was not tested in it", name)
	}
	return path
}

// shell runs a script in a shell, in a folder with a file.
func shell(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(shellPath(t, name), args...)
	cmd.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "my file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// shellCases are command lines, each word by itself, and lines that a completion of the last word must have and must not have.
var shellCases = []struct {
	words    []string
	has, not string
}{
	{[]string{"holdfast", ""}, "topology", "--json"},
	{[]string{"holdfast", "topology", "--fo"}, "--follow", "--json"},
	{[]string{"holdfast", "prove", "--backend", "c"}, "couchbase", "mongodb"},
	{[]string{"holdfast", "check", "--uri-file", ""}, "my file", "--json"},
	{[]string{"holdfast", "completion", ""}, "fish", "topology"},
}

func checkShell(t *testing.T, words []string, output, has, not string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if !slices.Contains(lines, has) || slices.Contains(lines, not) {
		t.Errorf("%q: %q, want %q in it and not %q", words, lines, has, not)
	}
}

func quoted(words []string) string {
	var all []string
	for _, w := range words {
		all = append(all, "'"+w+"'")
	}
	return strings.Join(all, " ")
}

func TestCompletionInBash(t *testing.T) {
	for _, c := range shellCases {
		script := fmt.Sprintf(`set -e; source <(holdfast completion bash); COMP_WORDS=(%s); COMP_CWORD=%d; _holdfast; printf '%%s\n' "${COMPREPLY[@]}"; complete -p holdfast >&2`,
			quoted(c.words), len(c.words)-1)
		checkShell(t, c.words, shell(t, "bash", "-c", script), c.has, c.not)
	}
}

// zsh calls a completion function only in its line editor, so the test takes the place of the two functions that show candidates.
func TestCompletionInZsh(t *testing.T) {
	for _, c := range shellCases {
		script := fmt.Sprintf(`compdef() { [[ $1 == _holdfast ]] }
			source <(holdfast completion zsh)
			_describe() { local c; for c in "${(@P)2}"; do print -r -- "${c%%%%:*}"; done }
			_files() { print -rl -- * }
			words=(%s); CURRENT=%d; _holdfast`, quoted(c.words), len(c.words))
		checkShell(t, c.words, shell(t, "zsh", "-f", "-c", script), c.has, c.not)
	}
}

func TestCompletionInFish(t *testing.T) {
	for _, c := range shellCases {
		script := fmt.Sprintf(`holdfast completion fish | source; for line in (complete -C "%s"); echo (string split -f 1 \t -- $line); end`, strings.Join(c.words, " "))
		out := shell(t, "fish", "--no-config", "-c", script)
		checkShell(t, c.words, strings.ReplaceAll(out, `\ `, " "), c.has, c.not)
	}
}
