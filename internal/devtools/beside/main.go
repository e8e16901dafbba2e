// Command beside runs a measurement on an earlier commit and on this tree, in turn, and prints by how many percent each of its figures grew: the median
// of the pairs. The measurement is a test file of this tree that prints lines "figure NAME VALUE"; the earlier commit gets a copy of it.
//
//	go run ./internal/devtools/beside -before 3ca1f42b~1 -module interop -package mongo/bench -file off_test.go -run TestOff -of '[ce]s$'
//
// Nothing is left behind: the earlier commit is a work tree in a temporary folder.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// measurement is what is run, and how often.
type measurement struct {
	before, module, folder, file, test string
	pairs                              int
	figure, of                         string
}

func main() {
	var m measurement
	flag.StringVar(&m.before, "before", "", "the earlier commit")
	flag.StringVar(&m.module, "module", ".", "the folder of the module")
	flag.StringVar(&m.folder, "package", "", "the folder of the package in the module")
	flag.StringVar(&m.file, "file", "", "the test file in that folder, which the earlier commit gets too")
	flag.StringVar(&m.test, "run", "", "the test")
	flag.StringVar(&m.figure, "figure", "growth-percent", "the name of the worst growth")
	flag.StringVar(&m.of, "of", "", "a regular expression: the figures that count for the worst growth")
	flag.IntVar(&m.pairs, "pairs", 11, "how often both are run")
	flag.Parse()
	if err := m.run(); err != nil {
		log.Fatal(err)
	}
}

func (m *measurement) check() error {
	for name, value := range map[string]string{"before": m.before, "package": m.folder, "file": m.file, "run": m.test} {
		if value == "" {
			return fmt.Errorf("beside: -%s is missing", name)
		}
	}
	if m.pairs < 1 {
		return fmt.Errorf("beside: -pairs is %d; it must be at least 1", m.pairs)
	}
	if _, err := regexp.Compile(m.of); err != nil {
		return fmt.Errorf("beside: -of: %w", err)
	}
	return nil
}

func (m *measurement) run() error {
	if err := m.check(); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "beside")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	earlier := filepath.Join(temporary, "before")
	if _, err := command(".", "git", "worktree", "add", "--detach", earlier, m.before); err != nil {
		return err
	}
	defer func() { _, _ = command(".", "git", "worktree", "remove", "--force", earlier) }()
	binaries, err := m.build(temporary, earlier)
	if err != nil {
		return err
	}
	var pairs []pair
	for range m.pairs {
		var p pair
		for i, binary := range binaries {
			output, err := command(filepath.Dir(binary), binary, "-test.run", "^"+m.test+"$", "-test.v")
			if err != nil {
				return err
			}
			p[i] = figuresIn(output)
		}
		pairs = append(pairs, p)
	}
	for _, line := range m.report(pairs) {
		fmt.Println(line)
	}
	return nil
}

// build compiles the test of the earlier commit and that of this tree.
func (m *measurement) build(temporary, earlier string) ([2]string, error) {
	var binaries [2]string
	text, err := os.ReadFile(filepath.Join(m.module, m.folder, m.file))
	if err != nil {
		return binaries, err
	}
	if err := os.WriteFile(filepath.Join(earlier, m.module, m.folder, m.file), text, 0o600); err != nil {
		return binaries, err
	}
	for i, tree := range []string{earlier, "."} {
		binaries[i] = filepath.Join(temporary, fmt.Sprintf("%d.test", i))
		if _, err := command(filepath.Join(tree, m.module), "go", "test", "-c", "-o", binaries[i], "./"+filepath.ToSlash(m.folder)); err != nil {
			return binaries, err
		}
	}
	return binaries, nil
}

// command runs a program in a folder, and returns what it printed.
func command(folder, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	var errors bytes.Buffer
	cmd.Stderr = &errors
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, output, errors.Bytes())
	}
	return string(output), nil
}
