// Command figures measures the figures in docs/FIGURES.md. It runs each command of the table once, in the
// repository's root, reads the lines "figure NAME VALUE" of its output, and writes the value and the date into the
// last column of the table.
//
//	go run ./internal/devtools/figures [-n] [-command REGEXP] [NAME ...]
//
// With names, or with an expression for the commands, it measures only their rows. With -n it leaves the table as it is. It exits
// with 1, after all others, if a command fails or does not print a figure of its rows.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const table = "docs/FIGURES.md"

// The table's columns: name, what it is, bar, command, last measured.
const (
	columnName    = 1
	columnCommand = 4
	columnLast    = 5
	columns       = 7 // with the empty ones before the first bar and after the last one
)

var figureLine = regexp.MustCompile(`(?m)^\s*figure (\S+) (\S+)\s*$`)

func main() {
	onlyPrint := flag.Bool("n", false, "print the figures, and leave the table as it is")
	command := flag.String("command", "", "measure only the rows whose commands match this regular expression")
	flag.Parse()
	if err := run(flag.Args(), *command, *onlyPrint); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(names []string, command string, onlyPrint bool) error {
	wanted, err := regexp.Compile(command)
	if err != nil {
		return fmt.Errorf("-command: %w", err)
	}
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	measured := map[string]map[string]string{} // by command, then by name
	var failed error                           // it goes on with the other commands
	for i, line := range lines {
		cells := strings.Split(line, "|")
		if len(cells) != columns || !strings.Contains(cells[columnCommand], "`") {
			continue
		}
		name := strings.Trim(cells[columnName], " `")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		command := strings.Trim(cells[columnCommand], " `")
		if !wanted.MatchString(command) {
			continue
		}
		if measured[command] == nil {
			measured[command] = map[string]string{}
			if values, err := measure(command); err == nil {
				measured[command] = values
			} else {
				failed = errors.Join(failed, err)
				continue
			}
		}
		value, ok := measured[command][name]
		if !ok {
			failed = errors.Join(failed, fmt.Errorf("%q does not print the figure %s, or has failed", command, name))
			continue
		}
		cells[columnLast] = fmt.Sprintf(" %s, %s ", value, time.Now().UTC().Format(time.DateOnly))
		lines[i] = strings.Join(cells, "|")
	}
	if onlyPrint {
		return failed
	}
	return errors.Join(failed, os.WriteFile(table, []byte(strings.Join(lines, "\n")), 0o644))
}

func measure(command string) (map[string]string, error) {
	fmt.Println("$", command)
	start := time.Now()
	out, err := exec.Command("bash", "-c", command).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%q: %w\n%s", command, err, out)
	}
	found := map[string]string{}
	for _, m := range figureLine.FindAllStringSubmatch(string(out), -1) {
		found[m[1]] = m[2]
		fmt.Println("figure", m[1], m[2])
	}
	fmt.Printf("  %.0f s\n", time.Since(start).Seconds())
	return found, nil
}
